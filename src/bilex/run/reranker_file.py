"""The second stage of a run on disk: arrays in reranker.safetensors, all else in alignment.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from bilex.errors import AlignmentError
from bilex.rerank.any_right import AnyRight
from bilex.rerank.calibration import INPUTS, Calibration
from bilex.rerank.ranker import LinearRanker
from bilex.rerank.reranker import Reranker
from bilex.rerank.signals import SIGNALS
from bilex.rerank.summary import Summary
from bilex.run.files import AGAIN, DESCRIPTION, RERANKER
from bilex.storage.array_file import read_arrays, write_arrays
from bilex.storage.array_form import ArrayForm, check_arrays

if TYPE_CHECKING:
    from pathlib import Path

RANKER, CALIBRATION, ANY_RIGHT = ("weights", "means", "deviations"), ("weights", "means", "deviations"), ("weights",)


def description(reranker: Reranker | None) -> dict[str, Any] | None:
    """The part of alignment.json."""
    if reranker is None:
        return None
    return {
        "signals": list(reranker.signals),
        "columns": list(reranker.ranker.names),
        "candidates": reranker.candidates,
        "held_out": reranker.summary.to_json(),
    }


def write(reranker: Reranker, folder: Path) -> None:
    """Write the arrays."""
    parts = {"ranker": reranker.ranker, "calibration": reranker.calibration, "any_right": reranker.any_right}
    names = {"ranker": RANKER, "calibration": CALIBRATION, "any_right": ANY_RIGHT}
    arrays = {
        f"{part}.{name}": torch.from_numpy(getattr(value, name))
        for part, value in parts.items()
        for name in names[part]
    }
    write_arrays(folder / RERANKER, arrays)


def read(found: dict[str, Any] | None, folder: Path) -> Reranker | None:
    """The second stage of a run, after checking it; None if it has none, as those of earlier versions."""
    if found is None:
        return None
    if unknown := [name for name in found["signals"] if name not in SIGNALS]:
        raise AlignmentError(
            f"{folder / DESCRIPTION}: the second stage has a signal {unknown[0]!r}, which this version does not know; "
            "update bilex, or align again"
        )
    try:
        arrays, _ = read_arrays(folder / RERANKER)
        check_arrays(arrays, _forms(len(found["columns"])))
    except ValueError as error:
        raise AlignmentError(f"{folder / RERANKER}: damaged: {error}; {AGAIN}") from error
    values = {name: array.double().numpy() for name, array in arrays.items()}
    return Reranker(
        signals=tuple(found["signals"]),
        candidates=found["candidates"],
        ranker=LinearRanker(tuple(found["columns"]), *(values[f"ranker.{name}"] for name in RANKER)),
        calibration=Calibration(*(values[f"calibration.{name}"] for name in CALIBRATION)),
        any_right=AnyRight(*(values[f"any_right.{name}"] for name in ANY_RIGHT)),
        summary=Summary.read(found["held_out"]),
    )


def _forms(columns: int) -> dict[str, ArrayForm]:
    inputs = len(INPUTS)
    calibration = {"weights": (2, inputs + 1), "means": (inputs,), "deviations": (inputs,)}
    ranker = {f"ranker.{name}": ArrayForm((columns,)) for name in RANKER}
    calibrated = {f"calibration.{name}": ArrayForm(shape) for name, shape in calibration.items()}
    return ranker | calibrated | {"any_right.weights": ArrayForm(("candidates", 2))}
