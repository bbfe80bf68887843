"""Readers and writers of tables and dictionaries, one module per format. Importing them needs only numpy."""
