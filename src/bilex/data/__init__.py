"""Public data."""
