"""Pairs that nobody gave: proposed from two mapped spaces, or from the tables alone."""
