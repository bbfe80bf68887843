"""Limits for the sizes that a file claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.errors import TableError
from bilex.io.memory import free_memory

if TYPE_CHECKING:
    from pathlib import Path

MAX_DIM = 1 << 16
"""Maximum dimension of vectors. Real ones have some thousand."""
MAX_WORD_BYTES = 1 << 16
"""Maximum length of a word in bytes."""


def check_dim(path: Path, width: int) -> None:
    """Refuse an impossible dimension."""
    if width > MAX_DIM:
        raise TableError(
            f"{path}: says that each vector has {width:,} numbers; needed at most {MAX_DIM:,}; check that it is the "
            "file you meant, or download it again"
        )


def check_memory(path: Path, size: int, what: str) -> None:
    """Raise TableError if `size` bytes do not fit into the available memory."""
    free = free_memory()
    if free is not None and size > free:
        raise TableError(
            f"{path}: {what} take {_format_gigabytes(size)} in memory, and {_format_gigabytes(free)} are free; "
            "read fewer words (`max_words`), or check that it is the file you meant"
        )


def _format_gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB"
