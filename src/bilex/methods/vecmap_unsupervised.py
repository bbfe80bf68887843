"""VecMap without a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Any, ClassVar

from bilex.evaluation.agreement import failure, mutual_agreement
from bilex.induction.confidence import extend_dictionary
from bilex.induction.induction import Induction
from bilex.induction.initial import similar_profiles
from bilex.linalg.procrustes import procrustes
from bilex.methods.base import Method
from bilex.methods.vecmap import VecMap

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.mapping import LinearMapping
    from bilex.training.trace import Trace


MIN_GAIN = 1e-3
"""Smallest gain of the mean cosine that counts as progress."""


@dataclass(frozen=True, kw_only=True)
class VecMapUnsupervised(Method):
    """Self-learning with score dropout, from similarity profiles or a small dictionary: VecMap, unsupervised.

    Each round fits an orthogonal map to the pairs, W = argmin ‖XW − Z‖, and induces new pairs by CSLS in both
    directions. Scores are dropped at random: each is kept with a probability that is doubled whenever the mean cosine
    of the best candidates stops growing. Rounds with dropout look at the `dropout_max_rank` most frequent words, where
    they are cheap; then rounds without dropout follow among `max_rank` words. The last pairs train the supervised
    VecMap. Self-learning can end in a wrong map, whose pairs do not agree with each other. Such a map is refused.
    """

    name = "vecmap_unsupervised"
    paper = (
        "Artetxe, Labaka and Agirre (2018). "
        "A robust self-learning method for fully unsupervised cross-lingual mappings. ACL"
    )
    needs_pairs = False
    finds_pairs = True

    renamed: ClassVar[dict[str, str]] = {  # old names, which settings as texts may still have
        "first": "dropout_max_rank",
        "keep": "keep_probability",
        "least_agreement": "min_agreement",
        "keep_seed": "keep_dictionary",
    }

    dropout_max_rank: int = 4000
    """Rounds with score dropout look at this many of the most frequent words of each language."""
    max_rank: int = 20_000
    """Rounds without dropout look at this many."""
    keep_probability: float = 0.1
    """Initial probability that a score is kept; it is doubled until it is 1."""
    patience: int = 5
    """The probability is doubled after this many rounds without a higher mean cosine."""
    rounds: int = 5
    """Largest number of rounds without dropout, among `max_rank` words."""
    min_agreement: float = 0.4
    """A try has failed if the agreement of its pairs is below this (0 to 1)."""
    tries: int = 2
    """Tries with other random numbers before giving up."""
    k: int = 10
    """Neighbours of CSLS."""
    keep_dictionary: bool = True
    """Whether a given dictionary is used in all rounds, or in the first round only."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "dropout_max_rank", "max_rank", "patience", "rounds", "tries", "k")
        self._needs_unit_rows("pairs are induced by cosine")

    @property
    def rank_cut(self) -> int:
        """Rounds with dropout look at the most frequent words only."""
        return self.dropout_max_rank

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace, **_: Any
    ) -> LinearMapping:
        """The supervised VecMap on the induced pairs."""
        return VecMap().fit(x, z, self.induce(x, z, pairs, generator=generator, trace=trace))

    def induce(self, x: Tensor, z: Tensor, dictionary: Tensor, *, generator: Generator, trace: Trace) -> Tensor:
        """The pairs of the last round, with the dictionary if `keep_dictionary`: (p, 2).

        In the helpers, `fixed` are the pairs of the dictionary that stay in all rounds.
        """
        fixed = dictionary if self.keep_dictionary else dictionary[:0]
        pairs = self._first_good(x, z, dictionary, fixed, generator, trace.span(0, 0.5))
        whole = Induction(max_rank=self.max_rank, k=self.k, direction="union")
        return self._improve(x, z, pairs, fixed, whole, generator, trace.span(0.5, 1), rounds=self.rounds)

    def _first_good(
        self, x: Tensor, z: Tensor, dictionary: Tensor, fixed: Tensor, generator: Generator, trace: Trace
    ) -> Tensor:
        """The pairs of the first try that succeeds: its pairs agree with each other. An error if all tries fail.

        Without a dictionary, every second try begins from profiles without ranks: the tables may not be in order of
        frequency.
        """
        best = 0.0
        for number in range(self.tries):
            first = dictionary
            if not len(dictionary):
                first = similar_profiles(x, z, generator, max_rank=self.dropout_max_rank, ranks=number % 2 == 0).pairs
            pairs = self._anneal(x, z, first, fixed, generator, trace)
            agreement = self._agreement(x, z, pairs, generator)
            trace(agreement=agreement, needed=self.min_agreement)
            if agreement >= self.min_agreement:
                return pairs
            best = max(best, agreement)
        raise failure(self.name, tries=self.tries, found=best, needed=self.min_agreement)

    def _anneal(self, x: Tensor, z: Tensor, pairs: Tensor, fixed: Tensor, generator: Generator, trace: Trace) -> Tensor:
        """Rounds with less and less dropout, among the most frequent words."""
        first = self.keep_probability
        induction = Induction(max_rank=self.dropout_max_rank, k=self.k, direction="union", keep_probability=first)
        while induction.keep_probability < 1:
            doubled = replace(induction, keep_probability=min(1.0, 2 * induction.keep_probability))
            part = trace.span(*(1 - log(each.keep_probability) / log(first) for each in (induction, doubled)))
            pairs = self._improve(x, z, pairs, fixed, induction, generator, part)
            induction = doubled
        return self._improve(x, z, pairs, fixed, induction, generator, trace.span(1, 1))

    def _agreement(self, x: Tensor, z: Tensor, pairs: Tensor, generator: Generator) -> float:
        mapped = x[: self.dropout_max_rank] @ procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
        return mutual_agreement(mapped, z, generator, max_rank=self.dropout_max_rank, k=self.k)

    def _improve(
        self,
        x: Tensor,
        z: Tensor,
        pairs: Tensor,
        fixed: Tensor,
        induction: Induction,
        generator: Generator,
        trace: Trace,
        rounds: int | None = None,
    ) -> Tensor:
        """Alternate map and pairs until the mean cosine has not grown for `patience` rounds."""
        best, since_best, number, neighbours = -1.0, 0, 0, None
        progress = trace.progress(f"pairs of the first {min(induction.max_rank, len(x)):,} words")
        while since_best < self.patience and (rounds is None or number < rounds):
            w = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])  # a dictionary may have words of any rank
            induced = induction(x[: induction.max_rank] @ w, z, generator, warm_start=neighbours)
            pairs, objective = extend_dictionary(fixed, induced.pairs), induced.best_cosine
            neighbours = induced.neighbours
            since_best, number = since_best + 1, number + 1
            progress(number if rounds else 0, rounds or 1)
            if objective > best + MIN_GAIN:
                best, since_best = objective, 0
        trace(
            keep_probability=induction.keep_probability,
            words=min(induction.max_rank, len(x)),
            rounds=number,
            pairs=len(pairs),
            mean_cosine=best,
        )
        return pairs
