"""The figures of a run on one dictionary, with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bilex.evaluation.significance import Interval, bootstrap
from bilex.retrieval import CSLS, Nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bilex.alignment import Alignment
    from bilex.coverage import LexiconIndex
    from bilex.evaluation.precision import Band, Evaluation
    from bilex.lexicon import Lexicon
    from bilex.search.blocks import Progress


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A dictionary, and the accuracy on its words by CSLS and by plain nearest neighbours."""

    part: str
    """Which dictionary it is: "test" or "dev"."""
    lexicon: Lexicon
    indexed: LexiconIndex
    csls: Evaluation
    nearest: Evaluation
    chosen_on: bool
    """Whether the method made choices on these words, and may have trained on them in the end."""

    def to_json(self) -> dict[str, Any]:
        """The same in plain values."""
        return {
            "csls": _with_intervals(self.csls),
            "nn": _with_intervals(self.nearest),
            "chosen_on": self.chosen_on,
            "coverage": self.indexed.to_json(),
        }

    def band_interval(self, band: Band) -> Interval:
        """Confidence interval of P@1 in a frequency band, by CSLS."""
        ranks = [self.csls.ranks[w] for w, row in self.indexed.sources.items() if band.first <= row <= band.last]
        return mean_interval(hits(ranks))


def measure(
    alignment: Alignment, part: str, lexicon: Lexicon, *, fold_case: bool, progress: Progress | None = None
) -> Figures:
    """Evaluate the vectors alone by both kinds of retrieval. For the dev dictionary, `train_overlap` is left out."""
    found = [
        alignment.evaluate(lexicon, retrieval=retrieval, fold_case=fold_case, vectors_only=True, progress=progress)
        for retrieval in (CSLS(), Nearest())
    ]
    csls, nearest = found if part == "test" else [replace(result, train_overlap=0) for result in found]
    return Figures(
        part=part,
        lexicon=lexicon,
        indexed=lexicon.index(alignment.source, alignment.target, fold_case=fold_case),
        csls=csls,
        nearest=nearest,
        chosen_on=part == "dev" and alignment.provenance["protocol"].startswith("choices"),
    )


def hits(ranks: list[int], n: int = 1) -> NDArray[np.float64]:
    """100 for each word with a right translation among the n best, 0 for the others."""
    return np.where(np.array(ranks) <= n, 100.0, 0.0)


def mean_interval(values: NDArray[np.float64]) -> Interval:
    """95 % bootstrap confidence interval of the mean over words."""
    return bootstrap(np.asarray(values, dtype=np.float64))


def p_at_1_interval(result: Evaluation) -> Interval:
    """Confidence interval of P@1 over the covered source words."""
    return mean_interval(hits(list(result.ranks.values())))


def mrr_interval(result: Evaluation) -> Interval:
    """Confidence interval of MRR over the covered source words."""
    return mean_interval(1 / np.array(list(result.ranks.values()), dtype=np.float64))


def _with_intervals(result: Evaluation) -> dict[str, Any]:
    found = {"p_at_1_interval": p_at_1_interval(result), "mrr_interval": mrr_interval(result)}
    return {**result.to_json(), **{name: interval._asdict() for name, interval in found.items()}}
