"""The result of every reader, whatever the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bilex.io.report import ReadReport


class Subwords(Protocol):
    """Computes a vector for any word from its subwords, as fastText does."""

    def __call__(self, word: str) -> NDArray[np.float32]:
        """The vector, (d,). Zeros if no subword is known."""
        ...


@dataclass(frozen=True)
class Header:
    """The first line of a word2vec file, as it stands there. The numbers may be wrong."""

    words: int
    width: int


@dataclass(frozen=True)
class Contents:
    """Words with their rows, and facts about the file."""

    format: str
    words: list[str]
    rows: NDArray[np.float32]
    report: ReadReport
    subwords: Subwords | None = None
    header: Header | None = None
    bom: bool = False
    compressed: bool = False
