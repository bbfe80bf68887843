"""Self-learning around any method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from bilex.errors import AlignmentError, SettingsError
from bilex.evaluation.criterion import mean_cosine, reciprocal_ranks, standard_error
from bilex.evaluation.held_out import held_out_record
from bilex.induction.confidence import extend_dictionary, isin_pairs, most_confident
from bilex.induction.induction import Induction
from bilex.mapping import Mapping, nested_arrays, nested_mapping
from bilex.methods.base import Method
from bilex.methods.vecmap import VecMap
from bilex.normalize import unit
from bilex.storage.array_form import ArrayForm, check_arrays, check_row_numbers
from bilex.training.checkpoint import NO_CHECKPOINT

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.induction.induction import InducedPairs
    from bilex.training.checkpoint import Checkpoint, State
    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class SelfLearning(Method):
    """Train, induce pairs, train on these too, and so on: self-learning around any method.

    Each round maps both tables, takes the pairs that `induction` believes in, and adds those of them whose source word
    is not in the dictionary, which always stays. Dev words are a few frequent ones, self-learning is for all the
    others: the last round is kept whose MRR on dev is not below that of the best by more than a standard error of the
    difference. With its pairs and those of dev the final round is trained. Without dev it is the round with the
    highest mean cosine of its pairs.
    """

    name = "self_learning"
    paper = "Artetxe, Labaka and Agirre (2017). Learning bilingual word embeddings with (almost) no bilingual data. ACL"
    finds_pairs = True
    uses_dev = True
    resumes = True

    base: Method = field(default_factory=VecMap)
    """The method of every round."""
    rounds: int = 5
    """Times that pairs are induced and added to the dictionary."""
    patience: int | None = None
    """End before the last round, after so many rounds without a new best one."""
    induction: Induction = field(default_factory=Induction)
    """Which pairs a round believes in."""
    warm: bool = True
    """Whether a method that can make use of the mapping of the round before is given it."""
    precision: float | None = None
    """If set, only the surest pairs are taken: so many that of those of dev words this share is right (0 to 1)."""
    least_share: float = 0.35
    """At least this share of all pairs is taken: dev words are few, and frequent ones have many senses. Without dev
    so many are taken in the beginning, and more from round to round, up to all."""
    newest: bool = True
    """Whether the last fit, with dev, has the pairs that the kept round has found, or those it has learnt from."""
    least_dev: int = 100
    """Fewer dev words than this can decide nothing: they are trained on, and the mean cosine decides."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "rounds", "patience")
        for name in ("precision", "least_share"):
            if not 0 <= (getattr(self, name) or 0) <= 1:
                raise SettingsError(f"{self.name}: {name}={getattr(self, name)}; needed a number from 0 to 1")
        self._needs_unit_rows("pairs are induced by cosine")

    @property
    def rank_cut(self) -> int:
        """Pairs are induced among the first words only."""
        return self.induction.max_rank

    @property
    def learns_dev(self) -> bool:
        """The final round does."""
        return True

    def fit(
        self,
        x: Tensor,
        z: Tensor,
        pairs: Tensor,
        *,
        dev: Tensor | None,
        generator: Generator,
        trace: Trace,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> Mapping:
        """The rounds."""
        if dev is not None and len(torch.unique(dev[:, 0])) < self.least_dev:
            pairs, dev = torch.cat([pairs, dev]), None
        state = checkpoint.load(trace)
        if state is None:
            first = trace.span(0, self.share_before(pairs))
            now = _Rounds(self.first_pairs(x, z, pairs, generator=generator, trace=first), generator)
            checkpoint.save(trace, now.arrays(), round=now.number)
        else:
            now = _Rounds.restored(state, generator, x, z, dev)
        begin = self.share_before(pairs)
        rounds = self.rounds + (dev is None)  # with dev, the final round is trained on dev too
        while now.number < rounds and (self.patience is None or now.since_best < self.patience):
            mapping = self._train(x, z, now, dev, self._part(trace, begin, now.number), checkpoint, state)
            state = None
            mapped = unit(mapping.source(x)), unit(mapping.target(z))
            found = self.induction(*mapped, generator)
            induced = self.believed(found, dev, grown=(now.number + 1) / rounds)
            cosine = mean_cosine(*mapped, found.pairs, self.induction.possible_pairs(len(x), len(z)))
            scores = None if dev is None else reciprocal_ranks(*mapped, dev)
            enlarged = extend_dictionary(pairs, induced)
            trace(
                round=now.number,
                pairs=len(now.pairs),
                induced=len(enlarged) - len(pairs),
                mean_cosine=cosine,
                **({} if dev is None or scores is None else {**_figures(scores), **_quality(induced, dev)}),
            )
            if len(enlarged) == len(pairs):
                raise AlignmentError(
                    f"round {now.number} of {self.name} found no pair to add: the map is too poor to learn from; "
                    "give more pairs, or loosen the induction"
                )
            scores = torch.tensor([cosine], dtype=torch.float64) if scores is None else scores
            now.take(mapping, scores, enlarged, newest=self.newest)
            checkpoint.save(trace, now.arrays(), round=now.number)
        return self._finish(x, z, now, pairs, dev, self._part(trace, begin, self.rounds), checkpoint, state)

    def share_before(self, pairs: Tensor) -> float:  # noqa: ARG002
        """The share of the whole work that comes before the rounds."""
        return 0.0

    def _part(self, trace: Trace, begin: float, number: int) -> Trace:
        """For one of the trainings: one for each round, and one in the end."""
        length = (1 - begin) / (self.rounds + 1)
        return trace.span(begin + number * length, begin + (number + 1) * length)

    def first_pairs(self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace) -> Tensor:  # noqa: ARG002
        """What the first round learns from: the dictionary."""
        return pairs

    def believed(self, found: InducedPairs, dev: Tensor | None, *, grown: float) -> Tensor:
        """The pairs of an induction that are learnt from; grown: how far self-learning has come (0 to 1)."""
        if self.precision is None:
            return found.pairs
        least = self.least_share + (0 if dev is not None else grown * (1 - self.least_share))
        return most_confident(found, dev, self.precision, min_share=least)

    def _train(
        self,
        x: Tensor,
        z: Tensor,
        now: _Rounds,
        dev: Tensor | None,
        trace: Trace,
        checkpoint: Checkpoint,
        state: State | None,
    ) -> Mapping:
        """The method of a round, which goes on from its own state if a resumed run has one."""
        more: dict[str, Any] = {}
        if self.base.warm_starts and self.warm:
            more["warm"] = now.mapping
        if self.base.resumes:
            inner = None if state is None else state.inner()
            more["checkpoint"] = checkpoint.part(now.arrays(), state=inner, round=now.number)
        dev = dev if self.base.uses_dev and now.number == 0 else None  # later, the round is chosen instead
        part = trace.within(round=now.number)
        return self.base.fit(x, z, now.pairs, dev=dev, generator=now.generator, trace=part, **more)

    def _finish(
        self,
        x: Tensor,
        z: Tensor,
        now: _Rounds,
        pairs: Tensor,
        dev: Tensor | None,
        trace: Trace,
        checkpoint: Checkpoint,
        state: State | None,
    ) -> Mapping:
        """The round that was kept; with dev, the next one from there, with the dev pairs in the dictionary."""
        if state is None or state.inner() is None:  # else it has been said
            trace(round=now.number, kept_round=now.kept_round)
            if dev is not None:
                trace(**held_out_record(self.name, 1 / now.kept_scores))
        assert now.kept is not None
        if dev is None:
            return now.kept
        now.mapping, now.pairs = now.kept, extend_dictionary(torch.cat([pairs, dev]), now.kept_pairs)
        return self._train(x, z, now, None, trace, checkpoint, state)


FORMS = {
    "pairs": ArrayForm(("p", 2), "int64"),
    "kept_pairs": ArrayForm(("kept p", 2), "int64"),
    "numbers": ArrayForm((3,), "int64"),
}


class _Rounds:
    """All that is carried from round to round."""

    def __init__(self, pairs: Tensor, generator: Generator) -> None:
        self.pairs = self.kept_pairs = pairs
        self.generator = generator
        self.number = self.kept_round = self.since_best = 0
        self.best_scores = self.kept_scores = torch.empty(0, dtype=torch.float64)
        self.mapping: Mapping | None = None
        self.kept: Mapping | None = None

    def take(self, mapping: Mapping, scores: Tensor, pairs: Tensor, *, newest: bool = True) -> None:
        """End a round: its mapping, and the pairs for the next; these are kept with it, or those it has learnt from.

        It is kept if its scores are not below the best ones by more than the standard error of the difference.
        """
        scores = scores.cpu()
        better = not len(self.best_scores) or bool(scores.mean() > self.best_scores.mean())
        change = torch.zeros(1) if better else scores - self.best_scores
        if change.mean() >= -standard_error(change):
            self.kept, self.kept_pairs, self.kept_round = mapping, pairs if newest else self.pairs, self.number
            self.kept_scores = scores
        self.since_best = 0 if better else self.since_best + 1
        if better:
            self.best_scores = scores
        self.mapping, self.pairs = mapping, pairs
        self.number += 1

    def arrays(self) -> dict[str, Tensor]:
        """For a checkpoint."""
        numbers = torch.tensor([self.number, self.kept_round, self.since_best])
        arrays = {"pairs": self.pairs, "kept_pairs": self.kept_pairs, "numbers": numbers, "scores": self.best_scores}
        arrays |= {"kept_scores": self.kept_scores, "generator": self.generator.get_state()}
        for name, mapping in (("mapping", self.mapping), ("kept", self.kept)):
            if mapping is not None:
                arrays |= nested_arrays(mapping, f"{name}.")
        return arrays

    @classmethod
    def restored(cls, state: State, generator: Generator, x: Tensor, z: Tensor, dev: Tensor | None) -> _Rounds:
        """The inverse of `arrays`."""
        with state.unpacking():
            own = {name: array for name, array in state.arrays.items() if "." not in name}
            forms = FORMS | {name: ArrayForm((len(own[name]),)) for name in ("scores", "kept_scores")}
            check_arrays(own, forms | {"generator": ArrayForm.of(generator.get_state())})
            for name in ("pairs", "kept_pairs"):
                check_row_numbers(name, own[name][:, 0], len(x))
                check_row_numbers(name, own[name][:, 1], len(z))
            generator.set_state(own["generator"])
            arrays, sizes = {name: array.to(x.device) for name, array in state.arrays.items()}, {"d": x.shape[1]}
            now = cls(arrays["pairs"], generator)
            now.kept_pairs, now.best_scores, now.kept_scores = arrays["kept_pairs"], own["scores"], own["kept_scores"]
            now.number, now.kept_round, now.since_best = own["numbers"].tolist()
            now.mapping, now.kept = (nested_mapping(arrays, prefix, sizes) for prefix in ("mapping.", "kept."))
            scored = 0 if now.number == 0 else 1 if dev is None else len(torch.unique(dev[:, 0]))
            lengths = {scored, len(now.best_scores), len(now.kept_scores)}
            if min(own["numbers"]) < 0 or len(lengths) > 1 or (scored and now.kept is None):
                raise ValueError(f"round {now.number} has no mapping that was kept, or no scores of it")
        return now


def _figures(scores: Tensor) -> dict[str, float]:
    """Of the dev words.  scores: (s,), 1 / rank."""
    return {"dev_mrr": float(scores.mean()), "dev_p_at_1": 100 * float((scores == 1).double().mean())}


def _quality(induced: Tensor, dev: Tensor) -> dict[str, float | None]:
    """Of the dev words that have an induced pair: how many, and in percent how many of the pairs are right."""
    judged = induced[torch.isin(induced[:, 0], dev[:, 0])]
    right = 100 * float(isin_pairs(judged, dev).double().mean()) if len(judged) else None
    return {"dev_induced": len(judged), "dev_right": right}
