"""What signals are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from bilex.retrieval.sides import Sides


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """Both vocabularies, both mapped tables (unit rows in one space), and the train pairs (p, 2) as rows of them.

    The pairs are those that the mapping was trained on. While the ranker learns, they have no word that is ranked.
    """

    words: Sides[Sequence[str]]
    rows: Sides[Tensor]
    pairs: NDArray[np.int64]

    @cached_property
    def sources(self) -> NDArray[np.int64]:
        """The source rows of the pairs, each once, sorted: (s,)."""
        return np.unique(self.pairs[:, 0])

    @cached_property
    def targets(self) -> NDArray[np.int64]:
        """The target rows of the pairs, each once, sorted: (t,)."""
        return np.unique(self.pairs[:, 1])
