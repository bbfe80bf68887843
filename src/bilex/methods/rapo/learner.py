"""Both towers during training: what is recomputed in each epoch, and the losses of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import torch

from bilex.methods.rapo.context import find_neighbourhoods
from bilex.methods.rapo.mapping import TowerMapping
from bilex.methods.rapo.objective import gram_error, parameter_norm
from bilex.methods.rapo.ranking import RankingDirection
from bilex.methods.rapo.shift import Residuals, ShiftedMapping
from bilex.methods.rapo.towers import Tower
from bilex.retrieval.csls import csls_bias
from bilex.retrieval.sides import SIDES, Side
from bilex.search.ranks import ranks
from bilex.storage.array_form import ArrayForm, check_arrays, check_row_numbers
from bilex.training.negatives import gold_lists

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.mapping import Mapping
    from bilex.methods.rapo.adapter import Activation
    from bilex.methods.rapo.context import Contexts, ContextSettings
    from bilex.methods.rapo.hard_negatives import HardNegatives
    from bilex.methods.rapo.objective import LossWeights
    from bilex.methods.rapo.penalties import ApproximatePenalties
    from bilex.methods.rapo.ranking import Negatives
    from bilex.methods.rapo.start import Parameters
    from bilex.methods.rapo.towers import Projection
    from bilex.training.trace import Trace

Shuffle = Literal["words", "pairs", "none"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Tables:
    """Both tables, with what all trainings on them share: contexts, and lists of near words."""

    rows: tuple[Tensor, Tensor]
    contexts: tuple[Tensor, Tensor]
    """x̄ of every word; without an adapter, the rows themselves."""
    neighbours: tuple[Contexts | None, Contexts | None]
    penalties: tuple[ApproximatePenalties, ...]
    hard_negatives: tuple[HardNegatives, ...]
    """One per direction that is trained, like the penalties."""
    key_contexts: tuple[Tensor, ...]
    """x̄ of the words that are ranked, one table per direction, in the precision of the largest products."""

    @classmethod
    def prepare(
        cls,
        x: Tensor,
        z: Tensor,
        *,
        context: ContextSettings | None,
        trained: TowerMapping | None,
        penalties: tuple[ApproximatePenalties, ...],
        hard_negatives: tuple[HardNegatives, ...],
        dtype: torch.dtype,
        trace: Trace,
    ) -> Tables:
        """Search the contexts, or take them from trained towers. With `context=None` there are none.

        dtype: of the largest products.
        """
        contexts: tuple[Tensor, Tensor] = x, z
        neighbours: tuple[Contexts | None, Contexts | None] = None, None
        if context is not None:
            source, target = neighbours = (
                _contexts("source", x, context, trained, trace),
                _contexts("target", z, context, trained, trace),
            )
            contexts = source.means(x), target.means(z)
        return cls(
            rows=(x, z),
            contexts=contexts,
            neighbours=neighbours,
            penalties=penalties,
            hard_negatives=hard_negatives,
            key_contexts=tuple(keys.to(dtype) for keys, _ in zip(reversed(contexts), penalties, strict=False)),
        )


def _contexts(
    side: Side, rows: Tensor, settings: ContextSettings, trained: TowerMapping | None, trace: Trace
) -> Contexts:
    """The contexts of the trained towers if table and settings are the same, else the result of a new search."""
    cached: Contexts | None = None
    if trained is not None and trained.context_settings == settings:
        cached = getattr(trained, f"{side}_context")
    if cached is not None and cached.belong_to(rows):
        return cached
    progress = trace.progress(f"neighbours of {side} words", counts=False)
    return find_neighbourhoods(rows, settings.tau(side), cap=settings.cap, progress=progress)


class RankingLearner:
    """Trains both towers; a `Learner` for the schedule.

    start: initial parameters; dev: (q, 2) pairs that choose the epoch; shuffle: what is in random order in each epoch,
    source words (with all pairs of a word one after the other), pairs, or nothing.
    """

    def __init__(
        self,
        tables: Tables,
        pairs: Tensor,
        dev: Tensor | None,
        *,
        start: Parameters,
        activation: Activation,
        projection: Projection,
        negatives: Negatives,
        weights: LossWeights,
        shuffle: Shuffle,
        generator: Generator,
        trace: Trace,
    ) -> None:
        self.tables, self.pairs, self.start, self.shuffle = tables, pairs, start, shuffle
        self.weights, self.generator, self.trace = weights, generator, trace
        self.dev = None if dev is None else gold_lists(dev)
        self.parameters = {name: array.clone().requires_grad_() for name, array in start.items()}
        self.source, self.target = (
            Tower(
                rows=rows,
                context=context,
                adapter=self.parameters[f"{side}_adapter"],
                projection=self.parameters[f"{side}_projection"],
                kind=projection,
                activation=activation,
            )
            for side, rows, context in zip(SIDES, tables.rows, tables.contexts, strict=True)
        )
        directions = [(self.source, self.target, pairs), (self.target, self.source, pairs.flip(1))]
        self.directions = [
            RankingDirection(
                *direction,
                key_context=key_context,
                penalties=penalties,
                hard_negatives=hard_negatives,
                negatives=negatives,
                by_word=weights.by_word,
            )
            for direction, key_context, penalties, hard_negatives in zip(
                directions, tables.key_contexts, tables.penalties, tables.hard_negatives, strict=False
            )
        ]

    def refresh(self, epoch: int, *, last: bool) -> dict[str, float]:
        """Recompute penalties and hard negatives with the current parameters. Returns figures, of dev too if given."""
        if last and self.dev is None:
            return {"orthogonality_error": self._orthogonality_error()}
        x, z = self.source.mapped(), self.target.mapped()
        progress = self.trace.progress("neighbours across the languages", counts=False)
        errors = [
            direction.refresh(queries, keys, epoch, self.generator, progress)
            for direction, (queries, keys) in zip(self.directions, ((x, z), (z, x)), strict=False)
        ]
        figures = {"orthogonality_error": self._orthogonality_error(), "penalty_error": max(errors)}
        if self.dev is not None:
            figures |= dev_figures(self._dev_ranks(x, z, self.directions[0].penalty))
        return figures

    @torch.no_grad()
    def ranks_by_share(self, shares: tuple[float, ...], neighbours: int) -> dict[float, Tensor]:
        """Ranks of the dev words (s,), by the share of the shift (see shift.py), whose anchors are the train words."""
        x, z = self.source.mapped(), self.target.mapped()
        shift = Residuals.of(x, z, self.pairs).shift(x, neighbours)
        found, length = {}, x.new_ones(len(x), 1)
        for before, share in pairwise((0.0, *shares)):  # unit(x + share · shift), in place: the tables may be large
            x.mul_(length).add_(shift, alpha=share - before)
            length = torch.linalg.vector_norm(x, dim=1, keepdim=True).clamp_min_(1e-12)
            x.div_(length)
            found[share] = self._dev_ranks(x, z, self.tables.penalties[0](z, x)[0])
        return found

    def _dev_ranks(self, x: Tensor, z: Tensor, penalty: Tensor) -> Tensor:
        """The rank of the best gold translation of each dev word: (s,).  penalty: (m,), that of all target words."""
        assert self.dev is not None
        sources, gold = self.dev
        return ranks(x[sources], z, gold, bias=csls_bias(penalty)).double()

    def losses(self, batch: Tensor) -> dict[str, Tensor]:
        """The weighted losses of a batch of pairs, by name."""
        weights = self.weights
        parts = [direction.losses(batch, weights, self.generator) for direction in self.directions]
        losses = {}
        if weights.ranking:
            losses["ranking"] = weights.ranking * torch.stack([part[0] for part in parts]).mean()
        if weights.lambda_1:
            losses["pairs"] = weights.lambda_1 * parts[0][1]
        if weights.lambda_2:
            losses["l2"] = weights.lambda_2 * self._parameter_norm()
        if weights.orthogonality:
            errors = [gram_error(tower.matrix()).square().sum() for tower in (self.source, self.target)]
            losses["orthogonality"] = weights.orthogonality * torch.stack(errors).sum()
        return losses

    def _parameter_norm(self) -> Tensor:
        """L2 of the parameters that are regularized, or of their distance from the start."""
        weights = self.weights
        names = [name for name in self.start if weights.regularize != "adapters" or name.endswith("_adapter")]
        parameters = [self.parameters[name] for name in names]
        if weights.origin == "start":
            parameters = [p - self.start[name] for p, name in zip(parameters, names, strict=True)]
        return parameter_norm(parameters, joint=weights.regularize == "joint")

    def order(self) -> Tensor:
        """The order of the pairs in an epoch. The pairs of a word that stay together have fewer negatives to map."""
        if self.shuffle != "words":
            pairs = len(self.pairs)
            order = torch.randperm(pairs, generator=self.generator) if self.shuffle == "pairs" else torch.arange(pairs)
            return order.to(self.pairs.device)
        words = self.directions[0].place
        return torch.randperm(int(words.max()) + 1, generator=self.generator).to(words)[words].argsort(stable=True)

    def carried(self) -> dict[str, Tensor]:
        """The lists of near words that penalties and hard negatives are computed from."""
        return {name: lists.near for name, (lists, *_) in self._lists().items() if lists.near is not None}

    def carry(self, arrays: dict[str, Tensor]) -> None:
        """The inverse of `carried`."""
        known = self._lists()
        for name, array in arrays.items():
            if name not in known:
                raise ValueError(f"{name} is not the name of a list of near words")
            lists, rows, listed = known[name]
            check_arrays({name: array}, {name: ArrayForm((rows, "nearest"), "int32")})
            check_row_numbers(name, array, listed)
            lists.near = array.to(self.pairs.device)

    def _lists(self) -> dict[str, tuple[ApproximatePenalties | HardNegatives, int, int]]:
        """By name, all that stores lists of near words: the number of its lists, and of the words they can have."""
        lists: dict[str, tuple[ApproximatePenalties | HardNegatives, int, int]] = {}
        x, z = self.tables.rows
        for i, (penalties, hard_negatives) in enumerate(
            zip(self.tables.penalties, self.tables.hard_negatives, strict=True)
        ):
            queries, keys = (len(x), len(z)) if i == 0 else (len(z), len(x))
            lists[f"penalties.{i}"] = penalties, keys, queries
            lists[f"hard_negatives.{i}"] = hard_negatives, len(hard_negatives.words), keys
        return lists

    def mapping(self, context: ContextSettings, *, share: float, neighbours: int) -> Mapping:
        """The mapping of the current parameters, with a shift by the pairs it was trained on if its share is not 0."""
        towers = self._towers(context)
        if not share:
            return towers
        with torch.no_grad():
            residuals = Residuals.of(self.source.mapped(), self.target.mapped(), self.pairs)
        return ShiftedMapping(base=towers, residuals=residuals, share=share, neighbours=neighbours)

    def _towers(self, context: ContextSettings) -> TowerMapping:
        return TowerMapping(
            source_adapter=self.source.adapter.detach(),
            target_adapter=self.target.adapter.detach(),
            source_projection=self.source.matrix().detach(),
            target_projection=self.target.matrix().detach(),
            activation=self.source.activation,
            tau_source=context.tau_source,
            tau_target=context.tau_target,
            context_cap=context.cap,
            source_context=self.tables.neighbours[0],
            target_context=self.tables.neighbours[1],
        )

    def _orthogonality_error(self) -> float:
        return max(float(gram_error(tower.matrix()).abs().max()) for tower in (self.source, self.target))


def dev_figures(ranks: Tensor) -> dict[str, float]:
    """MRR and precision of the dev words.  ranks: (s,)."""
    precision = {f"dev_p_at_{n}": 100 * float((ranks <= n).double().mean()) for n in (1, 5, 10)}
    return {"dev": float((1 / ranks).mean())} | precision
