"""The one neighbour search: exact, blocked, under a memory budget, on any device.

Every score in this package is a cosine plus a term of the candidate alone, s(q, j) = q · k_j + b_j, so that nearest
neighbours, CSLS and the inverted softmax are the same search with another b. Nothing here ever builds the n x m matrix.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from bilex.linalg import rounded
from bilex.linalg.pairs import products

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[int, int], None]
    """Called with the rows done and the rows in all."""

BUDGET = 512 * 2**20
"""Working memory of one search in bytes, unless told otherwise; its inputs and its result come on top."""

# Measured fastest: a block of scores of 20 MB just stays in a large cache, and its rows are no power of two apart, so
# that they do not compete for the same places there.
MOST_ROWS = 2500
EVEN_ROWS = 2496  # of the same size, but a multiple of LANES
KEY_BLOCK = 2080
LANES = 32  # keys that share one maximum; FEW_LANES where more than MANY are asked for
FEW_LANES, MANY = 8, 16
SPARE = 5  # rows beyond the last that are looked at, lest the rounding of a block decides who is among the best
ROUNDING = 1e-5  # more than two computations of a product of unit rows can differ by
AT_ONCE = 16 * MOST_ROWS  # queries searched in full after others
DENSE = 8  # while fewer than one score in DENSE is a candidate, the candidates are picked singly


class TopK(NamedTuple):
    """The n best candidates of each query, best first; of equal scores the lower index is the better one."""

    values: Tensor
    indices: Tensor

    def part(self, start: int, count: int) -> TopK:
        """Those of some queries; what is put there is put here."""
        return TopK(self.values[start : start + count], self.indices[start : start + count])


def topk(
    queries: Tensor,
    keys: Tensor,
    n: int,
    *,
    bias: Tensor | None = None,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> TopK:
    """The n largest of q · kᵀ + b per query.  queries: (q, d), keys: (m, d), bias: (m,); fewer than n if m < n.

    A block of scores is first reduced to the maxima of groups of `LANES` keys. A group whose maximum does not exceed
    the n-th best score so far holds no candidate, and after a few blocks nearly none does: the search then costs
    little more than the matrix product. Where that is faster, rounded rows are multiplied, for longer lists, whose
    scores are then computed in full; what a list cannot prove is searched in full (see `rounded`).
    """
    n = min(n, len(keys))
    if not rounded.pays(queries, keys, n):
        return _in_full(queries, keys, n, bias=bias, budget=budget, progress=progress)
    longer, bound, found = rounded.longer(n), rounded.Bound(keys, bias), list[_Checked]()
    for rows, blocks in score_blocks(
        queries, keys, bias=bias, width=_width(longer), budget=budget, dtype=rounded.ROUND
    ):
        listed = _nothing(len(rows), longer, queries, rounded.ROUND)
        for start, scores in blocks:
            merge(listed, start, scores)
        found.append(_checked(listed, rows, keys, n, bound, bias))
        if progress:
            progress(sum(len(part.open) for part in found), len(queries))
    return _settled(found, queries, keys, bias=bias, budget=budget)


def topk_both(
    x: Tensor, z: Tensor, n: int, *, budget: int = BUDGET, progress: Progress | None = None
) -> tuple[TopK, TopK]:
    """The n largest of x · zᵀ per row of x, and per row of z, from one product of all with all.  x: (q, d), z: (m, d).

    They are those of `topk` both ways, up to rounding, and of equal scores at the last place any may be taken.
    """
    if not (rounded.pays(x, z, n) and rounded.pays(z, x, n)):
        nearest_z, nearest_x = _both_ways(x, z, n, x.dtype, budget, progress)
        return in_order(nearest_z), in_order(nearest_x)
    nearest_z, nearest_x = _both_ways(x, z, rounded.longer(n), rounded.ROUND, budget, progress)
    return _proven(nearest_z, x, z, n, budget), _proven(nearest_x, z, x, n, budget)


def _in_full(
    queries: Tensor, keys: Tensor, n: int, *, bias: Tensor | None, budget: int, progress: Progress | None = None
) -> TopK:
    """By the products of the rows as they are."""
    more = min(n + 1, len(keys))  # one more tells whether a score that is left out equals the last that is not
    width = _width(n)
    best = [_nothing(0, n, queries)]
    for rows, blocks in score_blocks(queries, keys, bias=bias, width=width, budget=budget, passes=2):
        found = _nothing(len(rows), more, queries)
        for start, scores in islice(blocks, -(-len(keys) // width)):
            merge(found, start, scores)
        found = in_order(found)
        tied = found.values[:, n - 1] == found.values[:, -1] if more > n > 0 else found.values.new_empty(0)
        found = TopK(found.values[:, :n], found.indices[:, :n])
        if tied.any():  # the scores are computed again, in the same blocks and hence to the same bits
            _first_of_equals(found, tied.nonzero()[:, 0], blocks)
        best.append(found)
        if progress:
            progress(sum(len(part.values) for part in best), len(queries))
    return _joined(best)


def _both_ways(
    x: Tensor, z: Tensor, n: int, dtype: torch.dtype, budget: int, progress: Progress | None
) -> tuple[TopK, TopK]:
    """The lists of `topk_both`, in no order, by products of this kind."""
    nearest_z = [_nothing(0, min(n, len(z)), x, dtype)]
    nearest_x = _nothing(len(z), min(n, len(x)), z, dtype)
    done = 0
    for part in torch.split(x, EVEN_ROWS):
        for rows, blocks in score_blocks(part, z, width=_width(n), budget=budget * 4 // 5, dtype=dtype):
            nearest_z.append(_nothing(len(rows), min(n, len(z)), x, dtype))
            for start, scores in blocks:
                merge(nearest_z[-1], start, scores)
                merge(nearest_x.part(start, scores.shape[1]), done, scores.T)
            done += len(rows)
            if progress:
                progress(done, len(x))
    return _joined(nearest_z), nearest_x


def _proven(listed: TopK, queries: Tensor, keys: Tensor, n: int, budget: int) -> TopK:
    """The n best of lists of rounded scores, or of all keys where a list does not tell."""
    bound = rounded.Bound(keys)
    found = [
        _checked(listed.part(start, MOST_ROWS), queries[start : start + MOST_ROWS], keys, n, bound)
        for start in range(0, len(queries), MOST_ROWS)
    ]
    return _settled(found, queries, keys, budget=budget)


class _Checked(NamedTuple):
    """The n best of some lists, and which of them (q,) may not be the best of all keys."""

    best: TopK
    open: Tensor


def _checked(
    listed: TopK, queries: Tensor, keys: Tensor, n: int, bound: rounded.Bound, bias: Tensor | None = None
) -> _Checked:
    """The n best of each list of rounded scores by their scores in full.

    If the last of them exceeds what any key that is not on the list can have, they are the best of all.
    """
    best = _scored(listed, queries, keys, n, bias)
    return _Checked(best, ~(best.values[:, -1] > bound(listed.values.amin(1), queries)))


def _settled(found: list[_Checked], queries: Tensor, keys: Tensor, *, bias: Tensor | None = None, budget: int) -> TopK:
    """With what is open searched in full."""
    best = _joined([part.best for part in found])
    places = torch.cat([part.open for part in found]).nonzero()[:, 0]
    n = best.values.shape[1]
    for some in torch.split(places, AT_ONCE) if len(places) else ():
        rows = queries[some]
        again = _in_full(rows, keys, min(n + SPARE, len(keys)), bias=bias, budget=budget)
        best.values[some], best.indices[some] = _scored(again, rows, keys, n, bias)
    return best


def _scored(listed: TopK, queries: Tensor, keys: Tensor, n: int, bias: Tensor | None) -> TopK:
    """The n best of each list, by scores that are the same to the last bit in whichever list they are."""
    values = products(queries, keys, listed.indices.to(torch.int32))
    if bias is not None:
        values += bias.to(values)[listed.indices]
    values.masked_fill_(listed.values == -torch.inf, -torch.inf)  # where there is nothing on the list
    found = in_order(TopK(values, listed.indices))
    return TopK(found.values[:, :n].contiguous(), found.indices[:, :n].contiguous())


def logsumexp(
    queries: Tensor, keys: Tensor, *, scale: float, budget: int = BUDGET, progress: Progress | None = None
) -> Tensor:
    """Log Σ_j exp(scale q · k_j) per query: (q,)."""
    sums: list[Tensor] = []
    for rows, blocks in score_blocks(queries, keys, width=KEY_BLOCK, budget=budget):
        total = rows.new_full((len(rows),), -torch.inf)
        for _, scores in blocks:
            total = torch.logaddexp(total, scores.mul_(scale).logsumexp(1))
        sums.append(total)
        if progress:
            progress(sum(map(len, sums)), len(queries))
    return torch.cat(sums) if sums else queries.new_empty(0)


def ranks(queries: Tensor, keys: Tensor, gold: Tensor, *, bias: Tensor | None = None, budget: int = BUDGET) -> Tensor:
    """Rank, from 1, of the best-scored gold key of each query among all keys: (q,).

    gold: (q, g) key indices, padded with -1. Of equal scores the lower index ranks first, as in `topk`. The scores are
    computed twice, in the same blocks, so that a gold key is compared with its own score to the last bit.
    """
    found: list[Tensor] = []
    for rows, blocks in score_blocks(queries, keys, bias=bias, width=KEY_BLOCK, budget=budget, passes=2):
        here = gold[sum(map(len, found)) :][: len(rows)].to(rows.device)
        level = rows.new_full((len(rows), 1), -torch.inf)
        place = here.new_full((len(rows), 1), len(keys))
        above = here.new_zeros(len(rows))
        for turn, (start, scores) in enumerate(blocks):
            if turn < -(-len(keys) // KEY_BLOCK):
                level, place = _best_gold(level, place, here, start, scores)
            else:
                index = torch.arange(start, start + scores.shape[1], device=scores.device)
                # Counted by what is not below, so that a score that is no number never flatters.
                above += (~((scores < level) | ((scores == level) & (index >= place)))).sum(1)
        found.append(above + 1)
    return torch.cat(found) if found else gold.new_empty(0)


def score_blocks(
    queries: Tensor,
    keys: Tensor,
    *,
    bias: Tensor | None = None,
    width: int,
    budget: int = BUDGET,
    passes: int = 1,
    dtype: torch.dtype | None = None,
) -> Iterator[tuple[Tensor, Iterator[tuple[int, Tensor]]]]:
    """Blocks of queries and, for each, the blocks of scores (start, (rows, width)) that together cover all keys.

    The scores live in one buffer that the next block overwrites. The keys are moved to the queries' device block by
    block, so that they may be larger than its memory. The bias rides along as one more dimension, which costs less
    than adding it to every score. With `dtype`, rows and keys are rounded to that.
    """
    kind = dtype or queries.dtype
    width = min(width, max(1, len(keys)))
    # The scores themselves, and at most three times as much for picking the candidates of a block.
    most = max(1, min(MOST_ROWS, budget // (4 * width * queries.element_size())))
    blocks_of_rows = max(1, -(-len(queries) // most))
    height = max(1, -(-len(queries) // blocks_of_rows))  # all of one size: a small last block is slow
    buffer = queries.new_empty(height * width, dtype=kind)

    def blocks(rows: Tensor) -> Iterator[tuple[int, Tensor]]:
        for start in list(range(0, len(keys), width)) * passes:
            columns = keys[start : start + width].to(rows.device)
            if bias is not None:
                columns = torch.cat([columns, bias[start : start + width, None].to(columns)], 1)
            scores = buffer[: len(rows) * len(columns)].view(len(rows), len(columns))
            yield start, torch.mm(rows, (columns if dtype is None else columns.to(dtype)).T, out=scores)

    for first in range(0, len(queries), height):
        rows = queries[first : first + height]
        yield rows, blocks((rows if bias is None else torch.cat([rows, rows.new_ones(len(rows), 1)], 1)).to(kind))


def _width(n: int) -> int:
    """Keys of a block of scores."""
    return max(KEY_BLOCK, 16 * n)


def _nothing(rows: int, n: int, like: Tensor, dtype: torch.dtype | None = None) -> TopK:
    values = like.new_full((rows, n), -torch.inf, dtype=dtype)
    return TopK(values, values.new_zeros((rows, n), dtype=torch.long))


def _joined(parts: list[TopK]) -> TopK:
    values, indices = zip(*parts, strict=True)
    return TopK(torch.cat(values), torch.cat(indices))


def merge(best: TopK, start: int, scores: Tensor) -> None:
    """Put the scores of one block, or of one that is transposed, that belong among the best into place, in place."""
    found = _pick(best, scores)
    if found is None:
        values, indices = scores.contiguous().topk(min(best.values.shape[1], scores.shape[1]), dim=1)
        found = torch.arange(len(scores), device=scores.device), values, indices
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
    values = scores.new_full((len(row), widest), -torch.inf)
    indices = hit.new_zeros(values.shape)
    values[place, slot] = candidates[hit, lane]
    indices[place, slot] = lane * grouped.shape[2] + group[hit]
    return row, values, indices


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


def _first_of_equals(best: TopK, rows: Tensor, blocks: Iterator[tuple[int, Tensor]]) -> None:
    """Of all scores that equal the last of some rows, put those with the lowest indices at the end, in place."""
    level = best.values[rows, -1:]
    place = (best.values[rows] > level).sum(1, keepdim=True)
    for start, scores in blocks:
        equal = scores[rows] == level
        places = place + equal.cumsum(1, dtype=torch.int32) - 1
        row, column = (equal & (places < best.values.shape[1])).nonzero(as_tuple=True)
        best.indices[rows[row], places[row, column].long()] = column + start
        place += equal.sum(1, keepdim=True)
        if (place >= best.values.shape[1]).all():
            return


def _best_gold(level: Tensor, place: Tensor, gold: Tensor, start: int, scores: Tensor) -> tuple[Tensor, Tensor]:
    """The best gold score seen so far and its index (the lowest, of equals), (q, 1) each, after one more block."""
    inside = (gold >= start) & (gold < start + scores.shape[1])
    here = scores.gather(1, (gold - start).clamp(0, scores.shape[1] - 1))
    here = here.masked_fill(~inside | here.isnan(), -torch.inf)
    new = torch.maximum(level, here.amax(1, keepdim=True))
    candidate = gold.masked_fill(~inside | (here < new), torch.iinfo(gold.dtype).max).amin(1, keepdim=True)
    return new, torch.where(new > level, candidate, torch.minimum(place, candidate))
