"""Training two towers to rank translations above other words."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch

from bilex.errors import SettingsError
from bilex.mapping import LinearMapping, Mapping
from bilex.methods.base import get_method
from bilex.methods.rapo.context import Neighbourhoods, find_neighbourhoods
from bilex.methods.rapo.losses import distance_from_start, pair_loss, ranking_loss
from bilex.methods.rapo.penalties import KeptPenalties
from bilex.methods.rapo.towers import Side, TowerMapping, go_on_from, random_start, start_from
from bilex.search.ranks import ranks
from bilex.storage.array_form import ArrayForm, check_arrays, check_rows
from bilex.training.negatives import gold_lists, hard_negatives, is_gold
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.methods.rapo.rapo import Rapo


class Tables:
    """Both tables, and all about them that outlives a stage of training."""

    def __init__(self, settings: Rapo, x: Tensor, z: Tensor, trace: Trace, warm: Mapping | None = None) -> None:
        self.rows = x, z
        self.trace = trace
        self.warm = warm if isinstance(warm, TowerMapping) else None
        self.neighbours: list[Neighbourhoods | None] = [None, None]
        self.contexts = [x, z]
        if settings.activation != "none":
            started = time.perf_counter()
            for i, (rows, tau) in enumerate(zip(self.rows, (settings.tau_source, settings.tau_target), strict=True)):
                found = self._known(settings)[i]
                if found is None or not found.belong_to(rows):
                    progress = trace.progress(f"neighbours of {('source', 'target')[i]} words", counts=False)
                    found = find_neighbourhoods(rows, tau, cap=settings.context_cap, progress=progress)
                self.neighbours[i], self.contexts[i] = found, found.means(rows)
            if not trace.records:  # else it goes on from a checkpoint, and has said so before
                trace(stage="context", seconds=time.perf_counter() - started)
        self.penalties = [KeptPenalties(settings.k) for _ in range(2 if settings.two_way else 1)]

    def _known(self, settings: Rapo) -> tuple[Neighbourhoods | None, Neighbourhoods | None]:
        same = ("tau_source", "tau_target", "context_cap")
        if self.warm is None or any(getattr(self.warm, name) != getattr(settings, name) for name in same):
            return None, None
        return self.warm.source_context, self.warm.target_context


class RankingLearner:
    """The towers while they are trained."""

    def __init__(
        self,
        settings: Rapo,
        tables: Tables,
        pairs: Tensor,
        dev: Tensor | None,
        generator: Generator,
    ) -> None:
        self.settings, self.tables, self.generator, self.pairs = settings, tables, generator, pairs
        self.dev = None if dev is None else gold_lists(dev)
        self.start = self._start(*tables.rows, pairs)
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
            for side, rows, context in zip(("source", "target"), tables.rows, tables.contexts, strict=True)
        )
        by_word = settings.count == "words"
        self.directions = [Direction(self.source, self.target, pairs, tables.penalties[0], by_word=by_word)]
        if settings.two_way:
            self.directions.append(
                Direction(self.target, self.source, pairs.flip(1), tables.penalties[1], by_word=by_word)
            )

    @property
    def dev_words(self) -> Tensor:
        """The different source words of dev: (s,)."""
        return self.pairs[:0, 0] if self.dev is None else self.dev[0]

    def _start(self, x: Tensor, z: Tensor, pairs: Tensor) -> dict[str, Tensor]:
        settings, d = self.settings, x.shape[1]
        if self.tables.warm is not None and settings.go_on:
            return go_on_from(self.tables.warm, settings.projection)
        if settings.start == "random":
            made = random_start(d, settings.reflections or d, settings.projection, self.generator)
            return {name: array.to(x) for name, array in made.items()}
        # The map of the method as it is by default, but of tables normalized as for this one.
        method = get_method(settings.start)
        mapping = method.fit(x, z, pairs, dev=None, generator=self.generator, trace=Trace())
        if not isinstance(mapping, LinearMapping):
            raise SettingsError(f"rapo: start={settings.start} is no linear method; choose one, or random")
        return start_from(mapping, settings.activation, settings.projection)

    def refresh(self, epoch: int, *, last: bool) -> dict[str, float]:
        """Penalties and hard negatives under the present parameters, and how good these are on dev."""
        if last and self.dev is None:
            return {"orthogonality_error": self._orthogonality_error()}
        x = self.source.mapped(self.source.matrix())
        z = self.target.mapped(self.target.matrix())
        errors = [
            direction.refresh(queries, keys, epoch, self)
            for direction, (queries, keys) in zip(self.directions, ((x, z), (z, x)), strict=False)
        ]
        figures = {"orthogonality_error": self._orthogonality_error(), "penalty_error": max(errors)}
        if self.dev is not None:
            sources, gold = self.dev
            found = ranks(x[sources], z, gold, bias=-self.directions[0].penalty / 2).double()
            figures |= {"dev": float((1 / found).mean())}
            figures |= {f"dev_p_at_{n}": 100 * float((found <= n).double().mean()) for n in (1, 5, 10)}
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
            names = [n for n in self.start if settings.regularize == "all" or n.endswith("_adapter")]
            distance = distance_from_start([self.parameters[n] for n in names], [self.start[n] for n in names])
            losses["l2"] = settings.lambda_2 * distance
        if settings.orthogonality:
            losses["orthogonality"] = settings.orthogonality * (
                _gram_error(a).square().sum() + _gram_error(b).square().sum()
            )
        return losses

    def order(self) -> Tensor:
        """Pairs of one source word follow each other, so that a batch has few different wrong answers to map."""
        words = self.directions[0].place
        return torch.randperm(int(words.max()) + 1, generator=self.generator).to(words)[words].argsort(stable=True)

    def kept(self) -> dict[str, Tensor]:
        """The lists that penalties are computed from."""
        return {str(i): p.near for i, p in enumerate(self.tables.penalties) if p.near is not None}

    def keep(self, arrays: dict[str, Tensor]) -> None:
        """The inverse of `kept`."""
        for i, array in arrays.items():
            queries, keys = self.tables.rows if i == "0" else self.tables.rows[::-1]
            check_arrays({i: array}, {i: ArrayForm((len(keys), "nearest"), "int32")})
            check_rows(i, array, len(queries))
            self.tables.penalties[int(i)].near = array.to(self.pairs.device)

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
            source_context=self.tables.neighbours[0],
            target_context=self.tables.neighbours[1],
        )

    def _orthogonality_error(self) -> float:
        return max(float(_gram_error(side.matrix()).abs().max()) for side in (self.source, self.target))


class Direction:
    """Ranking the words of one language for those of the other."""

    def __init__(self, queries: Side, keys: Side, pairs: Tensor, penalties: KeptPenalties, *, by_word: bool) -> None:
        self.queries, self.keys, self.pairs, self.penalties = queries, keys, pairs, penalties
        self.words, self.gold = gold_lists(pairs)
        self.place = torch.searchsorted(self.words, pairs[:, 0].contiguous())
        translations = (self.gold >= 0).sum(1)[self.place].to(queries.rows)
        self.weight = translations.mean() / translations if by_word else torch.ones_like(translations)
        self.penalty = self.hard = torch.empty(0)

    def refresh(self, queries: Tensor, keys: Tensor, epoch: int, learner: RankingLearner) -> float:
        """R of the keys over all queries, and the keys that are wrongly ranked high, under the mapped tables given.

        Returns the mean error that is left in r.
        """
        settings = learner.settings
        progress = learner.tables.trace.progress("neighbours across the languages", counts=False)
        self.penalty, error = self.penalties(keys, queries, progress)
        if epoch < settings.warm_up:
            self.hard = self._random(learner.generator, len(self.words), settings.hard)
        else:
            bias = -self.penalty / 2
            self.hard = hard_negatives(queries[self.words], keys, self.gold, settings.hard, bias=bias)
        return error

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
            ranking_loss(scores[:, 0], scores[:, 1:], valid.to(scores), self.weight[batch]),
            pair_loss(x, z[where[:, 0]], settings.distance),
        )

    def _random(self, generator: Generator, rows: int, count: int) -> Tensor:
        drawn = torch.randint(len(self.keys.rows), (rows, count), generator=generator)
        return drawn.to(self.pairs.device)


def _gram_error(matrix: Tensor) -> Tensor:
    return matrix @ matrix.T - torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)
