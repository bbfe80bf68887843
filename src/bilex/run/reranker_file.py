"""The second stage of a run on disk: arrays in files of their own, all else in alignment.json.

reranker.safetensors                  the weights of ranker and calibration
cross-fitted.safetensors              the lists that it was learnt from, for learning again with decisions
reranker-with-decisions.safetensors   the stage that was learnt again, in the place of the first while it is there
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import torch

from bilex.errors import AlignmentError, error_text
from bilex.rerank.any_right import AnyRight
from bilex.rerank.calibration import INPUTS, Calibration
from bilex.rerank.ranker import LinearRanker
from bilex.rerank.reranker import Decided, Reranker
from bilex.rerank.signals import SIGNALS
from bilex.rerank.summary import Summary
from bilex.run.cache import RUN, identity
from bilex.run.files import AGAIN, DESCRIPTION, LISTS, RELEARNT, RERANKER
from bilex.run.form import Relearnt
from bilex.run.lists_file import read_lists, write_lists
from bilex.storage.array_file import compute_checksum, read_arrays, write_arrays
from bilex.storage.array_form import ArrayForm, check_arrays, check_row_numbers
from bilex.storage.disk import describe_os_error
from bilex.storage.strict_json import check_type, from_json, to_json

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from bilex.rerank.cross_fitting import Lists
    from bilex.retrieval.sides import Sides
    from bilex.storage.array_form import Forms

RANKER, CALIBRATION, ANY_RIGHT = ("weights", "means", "deviations"), ("weights", "means", "deviations"), ("weights",)
STAGE = "second_stage"
"""Key of the note with the description, as in alignment.json."""


def description(reranker: Reranker | None) -> dict[str, Any] | None:
    """The part of alignment.json, without what was learnt from decisions."""
    if reranker is None:
        return None
    stage = reranker.original
    return {
        "signals": list(stage.signals),
        "columns": list(stage.ranker.names),
        "candidates": stage.candidates,
        "held_out": stage.summary.to_json(),
    }


def write(reranker: Reranker, folder: Path) -> None:
    """Write the arrays of a stage that was learnt from the dictionary."""
    write_arrays(folder / RERANKER, _weights(reranker.original))
    if reranker.original.lists:
        write_lists(folder / LISTS, reranker.original.lists)


def read(found: dict[str, Any] | None, folder: Path, words: Sides[int]) -> Reranker | None:
    """The second stage of a run, after checking it; None if it has none, as those of earlier versions.

    words: sizes of the tables.
    """
    if found is None:
        return None
    _check_signals(found, folder / DESCRIPTION)
    columns = tuple(found["columns"])
    try:
        arrays, _ = read_arrays(folder / RERANKER)
        check_arrays(arrays, _weight_forms(len(columns)))
    except ValueError as error:
        raise AlignmentError(f"{folder / RERANKER}: damaged: {error}; {AGAIN}") from error
    stage = _stage(found, arrays)
    if (folder / LISTS).exists():
        stage = replace(stage, lists=_read_lists(folder / LISTS, columns, words))
    return stage if not (folder / RELEARNT).exists() else _read_relearnt(stage, folder, words)


def digest(reranker: Reranker) -> bytes:
    """SHA-256 of all that decides how it ranks."""
    pairs = {} if reranker.decided is None else {"pairs": torch.from_numpy(reranker.decided.pairs)}
    notes = {"signals": " ".join(reranker.signals), "candidates": str(reranker.candidates)}
    return bytes.fromhex(compute_checksum({**_weights(reranker), **pairs}, notes))


def write_relearnt(reranker: Reranker, folder: Path) -> None:
    """Write a stage that was learnt from decisions too, atomically; the saved one stays as it is."""
    assert reranker.decided is not None
    about = {
        "signals": list(reranker.signals),
        "columns": list(reranker.ranker.names),
        "candidates": reranker.candidates,
        "held_out": reranker.summary.to_json(),
        "words": reranker.decided.words,
    }
    arrays = {**_weights(reranker), "pairs": torch.from_numpy(reranker.decided.pairs)}
    try:
        write_arrays(folder / RELEARNT, arrays, {RUN: identity(folder / DESCRIPTION), STAGE: to_json(about)})
    except OSError as error:
        raise AlignmentError(f"{folder / RELEARNT}: cannot be written: {describe_os_error(error)}") from error


def remove_relearnt(folder: Path) -> bool:
    """Take back what was learnt from decisions. Returns whether there was something."""
    try:
        (folder / RELEARNT).unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise AlignmentError(f"{folder / RELEARNT}: cannot be removed: {error_text(error)}") from error
    return True


def _read_relearnt(before: Reranker, folder: Path, words: Sides[int]) -> Reranker:
    path = folder / RELEARNT
    try:
        arrays, notes = read_arrays(path)
        about = from_json(notes.get(STAGE, "null"))
        check_type(about, Relearnt)
        if notes.get(RUN) != identity(folder / DESCRIPTION):
            raise ValueError("it belongs to another run")
        pairs = arrays.pop("pairs", torch.empty(0))
        check_arrays({"pairs": pairs}, {"pairs": ArrayForm(("p", 2), "int64")})
        for side, column in zip(words, pairs.T, strict=True):
            check_row_numbers("pairs", column, side)
        check_arrays(arrays, _weight_forms(len(about["columns"])))
    except ValueError as error:
        raise AlignmentError(
            f"{path}: damaged: {error}; remove it, and let bilex explore learn from the decisions again"
        ) from error
    _check_signals(about, path)
    return replace(_stage(about, arrays), decided=Decided(words=about["words"], pairs=pairs.numpy(), before=before))


def _read_lists(path: Path, columns: tuple[str, ...], words: Sides[int]) -> tuple[Lists, ...]:
    lists = read_lists(path, words)
    if lists[0].names != columns:
        raise AlignmentError(f"{path}: damaged: its columns are others than those of the second stage; {AGAIN}")
    return lists


def _stage(about: dict[str, Any] | Relearnt, arrays: dict[str, Tensor]) -> Reranker:
    values = {name: array.double().numpy() for name, array in arrays.items()}
    return Reranker(
        signals=tuple(about["signals"]),
        candidates=about["candidates"],
        ranker=LinearRanker(tuple(about["columns"]), *(values[f"ranker.{name}"] for name in RANKER)),
        calibration=Calibration(*(values[f"calibration.{name}"] for name in CALIBRATION)),
        any_right=AnyRight(*(values[f"any_right.{name}"] for name in ANY_RIGHT)),
        summary=Summary.read(cast("dict[str, Any]", about["held_out"])),
    )


def _check_signals(about: dict[str, Any] | Relearnt, path: Path) -> None:
    if unknown := [name for name in about["signals"] if name not in SIGNALS]:
        raise AlignmentError(
            f"{path}: the second stage has a signal {unknown[0]!r}, which this version does not know; "
            "update bilex, or align again"
        )


def _weights(reranker: Reranker) -> dict[str, Tensor]:
    parts = {"ranker": reranker.ranker, "calibration": reranker.calibration, "any_right": reranker.any_right}
    names = {"ranker": RANKER, "calibration": CALIBRATION, "any_right": ANY_RIGHT}
    return {
        f"{part}.{name}": torch.from_numpy(getattr(value, name))
        for part, value in parts.items()
        for name in names[part]
    }


def _weight_forms(columns: int) -> Forms:
    inputs = len(INPUTS)
    calibration = {"weights": (2, inputs + 1), "means": (inputs,), "deviations": (inputs,)}
    ranker = {f"ranker.{name}": ArrayForm((columns,)) for name in RANKER}
    calibrated = {f"calibration.{name}": ArrayForm(shape) for name, shape in calibration.items()}
    return ranker | calibrated | {"any_right.weights": ArrayForm(("candidates", 2))}
