"""Facts about a file of word vectors, and possible problems, as `bilex inspect` shows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bilex.io.directions import Directions, find_directions
from bilex.io.open import read_contents

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bilex.io.contents import Contents, Header
    from bilex.io.report import ReadReport

SHOWN_WORDS = 10
MIN_WORDS_TO_JUDGE_ORDER = 2000
"""Fewer words are too few to judge their order."""


@dataclass(frozen=True)
class Norms:
    """Lengths of the rows. `zero` counts all zero vectors, also those that were left out."""

    smallest: float
    median: float
    largest: float
    zero: int


@dataclass(frozen=True)
class Spelling:
    """How the words are written: letter case, spaces within words, and encoding problems."""

    with_upper_case: float
    differ_only_by_case: int
    with_spaces: int
    with_other_spaces: int
    undecodable: int
    byte_order_mark: bool


@dataclass(frozen=True)
class Inspection:
    """Everything that `bilex inspect` prints."""

    path: Path
    format: str
    compressed: bool
    bytes: int
    rows: int
    dim: int
    header: Header | None
    subwords: bool
    norms: Norms
    spelling: Spelling
    directions: Directions
    doubtful_order: str | None
    """Why the words may not be in order of frequency."""
    doubtful_rows: list[str]
    """Possible problems of the vectors as a whole."""
    first_words: list[str]
    report: ReadReport

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        return asdict(self) | {"path": str(self.path), "report": self.report.to_json()}


def inspect_table(path: Path, *, max_words: int | None = None, encoding: str = "utf-8") -> Inspection:
    """Read a file as `EmbeddingTable.read` does, and describe it."""
    contents = read_contents(path, max_words=max_words, encoding=encoding)
    directions = find_directions(contents.rows)
    fatal = directions.fatal()
    return Inspection(
        path=path,
        format=contents.format,
        compressed=contents.compressed,
        bytes=path.stat().st_size,
        rows=len(contents.words),
        dim=contents.rows.shape[1],
        header=contents.header,
        subwords=contents.subwords is not None,
        norms=measure_norms(contents),
        spelling=measure_spelling(contents),
        directions=directions,
        doubtful_order=find_order_problem(contents.words),
        doubtful_rows=[f"is of no use: {fatal}"] if fatal else directions.doubts(contents.words),
        first_words=contents.words[:SHOWN_WORDS],
        report=contents.report,
    )


def measure_norms(contents: Contents) -> Norms:
    """Smallest, median and largest Euclidean norm, in double precision to avoid overflow."""
    norms: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", contents.rows, contents.rows, dtype=np.float64))
    zero = contents.report.count("zero") + int(np.count_nonzero(norms == 0))
    return Norms(float(norms.min()), float(np.median(norms)), float(norms.max()), zero)


def measure_spelling(contents: Contents) -> Spelling:
    """Count properties of words that may keep them from matching a dictionary."""
    words = contents.words
    lower = Counter(word.lower() for word in words)
    return Spelling(
        with_upper_case=sum(word != word.lower() for word in words) / len(words),
        differ_only_by_case=sum(count for count in lower.values() if count > 1),
        with_spaces=sum(" " in word for word in words),
        with_other_spaces=sum(any(c.isspace() and c != " " for c in word) for word in words),
        undecodable=contents.report.count("undecodable"),
        byte_order_mark=contents.bom,
    )


def find_order_problem(words: Sequence[str]) -> str | None:
    """Why the words do not seem to be in order of frequency, or None. Frequent words are shorter in every language.

    A list sorted by rounded frequency has long alphabetical stretches. It is accepted.
    """
    if len(words) < MIN_WORDS_TO_JUDGE_ORDER:
        return None
    if sum(a <= b for a, b in pairwise(words)) > 0.999 * len(words):
        return "is in alphabetical order"
    lengths = np.array([len(word) for word in words], dtype=np.float64)
    first = max(500, len(words) // 20)
    if lengths[:first].mean() > 0.97 * lengths[first:].mean():
        return "does not seem to be in order of frequency (its first words are not shorter than the others)"
    return None
