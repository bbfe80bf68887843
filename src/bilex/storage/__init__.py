"""Files on disk: whole or not at all, locked, checked, without pickle."""
