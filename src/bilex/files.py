"""Files are written whole or not at all, and known by their hash."""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import contextmanager
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write a file to; renamed to `path` at the end, removed on any error."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path` to fill; renamed to `path`, which must not exist, or removed on any error."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bare_name(path: str) -> str:
    """The name without the folders, which say much about a machine and nothing about the file."""
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name
