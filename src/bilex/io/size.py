"""What a file says about its own size is believed only as far as it can be true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.errors import TableError
from bilex.io.memory import free_memory

if TYPE_CHECKING:
    from pathlib import Path

MAX_DIM = 1 << 16
"""Numbers that a vector has at most; real ones have some thousands."""
MAX_WORD_BYTES = 1 << 16
"""Bytes that a word has at most."""


def check_dim(path: Path, width: int) -> None:
    """Refuse vectors of more numbers than any has."""
    if width > MAX_DIM:
        raise TableError(
            f"{path}: says that each vector has {width:,} numbers; needed at most {MAX_DIM:,}; check that it is the "
            "file you meant, or download it again"
        )


def check_memory(path: Path, size: int, what: str) -> None:
    """Refuse to read so many bytes if they do not fit into the memory that is free."""
    free = free_memory()
    if free is not None and size > free:
        raise TableError(
            f"{path}: {what} take {_format_gigabytes(size)} in memory, and {_format_gigabytes(free)} are free; "
            "read fewer words (`max_words`), or check that it is the file you meant"
        )


def _format_gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB"
