"""The run folder: an alignment on disk."""
