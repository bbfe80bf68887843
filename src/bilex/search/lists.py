"""The best candidates so far, kept while scores come block by block."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

LANES = 32  # keys that share one maximum; FEW_LANES where more than MANY are asked for
FEW_LANES, MANY = 8, 16
DENSE = 8  # while fewer than one score in DENSE is a candidate, the candidates are picked singly


class TopK(NamedTuple):
    """The n best candidates of each query, best first; of equal scores the lower index is the better one."""

    values: Tensor
    indices: Tensor

    def part(self, start: int, count: int) -> TopK:
        """Those of some queries; what is put there is put here."""
        return TopK(self.values[start : start + count], self.indices[start : start + count])


def nothing(rows: int, n: int, like: Tensor, dtype: torch.dtype | None = None) -> TopK:
    """Lists with nothing on them yet."""
    dtype = dtype or like.dtype
    values = like.new_full((rows, n), lowest(dtype), dtype=dtype)
    return TopK(values, values.new_zeros((rows, n), dtype=torch.long))


def lowest(dtype: torch.dtype) -> float:
    """What no score is below."""
    return -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def above(floor: Tensor, n: int) -> TopK:
    """Lists for scores above a floor of each query (q,) only; a place that stays free has the floor, and index -1."""
    values = floor[:, None].repeat(1, n)
    return TopK(values, torch.full_like(values, -1, dtype=torch.long))


def joined(parts: list[TopK]) -> TopK:
    """The lists of all queries, from those of some of them."""
    values, indices = zip(*parts, strict=True)
    return TopK(torch.cat(values), torch.cat(indices))


def merge(best: TopK, start: int, scores: Tensor) -> None:
    """Put the scores of one block, or of one that is transposed, that belong among the best into place, in place.

    A block is first reduced to the maxima of groups of `LANES` keys. A group whose maximum does not exceed the n-th
    best score so far holds no candidate, and after a few blocks nearly none does: a search then costs little more than
    the matrix product.
    """
    found = _pick(best, scores)
    if found is None:
        largest = _largest(scores, min(best.values.shape[1], scores.shape[1]))
        found = torch.arange(len(scores), device=scores.device), *largest
    row, values, indices = found
    values = torch.cat([best.values[row], values], 1)
    indices = torch.cat([best.indices[row], indices + start], 1)
    top = values.topk(best.values.shape[1], dim=1)
    best.values[row] = top.values
    best.indices[row] = indices.gather(1, top.indices)


def _pick(best: TopK, scores: Tensor) -> tuple[Tensor, Tensor, Tensor] | None:
    """The rows that have scores above their n-th best so far, with these scores and their columns, padded.

    None if there are so many that picking them would cost more, in time and memory, than looking at every score.
    """
    few = scores.numel() // DENSE
    lanes = LANES if best.values.shape[1] <= MANY else FEW_LANES
    if scores.shape[1] % lanes:
        scores, lanes = scores.contiguous(), 1
    grouped, bound = scores.view(len(scores), lanes, -1), best.values[:, -1]
    promising = (_maxima(scores, lanes) if lanes > 1 else scores) > bound[:, None]
    if lanes == 1 and int(promising.sum()) > few:  # the list of their places would take more memory than the scores
        return None
    row, group = promising.nonzero(as_tuple=True)
    if len(row) * lanes > few:
        return None
    candidates = grouped[row, :, group]
    hit, lane = (candidates > bound[row, None]).nonzero(as_tuple=True)
    row, place, count = torch.unique_consecutive(row[hit], return_inverse=True, return_counts=True)
    widest = int(count.max()) if len(count) else 0
    if len(row) * widest > few:
        return None
    slot = torch.arange(len(hit), device=hit.device) - (count.cumsum(0) - count)[place]
    values = scores.new_full((len(row), widest), lowest(scores.dtype))
    indices = hit.new_zeros(values.shape)
    values[place, slot] = candidates[hit, lane]
    indices[place, slot] = lane * grouped.shape[2] + group[hit]
    return row, values, indices


def _largest(scores: Tensor, n: int) -> TopK:
    """The n largest of each row, in any order of equals.

    They are all in the n groups with the largest maxima, which are found first: there are far fewer groups than scores.
    """
    lanes = FEW_LANES
    if scores.shape[1] % lanes or n * lanes * 2 > scores.shape[1]:
        return TopK(*scores.contiguous().topk(n, dim=1))
    groups = _maxima(scores, lanes).topk(n, dim=1, sorted=False).indices
    firsts = torch.arange(0, scores.shape[1], scores.shape[1] // lanes, device=scores.device)
    places = (groups[:, None] + firsts[:, None]).flatten(1)
    top = scores.gather(1, places).topk(n, dim=1)
    return TopK(top.values, places.gather(1, top.indices))


def _maxima(scores: Tensor, lanes: int) -> Tensor:
    """Of the groups of each row.  scores: (q, m), and the result (q, m / lanes); read in the order they lie in."""
    if scores.is_contiguous():
        return scores.view(len(scores), lanes, -1).amax(1)
    return scores.T.view(lanes, -1, len(scores)).amax(0).T


def in_order(found: TopK) -> TopK:
    """Best first; equal scores by index."""
    indices, by_index = found.indices.sort(dim=1)
    values, by_value = found.values.gather(1, by_index).sort(dim=1, descending=True, stable=True)
    return TopK(values, indices.gather(1, by_value))
