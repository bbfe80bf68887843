"""Protection against symbolic links in folders from others: a link must not lead out of its folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bilex.errors import AlignmentError
from bilex.storage.disk import file_kind

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def check_inside(folder: Path, paths: Iterable[Path], *, kind: str | None = None) -> None:
    """Refuse symbolic links that lead out of the folder, and anything that is neither a file nor of the given kind."""
    for path in paths:
        if not os.path.lexists(path):
            continue
        if path.is_symlink() and not _resolves_inside(path, folder):
            raise AlignmentError(
                f"{path}: this symbolic link leads out of {folder}, so it is not followed; replace it by a copy of its "
                "target, or remove it"
            )
        if path.exists() and (found := file_kind(path)) not in (None, kind):
            raise AlignmentError(f"{path}: this is {found}, needed a file; remove it, or align again")


def _resolves_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a cycle of links has no target
        return False
