"""Settings of methods: fields of frozen dataclasses, search spaces for tuning, and settings files."""
