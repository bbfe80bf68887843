"""Self-learning with any method."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import torch

from bilex.errors import AlignmentError, SettingsError
from bilex.evaluation.criterion import mean_cosine, reciprocal_ranks, require_dev, standard_error
from bilex.evaluation.held_out import held_out_record
from bilex.induction.confidence import Extension, extend_dictionary, isin_pairs, most_confident
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

Choice = Literal["within_error", "best", "last"]


@dataclass(frozen=True, kw_only=True)
class SelfLearning(Method):
    """Train, induce pairs, train on these too, and so on: self-learning with any method.

    1. Fit `base` to the pairs, and map both tables.
    2. `induction` selects new pairs. Those whose source word is not in the dictionary are added to it (`extend`).
    3. Repeat, `rounds` times, each time from the original dictionary and new pairs (`accumulate`).
    4. Select a round. Dev words are few and frequent, while self-learning helps all words, so later rounds are
       preferred: the last round is selected whose dev MRR is within one standard error of the best. Without dev, it is
       the round with the highest mean cosine of its pairs (`choice`).
    5. With dev, fit `base` once more, to the dictionary, the pairs of that round, and dev.
    """

    name = "self_learning"
    paper = "Artetxe, Labaka and Agirre (2017). Learning bilingual word embeddings with (almost) no bilingual data. ACL"
    finds_pairs = True
    uses_dev = True
    resumes = True

    added: ClassVar[tuple[str, ...]] = ("extend", "accumulate", "base_dev", "choice", "refit")
    renamed: ClassVar[dict[str, str]] = {"least_share": "min_share", "least_dev": "min_dev_words"}  # old names

    base: Method = field(default_factory=VecMap)
    """The method of every round."""
    rounds: int = 5
    """Number of times that pairs are induced and added to the dictionary."""
    patience: int | None = None
    """Early stopping: end after this many rounds without a new best one."""
    induction: Induction = field(default_factory=Induction)
    """How new pairs are selected in each round."""
    extend: Extension = "new_words"
    """Which induced pairs are added: those of source words that the dictionary does not have; those that are not in it;
    or all, even twice."""
    accumulate: bool = False
    """Whether the pairs of earlier rounds are kept in the dictionary, or those of each round replace them."""
    warm: bool = True
    """Whether `base` gets the mapping of the round before as a warm start, if it can use one."""
    precision: float | None = None
    """If set, only the most confident pairs are taken: as many as keep this share of the pairs of dev words right (0 to
    1)."""
    min_share: float = 0.35
    """With `precision`, at least this share of all pairs is taken, since the few dev words are a rough guide. Without
    dev, the first round takes this share, and later rounds take more, up to all."""
    newest: bool = True
    """Whether the last fit, with dev, has the pairs that the selected round induced; else those it was trained on."""
    base_dev: Literal["first", "every"] = "first"
    """Whether `base` makes its own choices on dev in the first round only, or in every round."""
    choice: Choice = "within_error"
    """The round that is selected: the last within a standard error of the best, the best, or the last."""
    refit: bool = True
    """Whether to fit `base` once more in the end, with dev (step 5)."""
    min_dev_words: int = 100
    """With fewer dev words than this, dev is added to train, and rounds are selected by the mean cosine. This holds
    with `refit` only."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "rounds", "patience")
        for name in ("precision", "min_share"):
            if not 0 <= (getattr(self, name) or 0) <= 1:
                raise SettingsError(f"{self.name}: {name}={getattr(self, name)}; needed a number from 0 to 1")
        self._needs_unit_rows("pairs are induced by cosine")

    @property
    def rank_cut(self) -> int:
        """Pairs are induced among the most frequent words only."""
        return self.induction.max_rank

    @property
    def learns_dev(self) -> bool:
        """True with `refit`, of this method or of `base`."""
        return self.refit or self.base.learns_dev

    def without_refit(self) -> Self:
        """The same with `refit=False`, also of `base`."""
        return replace(self, refit=False, base=self.base.without_refit())

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
        """All rounds, then the selected mapping, or with dev the last fit."""
        if self.refit:
            pairs, dev = require_dev(pairs, dev, self.min_dev_words)
        state = checkpoint.load(trace)
        if state is None:
            first = trace.span(0, self.share_before(pairs))
            now = _Rounds(self.first_pairs(x, z, pairs, generator=generator, trace=first), generator)
            checkpoint.save(trace, now.arrays(), round=now.number)
        else:
            now = _Rounds.restored(state, generator, x, z, dev)
        begin = self.share_before(pairs)
        rounds = self.rounds + (dev is None)  # with dev, there is one more fit at the end
        while now.number < rounds and (self.patience is None or now.since_best < self.patience):
            mapping = self._train(x, z, now, dev, self._round_trace(trace, begin, now.number), checkpoint, state)
            state = None
            induced, cosine, scores = self._judge(mapping, x, z, dev, generator, progress=(now.number + 1) / rounds)
            enlarged = extend_dictionary(now.pairs if self.accumulate else pairs, induced, self.extend)
            trace(
                round=now.number,
                pairs=len(now.pairs),
                induced=len(enlarged) - len(pairs),
                mean_cosine=cosine,
                **({} if dev is None or scores is None else {**_dev_figures(scores), **_dev_precision(induced, dev)}),
            )
            if len(enlarged) == len(pairs):
                raise AlignmentError(
                    f"round {now.number} of {self.name} found no pair to add to the {len(pairs):,} of the "
                    "dictionary: the map is not good enough for self-learning; give more pairs, or relax its "
                    "induction"
                )
            scores = torch.tensor([cosine], dtype=torch.float64) if scores is None else scores
            now.finish_round(mapping, scores, enlarged, newest=self.newest, choice=self.choice)
            checkpoint.save(trace, now.arrays(), round=now.number)
        return self._finish(x, z, now, pairs, dev, self._round_trace(trace, begin, self.rounds), checkpoint, state)

    def _judge(
        self, mapping: Mapping, x: Tensor, z: Tensor, dev: Tensor | None, generator: Generator, *, progress: float
    ) -> tuple[Tensor, float, Tensor | None]:
        """The pairs induced by a mapping (p, 2), their mean cosine, and the reciprocal ranks of dev words (s,)."""
        mapped = unit(mapping.source(x)), unit(mapping.target(z))
        candidates = self.induction(*mapped, generator)
        cosine = mean_cosine(*mapped, candidates.pairs, self.induction.possible_pairs(len(x), len(z)))
        scores = None if dev is None else reciprocal_ranks(*mapped, dev, neighbours=candidates.neighbours)
        return self.select_pairs(candidates, dev, progress=progress), cosine, scores

    def share_before(self, pairs: Tensor) -> float:  # noqa: ARG002
        """The share of the total time that is spent before the first round (0 to 1)."""
        return 0.0

    def _round_trace(self, trace: Trace, begin: float, number: int) -> Trace:
        """The trace of one fit: one for each round, and one for the last fit."""
        length = (1 - begin) / (self.rounds + 1)
        return trace.span(begin + number * length, begin + (number + 1) * length)

    def first_pairs(self, x: Tensor, z: Tensor, pairs: Tensor, *, generator: Generator, trace: Trace) -> Tensor:  # noqa: ARG002
        """The pairs that the first round is trained on: the dictionary."""
        return pairs

    def select_pairs(self, induced: InducedPairs, dev: Tensor | None, *, progress: float) -> Tensor:
        """The induced pairs to train on: (p, 2).  progress: share of the rounds that are done (0 to 1)."""
        if self.precision is None:
            return induced.pairs
        min_share = self.min_share + (0 if dev is not None else progress * (1 - self.min_share))
        return most_confident(induced, dev, self.precision, min_share=min_share)

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
        """Fit `base` in one round. In a resumed run it continues from its own state, if there is one."""
        options: dict[str, Any] = {}
        if self.base.warm_starts and self.warm:
            options["warm"] = now.mapping
        if self.base.resumes:
            inner = None if state is None else state.inner()
            options["checkpoint"] = checkpoint.part(now.arrays(), state=inner, round=now.number)
        chooses = self.base.uses_dev and (now.number == 0 or self.base_dev == "every")
        part = trace.within(round=now.number)
        dev = dev if chooses else None  # in other rounds, dev only selects the round
        return self.base.fit(x, z, now.pairs, dev=dev, generator=now.generator, trace=part, **options)

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
        """The mapping of the selected round; with dev, one more fit from there, with dev in the dictionary."""
        if state is None or state.inner() is None:  # else the interrupted run has recorded it
            trace(round=now.number, kept_round=now.selected_round)
            if dev is not None and self.refit:
                trace(**held_out_record(self.name, 1 / now.selected_scores))
        assert now.selected is not None
        if dev is None or not self.refit:
            return now.selected
        now.mapping = now.selected
        now.pairs = extend_dictionary(torch.cat([pairs, dev]), now.selected_pairs, self.extend)
        return self._train(x, z, now, None, trace, checkpoint, state)


FORMS = {
    "pairs": ArrayForm(("p", 2), "int64"),
    "kept_pairs": ArrayForm(("kept p", 2), "int64"),
    "numbers": ArrayForm((3,), "int64"),
}


class _Rounds:
    """The state of self-learning between rounds. In checkpoints and records, the selected round is called `kept`."""

    def __init__(self, pairs: Tensor, generator: Generator) -> None:
        self.pairs = self.selected_pairs = pairs
        self.generator = generator
        self.number = self.selected_round = self.since_best = 0
        self.best_scores = self.selected_scores = torch.empty(0, dtype=torch.float64)
        self.mapping: Mapping | None = None
        self.selected: Mapping | None = None

    def finish_round(
        self,
        mapping: Mapping,
        scores: Tensor,
        pairs: Tensor,
        *,
        newest: bool = True,
        choice: Choice = "within_error",
    ) -> None:
        """End a round with its mapping, its dev scores (s,), and the pairs of the next round (p, 2).

        `within_error`: the round is selected if its mean score is not below the best by more than the standard error of
        the difference; `best`: if it is the best; `last`: always. With it are stored the new pairs, or with
        `newest=False` those that it was trained on.
        """
        scores = scores.cpu()
        better = not len(self.best_scores) or bool(scores.mean() > self.best_scores.mean())
        change = torch.zeros(1) if better else scores - self.best_scores
        near = choice != "best" and bool(change.mean() >= -standard_error(change))
        if better or near or choice == "last":
            self.selected, self.selected_pairs = mapping, pairs if newest else self.pairs
            self.selected_round, self.selected_scores = self.number, scores
        self.since_best = 0 if better else self.since_best + 1
        if better:
            self.best_scores = scores
        self.mapping, self.pairs = mapping, pairs
        self.number += 1

    def arrays(self) -> dict[str, Tensor]:
        """The arrays of a checkpoint."""
        numbers = torch.tensor([self.number, self.selected_round, self.since_best])
        arrays = {
            "pairs": self.pairs,
            "kept_pairs": self.selected_pairs,
            "numbers": numbers,
            "scores": self.best_scores,
        }
        arrays |= {"kept_scores": self.selected_scores, "generator": self.generator.get_state()}
        for name, mapping in (("mapping", self.mapping), ("kept", self.selected)):
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
            now.selected_pairs, now.best_scores, now.selected_scores = (
                arrays["kept_pairs"],
                own["scores"],
                own["kept_scores"],
            )
            now.number, now.selected_round, now.since_best = own["numbers"].tolist()
            now.mapping, now.selected = (nested_mapping(arrays, prefix, sizes) for prefix in ("mapping.", "kept."))
            scored = 0 if now.number == 0 else 1 if dev is None else len(torch.unique(dev[:, 0]))
            lengths = {scored, len(now.best_scores), len(now.selected_scores)}
            if min(own["numbers"]) < 0 or len(lengths) > 1 or (scored and now.selected is None):
                raise ValueError(f"round {now.number} has no selected mapping, or not the scores of one")
        return now


def _dev_figures(scores: Tensor) -> dict[str, float]:
    """MRR and P@1 of the dev words.  scores: (s,), 1 / rank."""
    return {"dev_mrr": float(scores.mean()), "dev_p_at_1": 100 * float((scores == 1).double().mean())}


def _dev_precision(induced: Tensor, dev: Tensor) -> dict[str, float | None]:
    """The number of induced pairs of dev words, and the percentage of them that are right."""
    judged = induced[torch.isin(induced[:, 0], dev[:, 0])]
    right = 100 * float(isin_pairs(judged, dev).double().mean()) if len(judged) else None
    return {"dev_induced": len(judged), "dev_right": right}
