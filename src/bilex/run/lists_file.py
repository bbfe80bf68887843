"""The lists that a second stage was learnt from, of all folds together, in one file of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from bilex.errors import AlignmentError
from bilex.rerank.cross_fitting import ARRAYS, Lists
from bilex.run.files import AGAIN
from bilex.storage.array_file import read_arrays, write_arrays
from bilex.storage.array_form import ArrayForm, check_arrays, check_row_numbers
from bilex.storage.strict_json import check_type, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

    from bilex.retrieval.sides import Sides

COLUMNS = "columns"
"""Key of the note with the names of the columns."""
WHOLE_NUMBERS, DECIMALS = ("sources", "targets", "total"), ("features", "csls")


def write_lists(path: Path, lists: Sequence[Lists], **notes: str) -> None:
    """Write the lists and the number of words of each fold, in 32 bits, by which nothing is lost."""
    together = Lists.joined(lists)
    arrays = {name: torch.from_numpy(getattr(together, name)) for name in ARRAYS}
    arrays |= {name: arrays[name].int() for name in WHOLE_NUMBERS} | {name: arrays[name].float() for name in DECIMALS}
    folds = torch.tensor([len(part.sources) for part in lists], dtype=torch.int32)
    write_arrays(path, {**arrays, "folds": folds}, {COLUMNS: to_json(list(together.names)), **notes})


def read_lists(path: Path, words: Sides[int]) -> tuple[Lists, ...]:
    """The lists of each fold, after checking them.  words: sizes of the tables."""
    try:
        return lists_of(*read_arrays(path), words)
    except ValueError as error:
        raise AlignmentError(f"{path}: damaged: {error}; {AGAIN}") from error


def lists_of(arrays: dict[str, Tensor], notes: dict[str, str], words: Sides[int]) -> tuple[Lists, ...]:
    """The lists of each fold from the arrays and notes of a file. ValueError if these are not such as are written."""
    columns = from_json(notes.get(COLUMNS, "null"))
    check_type(columns, list[str])
    forms = {name: ArrayForm(("q",), "int32") for name in ("sources", "total")}
    forms |= {"targets": ArrayForm(("q", "c"), "int32"), "gold": ArrayForm(("q", "c"), "bool")}
    forms |= {"features": ArrayForm(("q", "c", len(columns))), "csls": ArrayForm(("q", "c"))}
    arrays = dict(arrays)
    folds = arrays.pop("folds", torch.empty(0))
    check_arrays({"folds": folds}, {"folds": ArrayForm(("folds",), "int32")})
    check_arrays(arrays, forms)
    for name, count in (("sources", words.source), ("targets", words.target)):
        check_row_numbers(name, arrays[name], count)
    if int(folds.min()) < 1 or int(folds.sum()) != len(arrays["sources"]):
        raise ValueError("the sizes of its folds are wrong")
    values = {name: array.numpy() for name, array in arrays.items()}
    values |= {name: values[name].astype(np.int64) for name in WHOLE_NUMBERS}
    values |= {name: values[name].astype(np.float64) for name in DECIMALS}
    ends = np.cumsum(folds.numpy())[:-1]
    parts = zip(*(np.split(values[name], ends) for name in ARRAYS), strict=True)
    return tuple(Lists(names=tuple(columns), **dict(zip(ARRAYS, part, strict=True))) for part in parts)
