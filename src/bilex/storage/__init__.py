"""Files on disk: atomic writes, locks, checksums, strict JSON, and arrays without pickle."""
