"""Check that a run folder can be replaced without losing work of a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.errors import AlignmentError
from bilex.run.files import CACHE, CORRECTIONS, DESCRIPTION, RELEARNT, SAVED

if TYPE_CHECKING:
    from pathlib import Path

BILEX_FILES = {DESCRIPTION, *SAVED, CACHE, CORRECTIONS, RELEARNT, "report.html"}
"""The names that bilex writes into a run folder."""


def check_replaceable(path: Path, place: Path | None = None) -> None:
    """Refuse to replace a folder that is not a run, or that has decisions or files of a person.

    place: the current path of the folder, if that is not `path`.
    """
    from bilex.run.folder import describe

    place = place or path
    if place.is_symlink():
        raise AlignmentError(f"{path} is a link and is left as it is: name the folder that it leads to")
    describe(place)
    decisions = _decisions(place / CORRECTIONS)
    if decisions != 0:
        use = "is open in bilex explore" if decisions is None else f"has {decisions:,} decisions of bilex explore"
        raise AlignmentError(
            f"{path} {use} and is left as it is: choose another name, or end bilex explore and take {CORRECTIONS} out"
        )
    others = sorted({file.name for file in place.iterdir() if not file.name.startswith(".")} - BILEX_FILES)
    if others:
        shown = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
        raise AlignmentError(
            f"{path} also has files that are not of bilex ({shown}) and is left as it is: take them out first, or "
            "choose another name"
        )


def _decisions(file: Path) -> int | None:
    """Number of decisions; None if a program has the file open, or was killed while it had."""
    from bilex.run.corrections import Corrections

    if file.with_name(f"{file.name}-shm").exists():
        return None
    if not file.exists():
        return 0
    corrections = Corrections(file)
    try:
        return len(corrections.current())
    finally:
        corrections.close()
