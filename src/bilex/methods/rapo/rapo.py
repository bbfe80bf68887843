"""RAPO: ranking loss, personalised adapters, Householder projections."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import torch

from bilex.errors import SettingsError
from bilex.evaluation.criterion import standard_error
from bilex.evaluation.held_out import held_out_record
from bilex.mapping import LinearMapping
from bilex.methods.base import Method, get_method
from bilex.methods.rapo.adapter import Activation
from bilex.methods.rapo.best_start import CANDIDATES, best_start
from bilex.methods.rapo.context import ContextSettings, just_below
from bilex.methods.rapo.hard_negatives import HardNegatives
from bilex.methods.rapo.learner import RankingLearner, Shuffle, Tables
from bilex.methods.rapo.mapping import TowerMapping
from bilex.methods.rapo.objective import Distance, LossWeights, Origin, Regularized
from bilex.methods.rapo.penalties import ApproximatePenalties
from bilex.methods.rapo.ranking import Negatives
from bilex.methods.rapo.schedule import Schedule, train
from bilex.methods.rapo.shift import DEFAULT_SHARE, SHARES, ShiftedMapping
from bilex.methods.rapo.start import AdapterStart, from_linear, from_towers, random_start
from bilex.methods.rapo.towers import Projection
from bilex.search.bfloat16 import Bfloat16
from bilex.search.speedup import gains
from bilex.settings.fields import Choice, Range, SearchSpace
from bilex.training.checkpoint import NO_CHECKPOINT
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.mapping import Mapping
    from bilex.methods.rapo.start import Parameters
    from bilex.training.checkpoint import Checkpoint


CRITERIA = {"mrr": "dev", "p_at_1": "dev_p_at_1"}
"""The record of an epoch that `choose_by` stands for."""
MIN_ROWS_FOR_BFLOAT16 = 10_000
"""Rows of either table; with fewer, a training step takes little time in any precision."""


@dataclass(frozen=True, kw_only=True)
class Rapo(Method):
    """Ranking loss over CSLS, an adapter for each word, orthogonal projections by reflections: RAPO.

    x → unit(x + σ(x̄ W)) A,  x̄ the mean of x and its neighbours, A a product of reflections. Target words have an
    adapter and a projection of their own. Training makes the CSLS score 2 cos(x, z) − r(x) − r(z) of translation pairs
    larger than that of hard and random negatives.

    Training starts from the map of a linear method (`start`): its symmetric part goes into the adapters, its orthogonal
    part into the reflections. `start=random` is the start of the paper. After training, each source word is moved by
    the mean of what the towers leave over for the dictionary words nearest to it (`shift`).
    """

    name = "rapo"
    paper = "Tian, Li, Ren et al. (2022). RAPO: an adaptive ranking paradigm for bilingual lexicon induction. EMNLP"
    uses_dev = True
    warm_starts = True
    resumes = True

    added: ClassVar[tuple[str, ...]] = ("adapters", "tau_included", "origin", "shuffle", "choose_by")
    renamed: ClassVar[dict[str, str]] = {"go_on": "warm_start"}  # old name, which saved settings may still have

    # That of the paper with smaller learning rates and weights, since a linear start is already good. Reflections are
    # not searched: a linear start needs all of them.
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
    search_spaces: ClassVar[dict[str, SearchSpace]] = {
        # Table 9 of the paper; its activation "none" is `linear` here.
        "paper": {
            "hard": Range(64, 256, step=64),
            "random": Range(64, 256, step=64),
            "activation": Choice(("linear", "tanh", "plain_sigmoid")),
            "learning_rate": Range(0.001, 0.003),
            "tau_source": Range(0.7, 0.99),
            "tau_target": Range(0.7, 0.99),
            "lambda_1": Range(0.5, 2.5),
            "lambda_2": Range(0.001, 0.1),
        },
        # The search of the authors' program, without the random seed, which it searches too.
        "authors": {
            "shuffle": Choice(("none", "pairs")),
            "learning_rate": Range(0.001, 0.003, step=0.0005),
            "batch": Choice((64, 96, 128)),
            "hard": Range(64, 384, step=64),
            "random": Range(64, 256, step=64),
            "warm_up": Range(0, 20),
            "lambda_1": Range(0.5, 2.5),
            "tau_source": Range(0.85, 0.99),
            "tau_target": Range(0.85, 0.99),
            "lambda_2": Range(0.001, 0.1),
        },
    }

    start: str = "geomm"
    """Where training starts: the name of a linear method (`geomm` with that of its penalties which translates held-out
    pairs best); `best`, that of several linear methods which does so; or `random`."""
    adapters: AdapterStart = "zeros"
    """The adapters of a random start: zeros, or random numbers between ±1/√d, as in the authors' program."""
    activation: Activation = "linear"
    """Activation σ of the adapter; `sigmoid` is made odd, `plain_sigmoid` is not; `none`: no adapter."""
    projection: Projection = "householder"
    """`householder`: products of reflections; `linear`: unconstrained matrices."""
    orthogonality: float = 0.0
    """Weight of a soft penalty ‖A Aᵀ − I‖² on unconstrained projections."""
    reflections: int | None = None
    """Reflections per language; none: as many as dimensions. With `warm_start` there are always as many."""
    tau_source: float = 0.9
    """The context of a source word has all words with a cosine above this."""
    tau_target: float = 0.9
    """The context of a target word has all words with a cosine above this."""
    tau_included: bool = False
    """Whether a cosine that equals the threshold is enough, as in the authors' program."""
    context_cap: int | None = None
    """Largest number of words in a context, the word itself included."""
    hard: int = 64
    """Hard negatives per source word (K_h)."""
    random: int = 64
    """Random negatives (K_r)."""
    negatives: Literal["shared", "fresh"] = "shared"
    """Whether all pairs of a batch share their random negatives, or each source word has its own, as in the paper."""
    warm_up: int = 0
    """First epochs, in which the hard negatives are random too."""
    ranking: float = 1.0
    """Weight of the ranking loss L_r."""
    count: Literal["words", "pairs"] = "words"
    """What has equal weight in the ranking loss. `words`: each source word, however many translations it has. `pairs`:
    each pair, as in the paper."""
    lambda_1: float = 0.0
    """Weight of the distance between the words of a pair, L_m."""
    distance: Distance = "euclidean"
    """Distance in L_m: Euclidean, as in the paper, or squared and divided by the dimension, as in the authors'
    program."""
    lambda_2: float = 0.0
    """Weight of L2, the norms of the parameters, not squared."""
    regularize: Regularized = "adapters"
    """Parameters in L2: the two adapters, as in the authors' program; all, each with a norm of its own; or `joint`:
    all, with one norm, as in the paper."""
    origin: Origin = "start"
    """What L2 measures: the distance of the parameters from their start, or from zero, as in the paper."""
    two_way: bool = False
    """Whether to train both directions: also rank source words for each target word."""
    epochs: int = 5
    """Largest number of passes over the pairs; dev chooses the best epoch."""
    batch: int = 256
    """Pairs per step."""
    shuffle: Shuffle = "words"
    """What is in random order in each epoch: source words, each with all its pairs; pairs; or nothing: pairs are in the
    order of their words in the tables, as in the authors' program."""
    learning_rate: float = 1e-3
    """Initial learning rate of Adam."""
    decay: bool = True
    """Whether the learning rate falls linearly to 0 at the last epoch."""
    patience: int = 5
    """Early stopping: training ends after this many epochs without a new best one on dev."""
    choose_by: Literal["mrr", "p_at_1"] = "mrr"
    """The figure on dev by which the best epoch is chosen; in the authors' program it is P@1."""
    smooth: int = 3
    """Epochs in its moving average."""
    refit: bool = True
    """Whether to train once more on train and dev together, for the number of epochs that dev has chosen."""
    shift: float | None = None
    """The share of the shift of each source word towards the translations of the dictionary words near it (0: none);
    none: dev chooses 0, 0.25, 0.5, 0.75 or 1. Not in the paper; from InstaMap."""
    shift_neighbours: int = 30
    """Dictionary words that determine the shift of a word."""
    warm_start: bool = True
    """Whether to continue from the towers of an earlier training (in self-learning, of the round before). If not,
    training starts as `start` says, and only the contexts of these towers are used again."""
    k: int = 10
    """Neighbours of CSLS."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Precision of the largest products of a training step, those with the negatives; all else has the precision of the
    tables. `auto`: bfloat16 for large tables on processors that are faster with it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "reflections", "context_cap", "batch", "patience", "smooth", "k", "shift_neighbours")
        self._needs_at_least(0, "hard", "random", "warm_up", "epochs", "learning_rate")
        self._needs_at_least(0, "orthogonality", "ranking", "lambda_1", "lambda_2")
        self._needs_unit_rows("contexts and scores are cosines")
        if not 0 <= (self.shift or 0) <= 1:
            raise SettingsError(f"rapo: shift={self.shift}; needed a number from 0 to 1, or none")
        if self.start not in ("random", "best") and get_method(self.start).warm_starts:
            raise SettingsError(f"rapo: start={self.start} is not a linear method; choose a linear one, or random")
        if self.adapters != "zeros" and self.start != "random":
            raise SettingsError(
                f"rapo: start={self.start} has adapters of its own; leave adapters out, or set start=random"
            )
        if self.reflections is not None and self.start != "random":
            raise SettingsError(
                f"rapo: start={self.start} needs all reflections; leave reflections out, or start=random"
            )
        if self.orthogonality and self.projection == "householder":
            raise SettingsError(
                "rapo: reflections are always orthogonal; leave orthogonality out, or set projection=linear"
            )
        if (self.ranking == 0 or self.hard + self.random == 0) and self.lambda_1 == 0:
            raise SettingsError(
                "rapo: no loss is left to train on; set lambda_1 above 0, or ranking above 0 with negatives"
            )

    @property
    def learns_dev(self) -> bool:
        """True with `refit`."""
        return self.refit

    def without_refit(self) -> Self:
        """The same with `refit=False`."""
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
    ) -> Mapping:
        """Train and choose the best epoch on dev; then train on train and dev together, for that many epochs.

        warm: trained towers, to continue from or to take the contexts of (see `warm_start`).
        """
        state, initial_rng = checkpoint.load(trace), generator.get_state()
        choose_trace, refit_trace = self._spans(trace, dev)
        share, warm = self._known_share(warm), warm.base if isinstance(warm, ShiftedMapping) else warm
        trained = warm if isinstance(warm, TowerMapping) else None
        all_pairs = pairs if dev is None else torch.cat([pairs, dev])
        tables = self._tables(x, z, all_pairs, trained, trace, resumed=state is not None)
        refitting, chosen = False, self.epochs
        if state is not None:
            with state.unpacking():
                refitting = state.values["stage"] == "refit"
                chosen = int(state.values["chosen"] or 0) if refitting else chosen
                share = float(state.values["share"] or 0) if refitting else share
        if dev is not None and not refitting:
            learner = self._learner(tables, pairs, dev, trained, generator, trace, resumed=state is not None)
            stage: dict[str, Any] = {"stage": "choose"}
            schedule = self._schedule(pairs)
            chosen = train(
                learner,
                schedule,
                generator=generator,
                trace=choose_trace,
                stage=stage,
                checkpoint=checkpoint,
                state=state,
            )
            share = self._choose_share(learner, trace)
            if not self.refit:
                return learner.mapping(self._context(x), share=share, neighbours=self.shift_neighbours)
            state = None
            generator.set_state(initial_rng)
        learner = self._learner(tables, all_pairs, None, trained, generator, trace, resumed=state is not None)
        schedule = replace(self._schedule(all_pairs), epochs=chosen)
        stage = {"stage": "refit", "chosen": chosen, "share": share}
        train(
            learner, schedule, generator=generator, trace=refit_trace, stage=stage, checkpoint=checkpoint, state=state
        )
        return learner.mapping(self._context(x), share=share, neighbours=self.shift_neighbours)

    def _known_share(self, warm: Mapping | None) -> float:
        """The share of the shift, unless dev chooses it: that of the setting, or of the round before."""
        if self.shift is not None:
            return self.shift
        if isinstance(warm, ShiftedMapping):
            return warm.share
        return DEFAULT_SHARE if warm is None else 0.0

    def _choose_share(self, learner: RankingLearner, trace: Trace) -> float:
        """The share of the shift that is surely best on dev, by its gain in MRR less the standard error of the gain."""
        shares = SHARES if self.shift is None else (self.shift,)
        found = learner.ranks_by_share(shares, self.shift_neighbours)
        gains = {share: 1 / ranks - 1 / found[shares[0]] for share, ranks in found.items()}
        share = max(gains, key=lambda share: float(gains[share].mean()) - standard_error(gains[share]))
        trace(stage="shift", share=share, gain=float(gains[share].mean()))
        if self.refit:
            trace(**held_out_record(self.name, found[share]))
        return share

    def _spans(self, trace: Trace, dev: Tensor | None) -> tuple[Trace, Trace]:
        """Traces for the training that chooses the epoch, and for the last training."""
        middle = 0.0 if dev is None else 0.5 if self.refit else 1.0
        return trace.span(0, middle), trace.span(middle, 1)

    def _context(self, like: Tensor) -> ContextSettings:
        """The thresholds in the precision of the tables."""
        taus = self.tau_source, self.tau_target
        source, target = (just_below(tau, like.dtype) for tau in taus) if self.tau_included else taus
        return ContextSettings(tau_source=source, tau_target=target, cap=self.context_cap)

    def _tables(
        self, x: Tensor, z: Tensor, pairs: Tensor, trained: TowerMapping | None, trace: Trace, *, resumed: bool
    ) -> Tables:
        """Both tables with their contexts. The time of the search is recorded once, not again in a resumed run.

        pairs: (p, 2), all pairs that any training has.
        """
        started = time.perf_counter()
        context = None if self.activation == "none" else self._context(x)
        queries = [torch.unique(pairs[:, side]) for side in range(2 if self.two_way else 1)]
        tables = Tables.prepare(
            x,
            z,
            context=context,
            trained=trained,
            penalties=tuple(ApproximatePenalties(self.k) for _ in queries),
            hard_negatives=tuple(HardNegatives(words, self.hard) for words in queries),
            dtype=self._dtype(x, z),
            trace=trace,
        )
        stored = (None, None) if trained is None else (trained.source_context, trained.target_context)
        searched = any(new is not old for new, old in zip(tables.neighbours, stored, strict=True))
        if searched and not resumed:
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
        *,
        resumed: bool,
    ) -> RankingLearner:
        started = time.perf_counter()
        start = self._start(*tables.rows, pairs, trained, generator, Trace() if resumed else trace)
        if not resumed:
            trace(stage="start", seconds=time.perf_counter() - started)
        return RankingLearner(
            tables,
            pairs,
            dev,
            start=start,
            activation=self.activation,
            projection=self.projection,
            negatives=Negatives(
                hard=self.hard, random=self.random, fresh=self.negatives == "fresh", warm_up=self.warm_up
            ),
            weights=self._loss_weights(),
            shuffle=self.shuffle,
            generator=generator,
            trace=trace,
        )

    def _dtype(self, x: Tensor, z: Tensor) -> torch.dtype:
        """Of the largest products of a training step."""
        if self.dtype != "auto":
            return torch.float32 if self.dtype == "float32" else torch.bfloat16
        is_large = min(len(x), len(z)) >= MIN_ROWS_FOR_BFLOAT16
        on_cpu = x.device.type == "cpu" and x.dtype == torch.float32
        return torch.bfloat16 if is_large and on_cpu and gains(Bfloat16) else x.dtype

    def _start(
        self, x: Tensor, z: Tensor, pairs: Tensor, trained: TowerMapping | None, generator: Generator, trace: Trace
    ) -> Parameters:
        """Initial parameters: from trained towers, at random, or from the map of a linear method."""
        if trained is not None and self.warm_start:
            return from_towers(trained, self.projection)
        if self.start == "random":
            d = x.shape[1]
            parameters = random_start(d, self.reflections or d, self.projection, generator, adapters=self.adapters)
            return {name: array.to(x) for name, array in parameters.items()}
        if self.start in CANDIDATES:
            chosen = best_start(CANDIDATES[self.start], x, z, pairs, generator, trace)
            return from_linear(chosen, self.activation, self.projection)
        # The linear method has its default settings, except that the tables are normalized as for RAPO.
        mapping = get_method(self.start).fit(x, z, pairs, dev=None, generator=generator, trace=Trace())
        if not isinstance(mapping, LinearMapping):
            raise SettingsError(f"rapo: start={self.start} is not a linear method; choose a linear one, or random")
        return from_linear(mapping, self.activation, self.projection)

    def _loss_weights(self) -> LossWeights:
        return LossWeights(
            ranking=self.ranking,
            by_word=self.count == "words",
            lambda_1=self.lambda_1,
            distance=self.distance,
            lambda_2=self.lambda_2,
            regularize=self.regularize,
            origin=self.origin,
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
            criterion=CRITERIA[self.choose_by],
            smooth=self.smooth,
        )
