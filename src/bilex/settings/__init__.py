"""Settings: fields of frozen dataclasses, the ranges worth searching, and settings files."""
