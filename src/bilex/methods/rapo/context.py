"""The context of a word (section 3.1): the mean of itself and of the words near it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import embedding_bag

from bilex.errors import SettingsError
from bilex.retrieval.sides import Side, Sides
from bilex.search.above_threshold import pairs_above
from bilex.search.blocks import BUDGET, KEY_BLOCK, score_blocks
from bilex.search.topk import topk
from bilex.storage.array_form import check_row_numbers

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.search.blocks import Progress

ITSELF = 1 - 1e-5
"""A cosine from which on a row of the table is taken for the word itself; rounding leaves less than 1."""
MOST_PAIRS = 20_000_000
"""More pairs of neighbours than this are refused: they would no longer fit into a modest memory."""
PROBES = 64


@dataclass(frozen=True, kw_only=True)
class ContextSettings:
    """Which words make up a context: all with a cosine above τ, or only the `cap` nearest of them."""

    tau_source: float
    tau_target: float
    cap: int | None

    def tau(self, side: Side) -> float:
        """The threshold of one language."""
        return Sides(self.tau_source, self.tau_target).of(side)


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """The words around each word of a table, itself included: one list after the other.

    offsets: (n + 1,), where each list begins; members: row numbers; probe: some rows, to know the table again by.
    """

    offsets: Tensor
    members: Tensor
    probe: Tensor

    def means(self, table: Tensor) -> Tensor:
        """x̄ of every word: (n, d)."""
        return embedding_bag(self.members, table, self.offsets, mode="mean", include_last_offset=True)

    def check(self) -> None:
        """ValueError unless there is a list for each word, none of them empty, and its members are words."""
        n = len(self.offsets) - 1
        begins, ends = self.offsets[:-1], self.offsets[1:]
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.members) or not (begins < ends).all():
            raise ValueError("the offsets of contexts do not fit their members")
        check_row_numbers("members", self.members, n)
        if len(self.probe) != len(range(0, n, _step(n))):
            raise ValueError(f"the contexts are of {n:,} words, and have {len(self.probe)} rows to know these again by")

    def belong_to(self, table: Tensor) -> bool:
        """Whether this is the table that they were found in."""
        if len(table) != len(self.offsets) - 1:
            return False
        return torch.allclose(_probe(table), self.probe.to(table), rtol=0, atol=1e-5)


def find_neighbourhoods(
    table: Tensor, tau: float, *, cap: int | None = None, budget: int = BUDGET, progress: Progress | None = None
) -> Neighbourhoods:
    """All words whose cosine with a word exceeds τ, or the `cap` nearest of them, the word itself always counted.

    table: (n, d) unit rows.
    """
    n = len(table)
    if cap is None:
        pairs = _all_pairs(table, tau, budget, progress)
    else:
        pairs = _nearest_pairs(table, tau, cap, budget, progress)
    itself = torch.arange(n, device=table.device)
    keys = torch.cat([pairs[0] * n + pairs[1], itself * n + itself]).sort().values
    counts = (keys // n).bincount(minlength=n) if n else keys
    offsets = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
    return Neighbourhoods(offsets, keys % max(n, 1), _probe(table))


def context_vectors(
    rows: Tensor, tau: float, *, among: Tensor | None = None, cap: int | None = None, budget: int = BUDGET
) -> Tensor:
    """x̄: the mean of a word and of all words whose cosine with it exceeds τ.  rows: (n, d) unit rows; result: (n, d).

    Neighbours are looked for in `among`, or in `rows` themselves; only the `cap` nearest, where that is given, the word
    itself counted. A row that is not in `among`, a word made of subwords, say, joins its neighbours there.
    """
    if among is None:
        return find_neighbourhoods(rows, tau, cap=cap, budget=budget).means(rows)
    if not len(among):
        return rows
    total, count, nearest = (_all_among if cap is None else _some_among)(rows, among, tau, cap or 0, budget)
    # By rounding, a word may also just miss itself when τ is all but 1.
    missing = (nearest < ITSELF) | (count == 0)
    return (total + rows * missing) / (count + missing)


def _all_pairs(table: Tensor, tau: float, budget: int, progress: Progress | None) -> tuple[Tensor, Tensor]:
    """Row numbers (i, j), i ≠ j, of all words nearer than τ."""
    i, j = pairs_above(table, tau, budget=budget, progress=progress, check=lambda pairs: _check_number(2 * pairs, tau))
    return torch.cat([i, j]), torch.cat([j, i])


def _nearest_pairs(
    table: Tensor, tau: float, cap: int, budget: int, progress: Progress | None
) -> tuple[Tensor, Tensor]:
    """The same of at most cap − 1 words nearest to each."""
    _check_number(len(table) * min(cap, len(table)), tau)
    near = topk(table, table, cap, budget=budget, progress=progress)
    other = near.indices != torch.arange(len(table), device=table.device)[:, None]
    # Of equal vectors the word itself may be crowded out: then the last of the others goes.
    other &= other.cumsum(1) < cap
    i, place = ((near.values > tau) & other).nonzero(as_tuple=True)
    return i, near.indices[i, place]


def _all_among(rows: Tensor, table: Tensor, tau: float, _: int, budget: int) -> tuple[Tensor, Tensor, Tensor]:
    """Sum (n, d) and number (n, 1) of the neighbours, and the cosine of the nearest (n, 1)."""
    total, count = torch.zeros_like(rows), rows.new_zeros(len(rows), 1)
    nearest = rows.new_full((len(rows), 1), -torch.inf)
    done = 0
    for block, parts in score_blocks(rows, table, width=KEY_BLOCK, budget=budget):
        here = slice(done, done + len(block))
        for start, scores in parts:
            nearest[here] = torch.maximum(nearest[here], scores.amax(1, keepdim=True))
            near = scores > tau
            columns = near.any(0).nonzero()[:, 0]
            weights = near[:, columns].to(rows)
            total[here] += weights @ table[columns + start]
            count[here] += weights.sum(1, keepdim=True)
        done += len(block)
    return total, count, nearest


def _some_among(rows: Tensor, table: Tensor, tau: float, cap: int, budget: int) -> tuple[Tensor, Tensor, Tensor]:
    """The same of the `cap` nearest; of one less where the word itself is not among them."""
    near = topk(rows, table, cap, budget=budget)
    nearest = near.values[:, :1]
    weights = (near.values > tau).to(rows)
    weights[:, cap - 1 :] *= nearest >= ITSELF
    total = embedding_bag(near.indices, table, mode="sum", per_sample_weights=weights)
    return total, weights.sum(1, keepdim=True), nearest


def _check_number(pairs: int, tau: float) -> None:
    if pairs > MOST_PAIRS:
        raise SettingsError(
            f"a cosine above {tau} makes more than {MOST_PAIRS:,} pairs of neighbours; "
            "raise tau_source and tau_target, or set context_cap"
        )


def _probe(table: Tensor) -> Tensor:
    return table[:: _step(len(table))].clone()


def _step(words: int) -> int:
    return max(1, words // PROBES)
