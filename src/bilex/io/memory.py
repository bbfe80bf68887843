"""How much memory there is to be had, so that what cannot fit is refused before it is read."""

from __future__ import annotations

import re
from pathlib import Path


def free_memory() -> int | None:
    """Bytes that are free without swapping, at most the limit of the container; None where the system does not tell."""
    found = re.search(r"MemAvailable:\s+(\d+) kB", read_text("/proc/meminfo"))
    known = [] if found is None else [int(found[1]) * 1024]
    limit = container_limit()
    return min(known + ([] if limit is None else [limit]), default=None)


def container_limit() -> int | None:
    """Bytes that all processes of the container may have together, if it has a limit."""
    limit = read_text("/sys/fs/cgroup/memory.max").strip()
    return int(limit) if limit.isdigit() else None


def read_text(path: str) -> str:
    """The contents of a small file of the system, or nothing."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
