"""VecMap without a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bilex.errors import SettingsError
from bilex.induction.initial import similar_profiles
from bilex.induction.neighbours import Induction, together
from bilex.linalg.procrustes import procrustes
from bilex.methods.base import Method
from bilex.methods.vecmap import VecMap

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.mapping import LinearMapping
    from bilex.trace import Trace


@dataclass(frozen=True, kw_only=True)
class VecMapUnsupervised(Method):
    """Self-learning with chance, from similarity profiles or a small dictionary: VecMap, unsupervised.

    An orthogonal map is fitted to the pairs, new pairs are induced in both directions by CSLS, and so on. Each score is
    looked at with a probability only, which grows whenever the mean cosine of the best candidates has stopped doing so.
    The last pairs go to the supervised VecMap. The chance is played among the `first` most frequent words, where it is
    cheap; then rounds without chance follow among `max_rank` of them.
    """

    name = "vecmap_unsupervised"
    paper = (
        "Artetxe, Labaka and Agirre (2018). "
        "A robust self-learning method for fully unsupervised cross-lingual mappings. ACL"
    )
    needs_pairs = False

    first: int = 4000
    max_rank: int = 20_000
    keep: float = 0.1
    """The probability to begin with; it is doubled until it is 1."""
    patience: int = 10
    """Rounds without a better mean cosine before that."""
    rounds: int = 10
    """At most so many rounds without chance among all `max_rank` words."""
    k: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("first", "max_rank", "patience", "rounds", "k"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{self.name}: {name}={getattr(self, name)}; needed at least 1")

    @property
    def rank_cut(self) -> int:
        """Chance is played among the first words only."""
        return self.first

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """The map that VecMap makes of the induced pairs."""
        return VecMap().fit(x, z, self.induce(x, z, pairs, generator=generator, trace=trace))

    def induce(self, x: Tensor, z: Tensor, seed: Tensor, *, generator: Generator, trace: Trace) -> Tensor:
        """The pairs that self-learning ends with; those of the dictionary, if there is one, stay."""
        pairs = seed if len(seed) else similar_profiles(x, z, generator, max_rank=self.first).pairs
        induction = Induction(max_rank=self.first, k=self.k, direction="union", keep=self.keep)
        while induction.keep < 1:
            pairs = self._improve(x, z, pairs, seed, induction, generator, trace)
            induction = replace(induction, keep=min(1.0, 2 * induction.keep))
        pairs = self._improve(x, z, pairs, seed, induction, generator, trace)
        whole = replace(induction, max_rank=self.max_rank)
        return self._improve(x, z, pairs, seed, whole, generator, trace, rounds=self.rounds)

    def _improve(
        self,
        x: Tensor,
        z: Tensor,
        pairs: Tensor,
        seed: Tensor,
        induction: Induction,
        generator: Generator,
        trace: Trace,
        rounds: int | None = None,
    ) -> Tensor:
        """Rounds of map and pairs until the mean cosine has not grown for a while."""
        best, since, number = float("-inf"), 0, 0
        while since < self.patience and (rounds is None or number < rounds):
            w = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])  # a dictionary may have words of any rank
            induced = induction(x[: induction.max_rank] @ w, z, generator)
            pairs, objective = together(seed, induced.pairs), induced.best_cosine
            since = 0 if objective > best + 1e-6 else since + 1
            best, number = max(best, objective), number + 1
        trace(
            keep=induction.keep,
            words=min(induction.max_rank, len(x)),
            rounds=number,
            pairs=len(pairs),
            mean_cosine=best,
        )
        return pairs
