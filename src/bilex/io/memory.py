"""Available memory, to refuse a file that cannot fit before it is read."""

from __future__ import annotations

import re
from pathlib import Path


def free_memory() -> int | None:
    """Bytes available without swapping, at most the limit of the container. None if the system does not tell."""
    found = re.search(r"MemAvailable:\s+(\d+) kB", read_text("/proc/meminfo"))
    known = [] if found is None else [int(found[1]) * 1024]
    limit = container_limit()
    return min(known + ([] if limit is None else [limit]), default=None)


def container_limit() -> int | None:
    """Memory limit of the container in bytes, or None."""
    limit = read_text("/sys/fs/cgroup/memory.max").strip()
    return int(limit) if limit.isdigit() else None


def read_text(path: str) -> str:
    """The text of a small system file, or '' if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
