"""The n best keys of every query so far, updated block by block."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

GROUP_SIZE = 32
"""Scores that share one maximum, for lists of up to `LONG_LIST`."""
SMALL_GROUP_SIZE, LONG_LIST = 8, 16
"""The same for longer lists."""
SCORES_PER_CANDIDATE = 8
"""Candidates are gathered one by one if at most one score in so many is a candidate."""


class TopK(NamedTuple):
    """The n best keys of each query, (q, n), best first; of equal scores the lower index comes first."""

    values: Tensor
    indices: Tensor

    def view(self, start: int, count: int) -> TopK:
        """The lists of some queries, as views: to write there is to write here."""
        return TopK(self.values[start : start + count], self.indices[start : start + count])


def empty_lists(rows: int, n: int, like: Tensor, dtype: torch.dtype | None = None) -> TopK:
    """Lists (rows, n) without entries: every value is the lowest of the dtype."""
    dtype = dtype or like.dtype
    values = like.new_full((rows, n), lowest(dtype), dtype=dtype)
    return TopK(values, values.new_zeros((rows, n), dtype=torch.long))


def lowest(dtype: torch.dtype) -> float:
    """The lowest score of the dtype."""
    return -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def lists_above(threshold: Tensor, n: int) -> TopK:
    """Lists (q, n) that only take scores above a threshold per query (q,).

    A free entry has the threshold as its value, and index -1.
    """
    values = threshold[:, None].repeat(1, n)
    return TopK(values, torch.full_like(values, -1, dtype=torch.long))


def concatenate(parts: list[TopK]) -> TopK:
    """The lists of all queries from those of consecutive parts."""
    values, indices = zip(*parts, strict=True)
    return TopK(torch.cat(values), torch.cat(indices))


def merge(best: TopK, start: int, scores: Tensor) -> None:
    """Update the lists, in place, with a block of scores (q, w) of the keys from `start` on.

    The block may be a transposed one. It is first reduced to the maxima of groups of `GROUP_SIZE` keys. A group whose
    maximum does not exceed the n-th best score so far has no candidate. After a few blocks nearly no group has one, so
    that a search costs little more than the matrix product.
    """
    candidates = _candidates(best, scores)
    if candidates is None:
        largest = largest_of_block(scores, min(best.values.shape[1], scores.shape[1]))
        candidates = torch.arange(len(scores), device=scores.device), *largest
    row, values, indices = candidates
    values = torch.cat([best.values[row], values], 1)
    indices = torch.cat([best.indices[row], indices + start], 1)
    top = values.topk(best.values.shape[1], dim=1)
    best.values[row] = top.values
    best.indices[row] = indices.gather(1, top.indices)


def sort_lists(lists: TopK) -> TopK:
    """Best first; equal scores by index."""
    indices, by_index = lists.indices.sort(dim=1)
    values, by_value = lists.values.gather(1, by_index).sort(dim=1, descending=True, stable=True)
    return TopK(values, indices.gather(1, by_value))


def _candidates(best: TopK, scores: Tensor) -> tuple[Tensor, Tensor, Tensor] | None:
    """Scores above the n-th best so far: the rows that have some (r,), their values and columns (r, c), padded.

    None if there are so many that to gather them takes more time and memory than to look at every score.
    """
    max_count = scores.numel() // SCORES_PER_CANDIDATE
    size = GROUP_SIZE if best.values.shape[1] <= LONG_LIST else SMALL_GROUP_SIZE
    if scores.shape[1] % size:
        scores, size = scores.contiguous(), 1
    grouped, threshold = scores.view(len(scores), size, -1), best.values[:, -1]
    promising = (_group_maxima(scores, size) if size > 1 else scores) > threshold[:, None]
    if size == 1 and int(promising.sum()) > max_count:  # the list of their places would be larger than the scores
        return None
    row, group = promising.nonzero(as_tuple=True)
    if len(row) * size > max_count:
        return None
    members = grouped[row, :, group]
    hit, member = (members > threshold[row, None]).nonzero(as_tuple=True)
    row, place, count = torch.unique_consecutive(row[hit], return_inverse=True, return_counts=True)
    width = int(count.max()) if len(count) else 0
    if len(row) * width > max_count:
        return None
    slot = torch.arange(len(hit), device=hit.device) - (count.cumsum(0) - count)[place]
    values = scores.new_full((len(row), width), lowest(scores.dtype))
    indices = hit.new_zeros(values.shape)
    values[place, slot] = members[hit, member]
    indices[place, slot] = member * grouped.shape[2] + group[hit]
    return row, values, indices


def largest_of_block(scores: Tensor, n: int) -> TopK:
    """The n largest of each row of a block, (q, n), in any order.

    They lie in the n groups with the largest maxima, or in the columns that are left over. There are far fewer groups
    than scores, so these come first.
    """
    size, width = SMALL_GROUP_SIZE, scores.shape[1]
    if n * size * 2 > width:
        return TopK(*scores.contiguous().topk(n, dim=1))
    whole = width - width % size
    groups = _group_maxima(scores[:, :whole], size).topk(n, dim=1, sorted=False).indices
    firsts = torch.arange(0, whole, whole // size, device=scores.device)
    columns = (groups[:, None] + firsts[:, None]).flatten(1)
    left_over = torch.arange(whole, width, device=scores.device).expand(len(scores), -1)
    columns = torch.cat([columns, left_over], 1)
    top = scores.gather(1, columns).topk(n, dim=1)
    return TopK(top.values, columns.gather(1, top.indices))


def _group_maxima(scores: Tensor, size: int) -> Tensor:
    """Maximum of each group of scores (q, m): (q, m / size). Memory is read in the order in which it lies."""
    if scores.stride(1) == 1:
        return torch.unflatten(scores, 1, (size, -1)).amax(1)
    return torch.unflatten(scores.T, 0, (size, -1)).amax(0).T
