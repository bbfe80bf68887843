"""From two tables and a dictionary to an alignment."""
