"""RAPO: ranking loss, personalised adapters, Householder projections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import torch

from bilex.errors import SettingsError
from bilex.linalg.topk import ranks, topk
from bilex.mapping import LinearMapping
from bilex.methods.base import Method, get_method
from bilex.trace import Trace
from bilex.training.adapter import Activation, context_vectors
from bilex.training.loop import Schedule, train
from bilex.training.losses import Distance, distance_from_start, pair_loss, ranking_loss
from bilex.training.negatives import gold_lists, hard_negatives, is_gold
from bilex.training.towers import Projection, Side, TowerMapping, random_start, start_from

if TYPE_CHECKING:
    from torch import Generator, Tensor


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

    start: str = "vecmap"
    """`random`, or a linear method by name."""
    activation: Activation = "linear"
    """σ of the adapter; `none`: no adapter."""
    projection: Projection = "householder"
    """`linear`: unconstrained matrices instead."""
    orthogonality: float = 0.0
    """Weight of a soft penalty ‖A Aᵀ − I‖² on unconstrained projections."""
    reflections: int | None = None
    """Reflections per language; none: as many as dimensions."""
    tau_source: float = 0.9
    tau_target: float = 0.9
    """Words with a cosine above this make up the context."""
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
    lambda_1: float = 0.0
    """Weight of the distance of pairs L_m."""
    distance: Distance = "euclidean"
    lambda_2: float = 0.0
    """Weight of the distance of the adapters from their start (L2)."""
    two_way: bool = False
    """Whether target words are ranked source words for as well."""
    epochs: int = 15
    batch: int = 128
    learning_rate: float = 2e-4
    patience: int = 5
    smooth: int = 3
    """The epoch is chosen by the mean dev MRR of so many epochs up to it."""
    refit: bool = True
    """Whether to train once more on train and dev, for the number of epochs that dev has chosen."""
    k: int = 10
    """Neighbours of CSLS."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers()
        if self.normalize[-1:] != ("unit",):
            raise SettingsError("rapo: contexts and scores are cosines; let normalize end in unit")
        if self.start != "random" and get_method(self.start).uses_dev:
            raise SettingsError(f"rapo: start={self.start} is no linear method; choose one, or random")
        if self.reflections is not None and self.start != "random":
            raise SettingsError(
                f"rapo: start={self.start} needs all reflections; leave reflections out, or start=random"
            )
        if self.orthogonality and self.projection == "householder":
            raise SettingsError("rapo: reflections are orthogonal as they are; leave orthogonality out")
        if (self.ranking == 0 or self.hard + self.random == 0) and self.lambda_1 == 0:
            raise SettingsError("rapo: without negatives, or without both losses, there is nothing to learn")

    def _check_numbers(self) -> None:
        for setting in ("reflections", "context_cap", "batch", "patience", "smooth", "k"):
            if (value := getattr(self, setting)) is not None and value < 1:
                raise SettingsError(f"rapo: {setting}={value}; needed at least 1")
        for setting in (
            *("hard", "random", "warm_up", "epochs", "learning_rate"),
            *("orthogonality", "ranking", "lambda_1", "lambda_2"),
        ):
            if not (value := getattr(self, setting)) >= 0:  # so that what is no number is refused too
                raise SettingsError(f"rapo: {setting}={value}; needed at least 0")

    def fit(
        self, x: Tensor, z: Tensor, pairs: Tensor, *, dev: Tensor | None, generator: Generator, trace: Trace
    ) -> TowerMapping:
        """Train; choose the epoch on dev; train once more on all pairs for that long."""
        contexts = (
            context_vectors(x, self.tau_source, cap=self.context_cap),
            context_vectors(z, self.tau_target, cap=self.context_cap),
        )
        state, beginning = trace.restore(), generator.get_state()
        refitting = state is not None and state.values["stage"] == "refit"
        chosen = int(state.values["chosen"] or 0) if state is not None and refitting else self.epochs
        if dev is not None and not refitting:
            learner = _Learner(self, (x, z), contexts, pairs, dev, generator)
            chosen = train(
                learner, self._schedule(pairs), generator=generator, trace=trace, stage={"stage": "choose"}, state=state
            )
            if not self.refit:
                return learner.mapping()
            state = None
            generator.set_state(beginning)
        everything = pairs if dev is None else torch.cat([pairs, dev])
        learner = _Learner(self, (x, z), contexts, everything, None, generator)
        schedule = replace(self._schedule(everything), epochs=chosen)
        stage: dict[str, Any] = {"stage": "refit", "chosen": chosen}
        train(learner, schedule, generator=generator, trace=trace, stage=stage, state=state)
        return learner.mapping()

    def _schedule(self, pairs: Tensor) -> Schedule:
        return Schedule(
            pairs=len(pairs),
            epochs=self.epochs,
            batch=self.batch,
            learning_rate=self.learning_rate,
            patience=self.patience,
            smooth=self.smooth,
        )


class _Learner:
    """The towers while they are trained."""

    def __init__(
        self,
        settings: Rapo,
        tables: tuple[Tensor, Tensor],
        contexts: tuple[Tensor, Tensor],
        pairs: Tensor,
        dev: Tensor | None,
        generator: Generator,
    ) -> None:
        self.settings, self.generator, self.pairs = settings, generator, pairs
        self.dev = None if dev is None else gold_lists(dev)
        self.start = self._start(*tables, pairs)
        self.parameters = {name: array.clone().requires_grad_() for name, array in self.start.items()}
        self.source, self.target = (
            Side(
                rows=rows,
                context=context,
                adapter=self.parameters[f"{side}_adapter"],
                projection=self.parameters[f"{side}_projection"],
                kind=settings.projection,
                activation=settings.activation,
            )
            for side, rows, context in zip(("source", "target"), tables, contexts, strict=True)
        )
        self.directions = [_Direction(self.source, self.target, pairs)]
        if settings.two_way:
            self.directions.append(_Direction(self.target, self.source, pairs.flip(1)))

    def _start(self, x: Tensor, z: Tensor, pairs: Tensor) -> dict[str, Tensor]:
        settings, d = self.settings, x.shape[1]
        if settings.start == "random":
            made = random_start(d, settings.reflections or d, settings.projection, self.generator)
            return {name: array.to(x) for name, array in made.items()}
        # The map of the method as it is by default, but of tables normalized as for this one.
        method = get_method(settings.start)
        mapping = method.fit(x, z, pairs, dev=None, generator=self.generator, trace=Trace())
        if not isinstance(mapping, LinearMapping):
            raise SettingsError(f"rapo: start={settings.start} is no linear method; choose one, or random")
        return start_from(mapping, settings.activation, settings.projection)

    def refresh(self, epoch: int) -> dict[str, float]:
        """Penalties and hard negatives under the present parameters, and how good these are on dev."""
        x = self.source.mapped(self.source.matrix())
        z = self.target.mapped(self.target.matrix())
        for direction, (queries, keys) in zip(self.directions, ((x, z), (z, x)), strict=False):
            direction.refresh(queries, keys, self.settings, epoch, self.generator)
        figures = {"orthogonality_error": self._orthogonality_error()}
        if self.dev is not None:
            sources, gold = self.dev
            found = ranks(x[sources], z, gold, bias=-self.directions[0].penalty / 2).double()
            figures |= {"dev": float((1 / found).mean()), "dev_p_at_1": 100 * float((found == 1).double().mean())}
        return figures

    def losses(self, batch: Tensor) -> dict[str, Tensor]:
        """The weighted losses of some pairs."""
        settings = self.settings
        a, b = self.source.matrix(), self.target.matrix()
        parts = [
            direction.losses(batch, *matrices, settings, self.generator)
            for direction, matrices in zip(self.directions, ((a, b), (b, a)), strict=False)
        ]
        losses = {}
        if settings.ranking:
            losses["ranking"] = settings.ranking * torch.stack([part[0] for part in parts]).mean()
        if settings.lambda_1:
            losses["pairs"] = settings.lambda_1 * parts[0][1]
        if settings.lambda_2:
            names = ("source_adapter", "target_adapter")
            distance = distance_from_start([self.parameters[n] for n in names], [self.start[n] for n in names])
            losses["l2"] = settings.lambda_2 * distance
        if settings.orthogonality:
            losses["orthogonality"] = settings.orthogonality * (
                _gram_error(a).square().sum() + _gram_error(b).square().sum()
            )
        return losses

    def mapping(self) -> TowerMapping:
        """The towers as they are now."""
        settings = self.settings
        return TowerMapping(
            source_adapter=self.source.adapter.detach(),
            target_adapter=self.target.adapter.detach(),
            source_projection=self.source.matrix().detach(),
            target_projection=self.target.matrix().detach(),
            activation=settings.activation,
            tau_source=settings.tau_source,
            tau_target=settings.tau_target,
            context_cap=settings.context_cap,
        )

    def _orthogonality_error(self) -> float:
        return max(float(_gram_error(side.matrix()).abs().max()) for side in (self.source, self.target))


class _Direction:
    """Ranking the words of one language for those of the other."""

    def __init__(self, queries: Side, keys: Side, pairs: Tensor) -> None:
        self.queries, self.keys, self.pairs = queries, keys, pairs
        self.words, self.gold = gold_lists(pairs)
        self.place = torch.searchsorted(self.words, pairs[:, 0].contiguous())
        self.penalty = self.hard = torch.empty(0)

    def refresh(self, queries: Tensor, keys: Tensor, settings: Rapo, epoch: int, generator: Generator) -> None:
        """R of the keys over all queries, and the keys that are wrongly ranked high, under the mapped tables given."""
        self.penalty = topk(keys, queries, settings.k).values.mean(1)
        if epoch < settings.warm_up:
            self.hard = self._random(generator, len(self.words), settings.hard)
        else:
            bias = -self.penalty / 2
            self.hard = hard_negatives(queries[self.words], keys, self.gold, settings.hard, bias=bias)

    def losses(
        self, batch: Tensor, a: Tensor, b: Tensor, settings: Rapo, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        """L_r and L_m of some pairs under the projections of queries and keys. Each key is mapped once.

        x̃ A · z̃ B = x̃ A Bᵀ · z̃: an orthogonal B goes over to the few queries, and the many keys are only adapted.
        """
        words, right = self.pairs[batch].T
        gold, fresh = self.gold[self.place[batch]], settings.negatives == "fresh"
        random = self._random(generator, len(batch) if fresh else 1, settings.random).expand(len(batch), -1)
        wrong = torch.cat([self.hard[self.place[batch]], random], 1)
        valid = (wrong >= 0) & ~is_gold(wrong, gold)
        needed, where = torch.unique(torch.cat([right[:, None], wrong.clamp_min(0)], 1), return_inverse=True)
        if settings.projection == "householder":
            x, z = self.queries.mapped(a @ b.T, words), self.keys.adapted(needed)
        else:
            x, z = self.queries.mapped(a, words), self.keys.mapped(b, needed)
        scores = (2 * x @ z.T - self.penalty[needed]).gather(1, where)
        return (
            ranking_loss(scores[:, 0], scores[:, 1:], valid.to(scores)),
            pair_loss(x, z[where[:, 0]], settings.distance),
        )

    def _random(self, generator: Generator, rows: int, count: int) -> Tensor:
        drawn = torch.randint(len(self.keys.rows), (rows, count), generator=generator)
        return drawn.to(self.pairs.device)


def _gram_error(matrix: Tensor) -> Tensor:
    return matrix @ matrix.T - torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)
