"""All pairs of rows whose product exceeds a threshold, without the whole matrix of products."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bilex.search.blocks import BUDGET, KEY_BLOCK, QUERY_BLOCK, ROUNDING_ERROR, score_blocks
from bilex.search.lists import GROUP_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from bilex.search.blocks import Progress

HEAD_LENGTHS = (32, 48, 64, 96, 128)
"""Numbers of leading components that are tried for a bound."""
SAMPLE_ROWS = 256
"""Rows on which it is tried how many pairs a bound leaves."""
BOUND_COST = 24
"""Cost of a look at a bound, in dimensions of a product."""
SINGLE_PRODUCT_COST = 64
"""A product by itself costs so many times what it costs in a matrix product."""
BATCH = 16_384
"""Pairs whose products are computed together."""


def pairs_above(
    table: Tensor,
    threshold: float,
    *,
    budget: int = BUDGET,
    progress: Progress | None = None,
    check: Callable[[int], None] | None = None,
) -> Tensor:
    """Row numbers i < j of all pairs with x_i · x_j > threshold: (2, p).  table: (n, d).

    Split every row into a head and a rest, x = (h, r). Then x · x' <= h · h' + ‖r‖ ‖r'‖: the product of the heads, with
    ‖r‖ as one more component, is an upper bound. In the principal axes of the table short heads rule out most pairs.
    `check` is called with the number of pairs so far, and may raise to end the search.
    """
    heads = _heads(table, threshold)
    parts: list[Tensor] = []
    count = 0
    for first in range(0, len(table), QUERY_BLOCK):
        done = first
        queries, keys = heads[first : first + QUERY_BLOCK], heads[first:]
        for block, blocks in score_blocks(queries, keys, width=KEY_BLOCK, budget=budget):
            for start, bounds in blocks:
                rows, others = slice(done, done + len(block)), slice(first + start, first + start + bounds.shape[1])
                parts.append(_pairs_of_block(table, heads, bounds, threshold, rows, others))
                count += parts[-1].shape[1]
                if check:
                    check(count)
            done += len(block)
        if progress:
            left = max(0, len(keys) - QUERY_BLOCK)
            progress(len(table) ** 2 - left**2, len(table) ** 2)
    return torch.cat(parts, 1) if parts else torch.empty((2, 0), dtype=torch.long, device=table.device)


def _heads(table: Tensor, threshold: float) -> Tensor:
    """(h, ‖r‖) of each row, with the head length that costs least; the table itself if no head saves anything."""
    n, d = table.shape
    lengths = [length for length in HEAD_LENGTHS if length < d // 2]
    if not lengths or not n:
        return table
    axes = torch.linalg.eigh((table.T @ table).double()).eigenvectors.flip(1).to(table)
    rotated = table @ axes[:, : lengths[-1]]
    squares = torch.linalg.vecdot(table, table)
    sample = torch.arange(0, n, max(1, n // SAMPLE_ROWS), device=table.device)
    best, min_cost = table, float(d)
    for length in lengths:
        rest = (squares - rotated[:, :length].square().sum(1)).clamp_min(0).sqrt()
        heads = torch.cat([rotated[:, :length], rest[:, None]], 1)
        left = sum(
            int((bounds > threshold - ROUNDING_ERROR).sum())
            for _, blocks in score_blocks(heads[sample], heads, width=KEY_BLOCK)
            for _, bounds in blocks
        )
        cost = length + BOUND_COST + left / (len(sample) * n) * SINGLE_PRODUCT_COST * d
        if cost < min_cost:
            best, min_cost = heads, cost
    return best


def _pairs_of_block(
    table: Tensor, heads: Tensor, bounds: Tensor, threshold: float, rows: slice, others: slice
) -> Tensor:
    """The pairs above the threshold in one block, i < j: (2, p).  bounds: (rows, others), of the products."""
    if heads is table:
        return _upper_triangle(*_where_above(bounds, threshold), rows, others)
    i, j = _upper_triangle(*_where_above(bounds, threshold - ROUNDING_ERROR), rows, others)
    if len(i) * SINGLE_PRODUCT_COST > bounds.numel():  # one by one, the products would take longer than all at once
        return _upper_triangle(*_where_above(table[rows] @ table[others].T, threshold), rows, others)
    products = [
        torch.linalg.vecdot(table[a], table[b])
        for a, b in zip(torch.split(i, BATCH), torch.split(j, BATCH), strict=True)
    ]
    above = torch.cat(products) > threshold
    return torch.stack([i[above], j[above]])


def _where_above(scores: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    """Rows and columns of the scores above the threshold. The maximum of a group rules out most groups."""
    size = GROUP_SIZE if scores.shape[1] % GROUP_SIZE == 0 else 1
    grouped = scores.view(len(scores), size, -1)
    row, group = (grouped.amax(1) > threshold).nonzero(as_tuple=True)
    hit, member = (grouped[row, :, group] > threshold).nonzero(as_tuple=True)
    return row[hit], member * grouped.shape[2] + group[hit]


def _upper_triangle(i: Tensor, j: Tensor, rows: slice, others: slice) -> Tensor:
    """Row numbers in the table of the pairs (i, j) of a block, without those that have i >= j: (2, p)."""
    pairs = torch.stack([i + rows.start, j + others.start])
    return pairs[:, pairs[0] < pairs[1]]
