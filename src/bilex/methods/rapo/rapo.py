"""RAPO: ranking loss, personalised adapters, Householder projections."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import torch

from bilex.errors import SettingsError
from bilex.evaluation.held_out import HELD_OUT
from bilex.mapping import LinearMapping
from bilex.methods.base import Method, get_method
from bilex.methods.rapo.adapter import Activation
from bilex.methods.rapo.context import ContextSettings
from bilex.methods.rapo.learner import RankingLearner, Tables
from bilex.methods.rapo.mapping import TowerMapping
from bilex.methods.rapo.objective import Distance, LossWeights
from bilex.methods.rapo.penalties import ApproximatePenalties
from bilex.methods.rapo.ranking import Negatives
from bilex.methods.rapo.schedule import Schedule, train
from bilex.methods.rapo.start import from_linear, from_towers, random_start
from bilex.methods.rapo.towers import Projection
from bilex.settings.fields import Choice, Range, SearchSpace
from bilex.training.checkpoint import NO_CHECKPOINT
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.mapping import Mapping
    from bilex.methods.rapo.start import Parameters
    from bilex.training.checkpoint import Checkpoint


@dataclass(frozen=True, kw_only=True)
class Rapo(Method):
    """Ranking loss over CSLS, an adapter for each word, orthogonal projections by reflections: RAPO.

    Each word is moved by its neighbourhood, x̃ = unit(x + σ(x̄ W)), and projected by a product of reflections. The
    scores 2 cos − r(x) − r(z) of translation pairs are trained to exceed those of hard and random negatives. The
    towers start from a linear method (`start`), whose map they reproduce: its symmetric part goes into the adapters,
    its orthogonal part into the reflections. `start=random` is the paper's.
    """

    name = "rapo"
    paper = "Tian, Li, Ren et al. (2022). RAPO: an adaptive ranking paradigm for bilingual lexicon induction. EMNLP"
    uses_dev = True
    warm_starts = True
    resumes = True

    # The paper's (its Table 7), with its "none" for what is `linear` here; a start that is good already wants smaller
    # steps and weights than it has. It does not search the number of reflections, and a start other than `random` needs
    # all of them.
    search_space: ClassVar[SearchSpace] = {
        "hard": Range(64, 256, step=64),
        "random": Range(64, 256, step=64),
        "activation": Choice(("linear", "tanh", "sigmoid")),
        "learning_rate": Range(1e-4, 3e-3, log=True),
        "tau_source": Range(0.7, 0.99),
        "tau_target": Range(0.7, 0.99),
        "lambda_1": Choice((0.0, 0.1, 0.5, 1.0, 2.5)),
        "lambda_2": Choice((0.0, 0.001, 0.01, 0.1)),
    }

    start: str = "geomm"
    """What the towers are before they are trained: a linear method by name, or `random`."""
    activation: Activation = "linear"
    """σ of the adapter; `none`: no adapter."""
    projection: Projection = "householder"
    """`householder`: products of reflections; `linear`: unconstrained matrices."""
    orthogonality: float = 0.0
    """Weight of a soft penalty ‖A Aᵀ − I‖² on unconstrained projections."""
    reflections: int | None = None
    """Reflections per language; none: as many as dimensions. A training that goes on (`go_on`) always has so many."""
    tau_source: float = 0.9
    """Words whose cosine with a source word is above this make up its context."""
    tau_target: float = 0.9
    """Words whose cosine with a target word is above this make up its context."""
    context_cap: int | None = None
    """At most so many words of context, the word itself included."""
    hard: int = 64
    """Hard negatives per source word (K_h)."""
    random: int = 64
    """Random negatives (K_r)."""
    negatives: Literal["shared", "fresh"] = "shared"
    """Whether random negatives are shared within a batch, or drawn afresh for each source word as in the paper."""
    warm_up: int = 0
    """Epochs in which the hard negatives are random too."""
    ranking: float = 1.0
    """Weight of the ranking loss L_r."""
    count: Literal["words", "pairs"] = "words"
    """What counts alike in the ranking loss: each source word, however many translations it has, or each pair, as
    in the paper."""
    lambda_1: float = 0.0
    """Weight of the distance of pairs L_m."""
    distance: Distance = "euclidean"
    """What L_m is the mean of: the Euclidean distance, as in the paper, or the squared one over the dimension, as in
    the authors' program."""
    lambda_2: float = 0.0
    """Weight of the distance from the start (L2)."""
    regularize: Literal["adapters", "all"] = "adapters"
    """Parameters that the distance from the start is taken of: the adapters, as in the authors' program, or all, as
    in the paper."""
    two_way: bool = False
    """Whether target words are ranked source words for as well."""
    epochs: int = 10
    """Passes over the pairs, at most; dev chooses which one is kept."""
    batch: int = 128
    """Pairs in a step."""
    learning_rate: float = 5e-4
    """Learning rate of Adam, to begin with."""
    decay: bool = True
    """Whether the learning rate falls in a straight line to 0 at the last epoch."""
    patience: int = 5
    """Training ends after so many epochs without a new best one on dev."""
    smooth: int = 3
    """The epoch is chosen by the mean dev MRR of so many epochs up to it."""
    refit: bool = True
    """Whether to train once more on train and dev, for the number of epochs that dev has chosen."""
    go_on: bool = True
    """Whether training goes on from towers that are given to `fit`, or begins anew and uses only what they know of
    neighbourhoods."""
    k: int = 10
    """Neighbours of CSLS."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "reflections", "context_cap", "batch", "patience", "smooth", "k")
        self._needs_at_least(0, "hard", "random", "warm_up", "epochs", "learning_rate")
        self._needs_at_least(0, "orthogonality", "ranking", "lambda_1", "lambda_2")
        self._needs_unit_rows("contexts and scores are cosines")
        if self.start != "random" and get_method(self.start).warm_starts:
            raise SettingsError(f"rapo: start={self.start} is no linear method; choose one, or random")
        if self.reflections is not None and self.start != "random":
            raise SettingsError(
                f"rapo: start={self.start} needs all reflections; leave reflections out, or start=random"
            )
        if self.orthogonality and self.projection == "householder":
            raise SettingsError("rapo: reflections are orthogonal as they are; leave orthogonality out")
        if (self.ranking == 0 or self.hard + self.random == 0) and self.lambda_1 == 0:
            raise SettingsError("rapo: without negatives, or without both losses, there is nothing to learn")

    @property
    def learns_dev(self) -> bool:
        """With `refit`."""
        return self.refit

    def without_refit(self) -> Self:
        """Without `refit`."""
        return replace(self, refit=False)

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
        warm: Mapping | None = None,
    ) -> TowerMapping:
        """Train; choose the epoch on dev; train once more on all pairs for that long.

        `warm`: towers that were trained before. Training goes on from them, or takes only their contexts (see `go_on`).
        """
        state, beginning = checkpoint.load(trace), generator.get_state()
        before, after = self._spans(trace, dev)
        trained = warm if isinstance(warm, TowerMapping) else None
        tables = self._tables(x, z, trained, trace, resumed=state is not None)
        refitting, chosen = False, self.epochs
        if state is not None:
            with state.unpacking():
                refitting = state.values["stage"] == "refit"
                chosen = int(state.values["chosen"] or 0) if refitting else chosen
        if dev is not None and not refitting:
            learner = self._learner(tables, pairs, dev, trained, generator, trace)
            stage: dict[str, Any] = {"stage": "choose"}
            schedule = self._schedule(pairs)
            chosen = train(
                learner, schedule, generator=generator, trace=before, stage=stage, checkpoint=checkpoint, state=state
            )
            if not self.refit:
                return learner.mapping(self._context)
            with nullcontext() if state is None else state.unpacking():
                self._report_held_out(trace, chosen, words=len(learner.dev_words))
            state = None
            generator.set_state(beginning)
        everything = pairs if dev is None else torch.cat([pairs, dev])
        learner = self._learner(tables, everything, None, trained, generator, trace)
        schedule = replace(self._schedule(everything), epochs=chosen)
        stage = {"stage": "refit", "chosen": chosen}
        train(learner, schedule, generator=generator, trace=after, stage=stage, checkpoint=checkpoint, state=state)
        return learner.mapping(self._context)

    def _spans(self, trace: Trace, dev: Tensor | None) -> tuple[Trace, Trace]:
        """For the training that chooses the epoch, and for the last one."""
        middle = 0.0 if dev is None else 0.5 if self.refit else 1.0
        return trace.span(0, middle), trace.span(middle, 1)

    @property
    def _context(self) -> ContextSettings:
        return ContextSettings(tau_source=self.tau_source, tau_target=self.tau_target, cap=self.context_cap)

    def _tables(self, x: Tensor, z: Tensor, trained: TowerMapping | None, trace: Trace, *, resumed: bool) -> Tables:
        """Both tables with their contexts; the time to find these is reported, unless a resumed run has reported it."""
        started = time.perf_counter()
        context = None if self.activation == "none" else self._context
        penalties = tuple(ApproximatePenalties(self.k) for _ in range(2 if self.two_way else 1))
        tables = Tables.prepare(x, z, context=context, known=trained, penalties=penalties, trace=trace)
        known = (None, None) if trained is None else (trained.source_context, trained.target_context)
        found = any(now is not before for now, before in zip(tables.neighbours, known, strict=True))
        if found and not resumed:
            trace(stage="context", seconds=time.perf_counter() - started)
        return tables

    def _learner(
        self,
        tables: Tables,
        pairs: Tensor,
        dev: Tensor | None,
        trained: TowerMapping | None,
        generator: Generator,
        trace: Trace,
    ) -> RankingLearner:
        return RankingLearner(
            tables,
            pairs,
            dev,
            start=self._start(*tables.rows, pairs, trained, generator),
            activation=self.activation,
            projection=self.projection,
            negatives=Negatives(
                hard=self.hard, random=self.random, fresh=self.negatives == "fresh", warm_up=self.warm_up
            ),
            weights=self._loss_weights(),
            generator=generator,
            trace=trace,
        )

    def _start(
        self, x: Tensor, z: Tensor, pairs: Tensor, trained: TowerMapping | None, generator: Generator
    ) -> Parameters:
        """The parameters of the trained towers, random ones, or those that reproduce the map of a linear method."""
        if trained is not None and self.go_on:
            return from_towers(trained, self.projection)
        if self.start == "random":
            made = random_start(x.shape[1], self.reflections or x.shape[1], self.projection, generator)
            return {name: array.to(x) for name, array in made.items()}
        # The method has its default settings; the tables are normalized as those of this one.
        mapping = get_method(self.start).fit(x, z, pairs, dev=None, generator=generator, trace=Trace())
        if not isinstance(mapping, LinearMapping):
            raise SettingsError(f"rapo: start={self.start} is no linear method; choose one, or random")
        return from_linear(mapping, self.activation, self.projection)

    def _report_held_out(self, trace: Trace, chosen: int, *, words: int) -> None:
        """How well the chosen epoch translated the dev words, on which the last training trains as well."""
        said = {r.get("epoch"): r for r in trace.records if r.get("stage") == "choose"}[chosen]
        figures = {name: said.get(f"dev_{name}") for name in ("p_at_1", "p_at_5", "p_at_10")}
        trace(stage=HELD_OUT, method=self.name, words=words, **figures, mrr=said["dev"])

    def _loss_weights(self) -> LossWeights:
        return LossWeights(
            ranking=self.ranking,
            by_word=self.count == "words",
            lambda_1=self.lambda_1,
            distance=self.distance,
            lambda_2=self.lambda_2,
            regularize=self.regularize,
            orthogonality=self.orthogonality,
        )

    def _schedule(self, pairs: Tensor) -> Schedule:
        return Schedule(
            pairs=len(pairs),
            epochs=self.epochs,
            planned=self.epochs,
            batch=self.batch,
            learning_rate=self.learning_rate,
            decay=self.decay,
            patience=self.patience,
            smooth=self.smooth,
        )
