"""Cross-fitting: candidates and columns of words that the mapping and the signals were not trained on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
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


class Fit(Protocol):
    """Fits a mapping to some pairs (p, 2), and maps both tables: unit rows in one space."""

    def __call__(self, pairs: NDArray[np.int64]) -> Sides[Tensor]:
        """Both mapped tables."""


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
    """(q, c, f)."""
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
        width = 1 + max(int(pairs[:, 1].max()), int(candidates.targets.max()))
        keys = candidates.sources[:, None] * width + candidates.targets
        return cls(
            names=names,
            sources=candidates.sources,
            targets=candidates.targets,
            features=columns,
            csls=candidates.scores,
            gold=np.isin(keys, pairs[:, 0] * width + pairs[:, 1]),
            total=np.bincount(pairs[:, 0], minlength=int(candidates.sources.max()) + 1)[candidates.sources],
        )

    @classmethod
    def joined(cls, parts: Iterable[Lists]) -> Lists:
        """Several lists as one."""
        parts = list(parts)
        arrays = ("sources", "targets", "features", "csls", "gold", "total")
        joined = {array: np.concatenate([getattr(part, array) for part in parts]) for array in arrays}
        return cls(names=parts[0].names, **joined)


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
) -> list[Lists]:
    """The lists of each fold of the source words, with a mapping and signals that have learnt from the other folds."""
    words, pairs, sources = evidence.words, evidence.pairs, evidence.sources
    numbers = fold_numbers([words.source[i] for i in sources], folds, rng_seed)
    found = []
    for fold in range(folds):
        held_out = sources[numbers == fold]
        rest = pairs[~np.isin(pairs[:, 0], held_out)]
        rows = fit(rest)
        index = retrieval.index(*rows)
        index.prepare()  # the penalties of both tables by one search; both are needed, and one by one they take two
        lists = find_candidates(index, held_out, candidates)
        features = Features.fit(signals, Evidence(words=words, rows=rows, pairs=rest))
        found.append(Lists.of(lists, features, pairs))
    return found
