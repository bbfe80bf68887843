"""The context of a word (section 3.1): x̄, the mean of the word and its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import embedding_bag

from bilex.retrieval.sides import Side, Sides
from bilex.search.above_threshold import pairs_above
from bilex.search.blocks import BUDGET, KEY_BLOCK, score_blocks
from bilex.search.topk import topk
from bilex.storage.array_form import check_row_numbers

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.search.blocks import Progress

ITSELF = 1 - 1e-5
"""A row of the table with at least this cosine is the word itself. Rounding can make the cosine less than 1."""
MAX_PAIRS = 20_000_000
"""With more pairs of neighbours than this, only the means are stored: the lists would need more memory than these."""
MEAN_ROWS = 16_384
"""Rows whose means are computed together then."""
PROBE_ROWS = 64
"""About this many rows of a table are stored, to recognise the table later."""


@dataclass(frozen=True, kw_only=True)
class ContextSettings:
    """Which words belong to a context: all with a cosine above τ, or only the `cap` nearest of these."""

    tau_source: float
    tau_target: float
    cap: int | None

    def tau(self, side: Side) -> float:
        """The threshold of one language."""
        return Sides(self.tau_source, self.tau_target).of(side)


class _TooManyPairsError(Exception):
    """Raised inside the search of pairs, to end it."""


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """The neighbours of each word of a table, the word itself included: one list after the other.

    offsets: (n + 1,), where each list begins; members: row numbers; probe: some rows, to recognise the table.
    """

    offsets: Tensor
    members: Tensor
    probe: Tensor

    def means(self, table: Tensor) -> Tensor:
        """Context vectors x̄ of all words: (n, d)."""
        return embedding_bag(self.members, table, self.offsets, mode="mean", include_last_offset=True)

    def check(self) -> None:
        """ValueError unless every word has a list that is not empty, and all members are rows of the table."""
        n = len(self.offsets) - 1
        begins, ends = self.offsets[:-1], self.offsets[1:]
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.members) or not (begins < ends).all():
            raise ValueError("the offsets of the contexts do not match their members")
        check_row_numbers("members", self.members, n)
        _check_probe(self.probe, n)

    def belong_to(self, table: Tensor) -> bool:
        """Whether the neighbours were searched in this table."""
        return len(table) == len(self.offsets) - 1 and _is_probe_of(self.probe, table)


@dataclass(frozen=True, eq=False)
class ContextMeans:
    """The context vectors x̄ of a table (n, d), where there are too many neighbours to store.

    probe: some rows, to recognise the table.
    """

    vectors: Tensor
    probe: Tensor

    def means(self, table: Tensor) -> Tensor:  # noqa: ARG002
        """Context vectors x̄ of all words: (n, d)."""
        return self.vectors

    def check(self) -> None:
        """ValueError unless the probe can be of a table of this size."""
        _check_probe(self.probe, len(self.vectors))

    def belong_to(self, table: Tensor) -> bool:
        """Whether the means are of this table."""
        return len(table) == len(self.vectors) and _is_probe_of(self.probe, table)


Contexts = Neighbourhoods | ContextMeans
"""What is stored of the neighbours of a table."""


def just_below(tau: float, dtype: torch.dtype) -> float:
    """The number of this precision before τ: a cosine above it is at least τ."""
    return float(torch.nextafter(torch.tensor(tau, dtype=dtype), torch.tensor(-torch.inf, dtype=dtype)))


def find_neighbourhoods(
    table: Tensor, tau: float, *, cap: int | None = None, budget: int = BUDGET, progress: Progress | None = None
) -> Contexts:
    """For each word, all words with a cosine above τ, or the `cap` nearest of these.  table: (n, d), unit rows.

    The word itself is always one of them. With more than `MAX_PAIRS` pairs, the result has the means alone.
    """
    n = len(table)
    try:
        if cap is None:
            pairs = _all_pairs(table, tau, budget, progress)
        else:
            pairs = _nearest_pairs(table, tau, cap, budget, progress)
    except _TooManyPairsError:
        return ContextMeans(_means_in_blocks(table, tau, cap, budget, progress), _probe(table))
    itself = torch.arange(n, device=table.device)
    keys = torch.cat([pairs[0] * n + pairs[1], itself * n + itself]).sort().values
    counts = (keys // n).bincount(minlength=n) if n else keys
    offsets = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
    return Neighbourhoods(offsets, keys % max(n, 1), _probe(table))


def context_vectors(
    rows: Tensor, tau: float, *, among: Tensor | None = None, cap: int | None = None, budget: int = BUDGET
) -> Tensor:
    """x̄, the mean of a word and of all words with a cosine above τ.  rows: (n, d), unit rows; result: (n, d).

    Neighbours are searched in `among`, or in `rows` if that is None; with `cap` only the `cap` nearest count, the word
    itself included. A row that is not in `among`, such as a word made of subwords, is added to its own neighbours.
    """
    if among is None:
        return find_neighbourhoods(rows, tau, cap=cap, budget=budget).means(rows)
    if not len(among):
        return rows
    total, count, nearest = (_all_neighbours if cap is None else _nearest_neighbours)(
        rows, among, tau, cap or 0, budget
    )
    # With τ close to 1, rounding may bring the cosine of a word with itself below τ.
    missing = (nearest < ITSELF) | (count == 0)
    return (total + rows * missing) / (count + missing)


def _all_pairs(table: Tensor, tau: float, budget: int, progress: Progress | None) -> tuple[Tensor, Tensor]:
    """Row numbers (i, j), i ≠ j, of all pairs with a cosine above τ."""
    i, j = pairs_above(table, tau, budget=budget, progress=progress, check=lambda pairs: _check_pair_count(2 * pairs))
    return torch.cat([i, j]), torch.cat([j, i])


def _nearest_pairs(
    table: Tensor, tau: float, cap: int, budget: int, progress: Progress | None
) -> tuple[Tensor, Tensor]:
    """The same for at most cap − 1 nearest words of each word."""
    _check_pair_count(len(table) * min(cap, len(table)))
    near = topk(table, table, cap, budget=budget, progress=progress)
    other = near.indices != torch.arange(len(table), device=table.device)[:, None]
    # Among equal vectors the word itself may be missing from the list: then drop the last of the others.
    other &= other.cumsum(1) < cap
    i, place = ((near.values > tau) & other).nonzero(as_tuple=True)
    return i, near.indices[i, place]


def _all_neighbours(rows: Tensor, table: Tensor, tau: float, _: int, budget: int) -> tuple[Tensor, Tensor, Tensor]:
    """Sum (n, d) and count (n, 1) of the neighbours, and the cosine of the nearest (n, 1)."""
    total, count = torch.zeros_like(rows), rows.new_zeros(len(rows), 1)
    nearest = rows.new_full((len(rows), 1), -torch.inf)
    done = 0
    for block, parts in score_blocks(rows, table, width=KEY_BLOCK, budget=budget):
        block_rows = slice(done, done + len(block))
        for start, scores in parts:
            nearest[block_rows] = torch.maximum(nearest[block_rows], scores.amax(1, keepdim=True))
            near = scores > tau
            columns = near.any(0).nonzero()[:, 0]
            weights = near[:, columns].to(rows)
            total[block_rows] += weights @ table[columns + start]
            count[block_rows] += weights.sum(1, keepdim=True)
        done += len(block)
    return total, count, nearest


def _nearest_neighbours(
    rows: Tensor, table: Tensor, tau: float, cap: int, budget: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The same for the `cap` nearest. If the word itself is not among them, for cap − 1: it is added later."""
    near = topk(rows, table, cap, budget=budget)
    nearest = near.values[:, :1]
    weights = (near.values > tau).to(rows)
    weights[:, cap - 1 :] *= nearest >= ITSELF
    total = embedding_bag(near.indices, table, mode="sum", per_sample_weights=weights)
    return total, weights.sum(1, keepdim=True), nearest


def _means_in_blocks(table: Tensor, tau: float, cap: int | None, budget: int, progress: Progress | None) -> Tensor:
    """x̄ of all words, a block of them at a time, without lists of neighbours."""
    parts, done = [], 0
    for rows in torch.split(table, MEAN_ROWS):
        parts.append(context_vectors(rows, tau, among=table, cap=cap, budget=budget))
        done += len(rows)
        if progress:
            progress(done, len(table))
    return torch.cat(parts)


def _check_pair_count(pairs: int) -> None:
    if pairs > MAX_PAIRS:
        raise _TooManyPairsError


def _check_probe(probe: Tensor, n: int) -> None:
    if len(probe) != len(range(0, n, _probe_step(n))):
        raise ValueError(f"the contexts have {n:,} words and {len(probe)} probe rows, which do not match")


def _is_probe_of(probe: Tensor, table: Tensor) -> bool:
    return torch.allclose(_probe(table), probe.to(table), rtol=0, atol=1e-5)


def _probe(table: Tensor) -> Tensor:
    return table[:: _probe_step(len(table))].clone()


def _probe_step(words: int) -> int:
    return max(1, words // PROBE_ROWS)
