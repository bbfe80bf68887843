"""The neighbour search that everything else uses: exact, in blocks, under a memory budget, on any device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from bilex.search.bfloat16 import Bfloat16
from bilex.search.blocks import BUDGET, QUERY_BLOCK, score_blocks
from bilex.search.full_precision import search_in_full
from bilex.search.int8 import Int8
from bilex.search.lists import TopK, merge, sort_lists
from bilex.search.problem import Problem, block_width
from bilex.search.shortlist import (
    Proof,
    empty_shortlists,
    first_proving,
    prove,
    search_by_shortlists,
    search_unproven,
)

if TYPE_CHECKING:
    from bilex.search.blocks import Progress
    from bilex.search.low_precision import LowPrecision
    from bilex.search.shortlist import Precisions

PRECISIONS: Precisions = (Int8, Bfloat16)
"""The fastest first; it also leaves the most unproven."""
ALIGNED_QUERY_BLOCK = 2496
"""About `QUERY_BLOCK`, but a multiple of `GROUP_SIZE`: these rows are keys in the other direction."""


def topk(
    queries: Tensor,
    keys: Tensor,
    n: int,
    *,
    bias: Tensor | None = None,
    warm_start: Tensor | None = None,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> TopK:
    """The n largest of q · kᵀ + b per query: (q, n), or (q, m) if m < n.  queries: (q, d), keys: (m, d), bias: (m,).

    Large searches go through shortlists in low precision (see `bilex.search`). `warm_start` (q, w) has indices of keys
    that are expected to be near, n of them or more, such as those of the search before: it saves time and changes no
    result.
    """
    problem = Problem(queries, keys, min(n, len(keys)), bias, warm_start, budget)
    best = search_by_shortlists(problem, PRECISIONS, progress)
    return search_in_full(problem, progress=progress) if best is None else best


def topk_both(
    x: Tensor,
    z: Tensor,
    n: int,
    *,
    warm_start: tuple[Tensor, Tensor] | None = None,
    matrix: Tensor | None = None,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> tuple[TopK, TopK]:
    """The n largest of x · zᵀ per row of x and per row of z, from one product of both tables.  x: (q, d), z: (m, d).

    The results are those of `topk` both ways, up to rounding; of equal scores at the last place any may be taken.
    `warm_start` (q, w) and (m, w), like that of `topk`, and `matrix`, x · zᵀ (q, m) if it is known, save time only.
    """
    warm_x, warm_z = warm_start or (None, None)
    forward, backward = Problem(x, z, n, None, warm_x, budget), Problem(z, x, n, None, warm_z, budget)
    precision, finer = (None, ()) if matrix is not None else first_proving(PRECISIONS, forward, backward)
    swapped = None if precision is None else precision.swapped()
    lists_x, lists_z = empty_shortlists(forward, precision), empty_shortlists(backward, swapped)
    if matrix is None:
        _merge_both(x, z, lists_x, lists_z, precision, budget, progress)
    else:
        merge(lists_x, 0, matrix)
        merge(lists_z, 0, matrix.T)
    return _prove_all(lists_x, forward, precision, finer), _prove_all(lists_z, backward, swapped, finer)


def _merge_both(
    x: Tensor,
    z: Tensor,
    lists_x: TopK,
    lists_z: TopK,
    precision: LowPrecision | None,
    budget: int,
    progress: Progress | None,
) -> None:
    """Update the lists of both directions, in place and unsorted, with every block of x · zᵀ."""
    width, budget, done = block_width(lists_x.values.shape[1], precision), budget * 4 // 5, 0
    for part in torch.split(x, ALIGNED_QUERY_BLOCK):
        for rows, blocks in (
            score_blocks(part, z, width=width, budget=budget)
            if precision is None
            else precision.blocks(done, len(part), width=width, budget=budget)
        ):
            for start, scores in blocks:
                merge(lists_x.view(done, len(rows)), start, scores)
                merge(lists_z.view(start, scores.shape[1]), done, scores.T)
            done += len(rows)
            if progress:
                progress(done, len(x))


def _prove_all(lists: TopK, problem: Problem, precision: LowPrecision | None, finer: Precisions) -> TopK:
    """The n best from the lists of all queries; queries whose list proves nothing are searched again."""
    if precision is None:
        best = sort_lists(lists)
        return search_unproven([Proof(best, (best.indices < 0).any(1))], problem, finer)
    proofs = []
    for start in range(0, len(problem.queries), QUERY_BLOCK):
        part = problem.part(slice(start, start + QUERY_BLOCK))
        proofs.append(prove(lists.view(start, QUERY_BLOCK), part, precision, start))
    return search_unproven(proofs, problem, finer)
