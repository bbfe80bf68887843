"""What a reader hands over, whatever the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bilex.io.report import ReadReport


class Subwords(Protocol):
    """Makes a vector for any word from its parts, as fastText does."""

    def __call__(self, word: str) -> NDArray[np.float32]:
        """The vector, (d,); zeros when the word has no known part."""
        ...


@dataclass(frozen=True)
class Header:
    """The first line of a word2vec file: what it claims, true or not."""

    words: int
    width: int


@dataclass(frozen=True)
class Contents:
    """Words and rows that belong together, and what is worth knowing about the file they came from."""

    format: str
    words: list[str]
    rows: NDArray[np.float32]
    report: ReadReport
    subwords: Subwords | None = None
    header: Header | None = None
    bom: bool = False
    compressed: bool = False
