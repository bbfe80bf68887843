"""Cross-fitting: candidates and columns of words that the mapping and the signals were not trained on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bilex.rerank.candidates import Candidates, find_candidates
from bilex.rerank.evidence import Evidence
from bilex.rerank.features import Features

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from bilex.rerank.signals import Signal
    from bilex.retrieval import Retrieval
    from bilex.retrieval.sides import Sides


ARRAYS = ("sources", "targets", "features", "csls", "gold", "total")
"""The arrays of `Lists`."""


class Fit(Protocol):
    """Fits a mapping to some pairs (p, 2), and maps both tables: unit rows in one space."""

    def __call__(self, pairs: NDArray[np.int64]) -> Sides[Tensor]:
        """Both mapped tables."""


class SavedFolds(Protocol):
    """The lists of folds that are finished, so that an interrupted cross-fitting can be resumed."""

    def load(self, fold: int) -> Lists | None:
        """Those of a fold; None if it is not finished."""

    def save(self, fold: int, lists: Lists) -> None:
        """Keep those of a finished fold."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Lists:
    """Candidates of source words with their columns, and which are right."""

    names: tuple[str, ...]
    """Of the columns: (f,)."""
    sources: NDArray[np.int64]
    """(q,)."""
    targets: NDArray[np.int64]
    """(q, c)."""
    features: NDArray[np.float64]
    """In single precision, as a run stores them: (q, c, f)."""
    csls: NDArray[np.float64]
    """(q, c), best first."""
    gold: NDArray[np.bool_]
    """(q, c)."""
    total: NDArray[np.int64]
    """Number of right targets of each word, candidates or not: (q,)."""

    @classmethod
    def of(cls, candidates: Candidates, features: Features, pairs: NDArray[np.int64]) -> Lists:
        """pairs: (p, 2), the right ones of all words."""
        names, columns = features.stacked(candidates)
        sources, targets = candidates.sources, candidates.targets
        return cls(
            names=names,
            sources=sources,
            targets=targets,
            features=columns.astype(np.float32).astype(np.float64),
            csls=candidates.scores,
            gold=_is_pair(sources, targets, pairs),
            total=_number_of_pairs(sources, pairs),
        )

    def judged_by(self, pairs: NDArray[np.int64]) -> Lists:
        """The same lists if other pairs (p, 2) are right."""
        gold = _is_pair(self.sources, self.targets, pairs)
        return replace(self, gold=gold, total=_number_of_pairs(self.sources, pairs))

    @classmethod
    def joined(cls, parts: Iterable[Lists]) -> Lists:
        """Several lists as one."""
        parts = list(parts)
        joined = {array: np.concatenate([getattr(part, array) for part in parts]) for array in ARRAYS}
        return cls(names=parts[0].names, **joined)


def _is_pair(sources: NDArray[np.int64], targets: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which candidates are right: (q, c).  sources: (q,); targets: (q, c); pairs: (p, 2)."""
    width = 1 + max(int(pairs[:, 1].max(initial=0)), int(targets.max(initial=0)))
    found: NDArray[np.bool_] = np.isin(sources[:, None] * width + targets, pairs[:, 0] * width + pairs[:, 1])
    return found


def _number_of_pairs(sources: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """(q,)."""
    counts: NDArray[np.int64] = np.bincount(pairs[:, 0], minlength=int(sources.max(initial=0)) + 1)[sources]
    return counts


def fold_numbers(words: Sequence[str], folds: int, rng_seed: int) -> NDArray[np.int64]:
    """The fold of each word, (n,), of equal sizes. They depend only on the words and `rng_seed`, not on their order."""
    keys = [hashlib.blake2b(f"{rng_seed} fold {word}".encode(errors="surrogatepass")).digest() for word in words]
    numbers = np.empty(len(words), np.int64)
    numbers[sorted(range(len(words)), key=lambda i: keys[i])] = np.arange(len(words)) % folds
    return numbers


def cross_fit(
    fit: Fit,
    evidence: Evidence,
    signals: Sequence[Signal],
    *,
    folds: int,
    candidates: int,
    retrieval: Retrieval,
    rng_seed: int,
    saved: SavedFolds | None = None,
) -> list[Lists]:
    """The lists of each fold of the source words, with a mapping and signals that have learnt from the other folds."""
    words, pairs, sources = evidence.words, evidence.pairs, evidence.sources
    numbers = fold_numbers([words.source[i] for i in sources], folds, rng_seed)
    found = []
    for fold in range(folds):
        lists = None if saved is None else saved.load(fold)
        if lists is None:
            held_out = sources[numbers == fold]
            rest = pairs[~np.isin(pairs[:, 0], held_out)]
            rows = fit(rest)
            index = retrieval.index(*rows)
            index.prepare()  # the penalties of both tables by one search; both are needed, and one by one they take two
            best = find_candidates(index, held_out, candidates)
            features = Features.fit(signals, Evidence(words=words, rows=rows, pairs=rest))
            lists = Lists.of(best, features, pairs)
            if saved is not None:
                saved.save(fold, lists)
        found.append(lists)
    return found
