"""The files of a run folder, and their checks: links that lead out of the folder and pipes are refused.

alignment.json has the size and the SHA-256 of each file; a file that was replaced, cut or changed is refused.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from bilex.errors import AlignmentError
from bilex.storage.files import sha256
from bilex.storage.symlinks import check_inside

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bilex.run.form import File

DESCRIPTION, MAPPING, TRACE = "alignment.json", "mapping.safetensors", "trace.jsonl"
TABLES = ("source.safetensors", "target.safetensors")
TRAIN, DEV = "train.tsv", "dev.tsv"
RERANKER, LISTS = "reranker.safetensors", "cross-fitted.safetensors"
ALWAYS = (MAPPING, *TABLES, TRACE)
SAVED = (*ALWAYS, TRAIN, DEV, RERANKER, LISTS)
"""The files that alignment.json describes; dictionaries and the second stage are optional."""
CACHE, CORRECTIONS = "cache", "corrections.sqlite"
RELEARNT = "reranker-with-decisions.safetensors"
"""The second stage that was learnt from decisions too. It takes the place of the saved one until it is removed."""
FOLD_FILES = "fold-*.safetensors"
"""In RUN.partial: the finished folds of a second stage."""
_SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
AGAIN = "put back the one that the run was saved with, or align again"


def check_places(folder: Path) -> None:
    """Refuse a run folder in which a name is not a regular file, or leads out of the folder."""
    names = (DESCRIPTION, *SAVED, RELEARNT, *(f"{CORRECTIONS}{suffix}" for suffix in _SQLITE_SUFFIXES))
    check_inside(folder, (folder / name for name in names))
    cache = folder / CACHE
    check_inside(folder, [cache], kind="a folder")
    if cache.is_dir():
        check_inside(folder, cache.iterdir(), kind="a folder")


def check_unfinished(folder: Path, names: Iterable[str]) -> None:
    """Refuse a folder of checkpoints that is a link, or in which a name is not a regular file."""
    if folder.is_symlink():
        raise AlignmentError(f"{folder}: this is a link, and nothing is written where it leads to; remove it")
    check_inside(folder, (folder / name for name in names))


def describe_files(folder: Path) -> dict[str, File]:
    """Size and hash of the saved files of a run, for its alignment.json."""
    present = [name for name in SAVED if (folder / name).exists()]
    return {name: {"bytes": (folder / name).stat().st_size, "sha256": sha256(folder / name)} for name in present}


def check_files(folder: Path, described: dict[str, File] | None) -> None:
    """Refuse a run with a missing or changed file. Runs of earlier versions (None) are not checked."""
    if described is None:
        return
    if unknown := [name for name in described if name not in SAVED]:
        raise AlignmentError(f"{folder / DESCRIPTION}: has a file {unknown[0]!r}, which is none of a run; align again")
    for name in SAVED:
        _check_size(folder / name, described.get(name), needed=name in ALWAYS)
    with ThreadPoolExecutor(min(len(described), os.cpu_count() or 1)) as threads:
        hashes = threads.map(lambda name: sha256(folder / name), described)
        for name, found in zip(described, hashes, strict=True):
            if found != described[name]["sha256"]:
                raise AlignmentError(
                    f"{folder / name}: was changed or exchanged since the run was saved (its SHA-256 is another than "
                    f"in alignment.json); {AGAIN}"
                )


def _check_size(path: Path, described: File | None, *, needed: bool) -> None:
    if path.exists() and described is None:
        raise AlignmentError(f"{path}: does not belong to the run, for alignment.json does not have it; remove it")
    if not path.exists() and (needed or described is not None):
        raise AlignmentError(f"{path}: is missing; {AGAIN}")
    if described is not None and (found := path.stat().st_size) != described["bytes"]:
        raise AlignmentError(f"{path}: has {found:,} bytes, needed {described['bytes']:,}; {AGAIN}")
