"""Exact neighbour search."""
