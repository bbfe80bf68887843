"""RAPO, the paper: one file for each of its parts (see the table in `rapo.py`)."""
