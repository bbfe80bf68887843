"""Results as frames of Polars or pandas, for statistics of one's own."""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any, Literal

from bilex.alignment import Translation
from bilex.entry import Entry
from bilex.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Library = Literal["polars", "pandas"]


def to_frame(results: Sequence[Entry] | Sequence[Translation] | Translation, *, library: Library = "polars") -> Any:
    """What `Alignment.induce` or `Alignment.translate` gave, as a frame with one line for each candidate.

    Columns: source, target, score, rank, origin, confidence and any_right; of translations `through` instead of the
    last three. A word without a vector has one line with nothing in it, and what is not known has nothing in its place.
    pandas needs the extra `pandas`.
    """
    results = [results] if isinstance(results, Translation) else results
    names: tuple[str, ...] = Entry._fields
    if results and isinstance(results[0], Translation):
        names = (*names[:4], "through")
        lines = [line for one in results if isinstance(one, Translation) for line in _lines(one)]
    else:
        lines = [_line(one) for one in results if isinstance(one, Entry)]
    columns = zip(*lines, strict=True) if lines else [()] * len(names)
    return _module(library).DataFrame({name: list(column) for name, column in zip(names, columns, strict=True)})


def _line(entry: Entry) -> tuple[object, ...]:
    return tuple(None if isinstance(value, float) and math.isnan(value) else value for value in entry)


def _lines(translation: Translation) -> Iterable[tuple[object, ...]]:
    if not translation.candidates:
        return [(translation.word, None, None, None, None)]
    return [
        (translation.word, c.word, c.score, i, translation.through) for i, c in enumerate(translation.candidates, 1)
    ]


def _module(library: Library) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError:
        raise MissingExtraError(library, library, f"a frame of {library}") from None
