"""The search by products of the rows as they are."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import torch

from bilex.search.blocks import score_blocks
from bilex.search.lists import TopK, concatenate, empty_lists, merge, sort_lists
from bilex.search.problem import block_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from bilex.search.blocks import Progress
    from bilex.search.problem import Problem


def search_in_full(problem: Problem, *, extra: int = 0, progress: Progress | None = None) -> TopK:
    """The n + extra best keys of each query, best first; of equal scores those with the lowest indices."""
    queries, keys = problem.queries, problem.keys
    n = min(problem.n + extra, len(keys))
    size = min(n + 1, len(keys))  # one more shows whether the best score that is left out equals the last one listed
    width = block_width(n)
    parts = [empty_lists(0, n, queries)]
    for rows, blocks in score_blocks(queries, keys, bias=problem.bias, width=width, budget=problem.budget, passes=2):
        lists = empty_lists(len(rows), size, queries)
        for start, scores in islice(blocks, -(-len(keys) // width)):
            merge(lists, start, scores)
        lists = sort_lists(lists)
        tied = lists.values[:, n - 1] == lists.values[:, -1] if size > n > 0 else lists.values.new_empty(0)
        best = TopK(lists.values[:, :n], lists.indices[:, :n])
        if tied.any():  # the second pass computes the scores again, in the same blocks and hence to the same bits
            _resolve_ties(best, tied.nonzero()[:, 0], blocks)
        parts.append(best)
        if progress:
            progress(sum(len(part.values) for part in parts), len(queries))
    return concatenate(parts)


def _resolve_ties(best: TopK, rows: Tensor, blocks: Iterator[tuple[int, Tensor]]) -> None:
    """Of all keys whose score equals the last one of a list, list those with the lowest indices; in place."""
    last = best.values[rows, -1:]
    place = (best.values[rows] > last).sum(1, keepdim=True)
    for start, scores in blocks:
        equal = scores[rows] == last
        places = place + equal.cumsum(1, dtype=torch.int32) - 1
        row, column = (equal & (places < best.values.shape[1])).nonzero(as_tuple=True)
        best.indices[rows[row], places[row, column].long()] = column + start
        place += equal.sum(1, keepdim=True)
        if (place >= best.values.shape[1]).all():
            return
