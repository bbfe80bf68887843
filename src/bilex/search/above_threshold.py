"""All pairs of rows that are near each other, without the products of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.blocks import BUDGET, KEY_BLOCK, MOST_ROWS, ROUNDING, score_blocks
from bilex.search.lists import LANES

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from bilex.search.blocks import Progress

LENGTHS = (32, 48, 64, 96, 128)
"""Numbers of leading components that bounds may be made of."""
SAMPLE = 256
"""Rows on which it is tried how many pairs bounds leave."""
PASSING = 24
"""What it costs to look at a bound, in dimensions of a product."""
SINGLY = 64
"""A product by itself costs so many times what it costs in a matrix product."""
AT_ONCE = 16_384


def pairs_above(
    table: Tensor,
    level: float,
    *,
    budget: int = BUDGET,
    progress: Progress | None = None,
    check: Callable[[int], None] | None = None,
) -> Tensor:
    """Row numbers i < j of all rows whose product exceeds the level: (2, p).  table: (n, d).

    Of two rows that are split into a head and a rest, x = (h, r), the product is at most h · h' + ‖r‖ ‖r'‖: so their
    heads, with one more number, tell of most pairs that they are too far apart. In the table's principal axes short
    heads are enough. `check` is called with the number of pairs now and then, and may put an end to it.
    """
    heads = _heads(table, level)
    found: list[Tensor] = []
    count = 0
    for first in range(0, len(table), MOST_ROWS):
        done = first
        some, rest = heads[first : first + MOST_ROWS], heads[first:]
        for block, parts in score_blocks(some, rest, width=KEY_BLOCK, budget=budget):
            for start, bounds in parts:
                rows, others = slice(done, done + len(block)), slice(first + start, first + start + bounds.shape[1])
                found.append(_pairs(table, heads, bounds, level, rows, others))
                count += found[-1].shape[1]
                if check:
                    check(count)
            done += len(block)
        if progress:
            left = max(0, len(rest) - MOST_ROWS)
            progress(len(table) ** 2 - left**2, len(table) ** 2)
    return torch.cat(found, 1) if found else torch.empty((2, 0), dtype=torch.long, device=table.device)


def _heads(table: Tensor, level: float) -> Tensor:
    """The leading components of each row and the length of the rest, as many as cost least; or the rows themselves."""
    n, d = table.shape
    lengths = [length for length in LENGTHS if length < d // 2]
    if not lengths or not n:
        return table
    axes = torch.linalg.eigh((table.T @ table).double()).eigenvectors.flip(1).to(table)
    turned = table @ axes[:, : lengths[-1]]
    squares = torch.linalg.vecdot(table, table)
    some = torch.arange(0, n, max(1, n // SAMPLE), device=table.device)
    best, least = table, float(d)
    for length in lengths:
        rest = (squares - turned[:, :length].square().sum(1)).clamp_min(0).sqrt()
        heads = torch.cat([turned[:, :length], rest[:, None]], 1)
        left = sum(
            int((bounds > level - ROUNDING).sum())
            for _, parts in score_blocks(heads[some], heads, width=KEY_BLOCK)
            for _, bounds in parts
        )
        cost = length + PASSING + left / (len(some) * n) * SINGLY * d
        if cost < least:
            best, least = heads, cost
    return best


def _pairs(table: Tensor, heads: Tensor, bounds: Tensor, level: float, rows: slice, others: slice) -> Tensor:
    """The pairs of some rows and some others that are near, i < j: (2, p).  bounds: (rows, others)."""
    if heads is table:
        return _later(*_above(bounds, level), rows, others)
    i, j = _later(*_above(bounds, level - ROUNDING), rows, others)
    if len(i) * SINGLY > bounds.numel():  # one by one, the products would take longer than all at once
        return _later(*_above(table[rows] @ table[others].T, level), rows, others)
    products = [
        torch.linalg.vecdot(table[a], table[b])
        for a, b in zip(torch.split(i, AT_ONCE), torch.split(j, AT_ONCE), strict=True)
    ]
    near = torch.cat(products) > level
    return torch.stack([i[near], j[near]])


def _above(scores: Tensor, level: float) -> tuple[Tensor, Tensor]:
    """Rows and columns of the scores above the level. Most groups of scores have none, which their maximum tells."""
    lanes = LANES if scores.shape[1] % LANES == 0 else 1
    grouped = scores.view(len(scores), lanes, -1)
    row, group = (grouped.amax(1) > level).nonzero(as_tuple=True)
    hit, lane = (grouped[row, :, group] > level).nonzero(as_tuple=True)
    return row[hit], lane * grouped.shape[2] + group[hit]


def _later(i: Tensor, j: Tensor, rows: slice, others: slice) -> Tensor:
    """Numbers in the table of the pairs (i, j) of a block, of each pair once: (2, p)."""
    pairs = torch.stack([i + rows.start, j + others.start])
    return pairs[:, pairs[0] < pairs[1]]
