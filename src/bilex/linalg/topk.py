"""The one neighbour search: exact, blocked, under a memory budget, on any device."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from bilex.linalg import rounded
from bilex.linalg.best import TopK, above, in_order, joined, merge, nothing
from bilex.linalg.blocks import BUDGET, KEY_BLOCK, MOST_ROWS, ROUNDING, score_blocks
from bilex.linalg.pairs import products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.linalg.blocks import Progress

    Known = tuple[Tensor, Tensor]
    """Places of rows that should be near, (q, w) and (m, w)."""

EVEN_ROWS = 2496  # of about the size of MOST_ROWS, but a multiple of LANES
SPARE = 5  # rows beyond the last that are looked at, lest the rounding of a block decides who is among the best
AT_ONCE = 16 * MOST_ROWS  # queries searched in full after others


def topk(
    queries: Tensor,
    keys: Tensor,
    n: int,
    *,
    bias: Tensor | None = None,
    known: Tensor | None = None,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> TopK:
    """The n largest of q · kᵀ + b per query.  queries: (q, d), keys: (m, d), bias: (m,); fewer than n if m < n.

    Where that is faster, rounded rows are multiplied, for longer lists, whose scores are then computed in full; what a
    list cannot prove is searched in full (see `rounded`). There, at least n keys of each query that were near before
    (`known`: (q, w)) tell how near the others have to be, which saves time and nothing else.
    """
    n = min(n, len(keys))
    if not rounded.pays(queries, keys, n):
        return _in_full(queries, keys, n, bias=bias, budget=budget, progress=progress)
    longer, bound, found = rounded.longer(n), rounded.Bound(keys, bias), list[_Checked]()
    for rows, blocks in score_blocks(
        queries, keys, bias=bias, width=_width(longer), budget=budget, dtype=rounded.ROUND
    ):
        here = slice(done := sum(len(part.open) for part in found), done + len(rows))
        listed = _begun(rows, keys, n, longer, None if known is None else known[here], bound, bias)
        for start, scores in blocks:
            merge(listed, start, scores)
        found.append(_checked(listed, rows, keys, n, bound, bias))
        if progress:
            progress(sum(len(part.open) for part in found), len(queries))
    return _settled(found, queries, keys, bias=bias, budget=budget)


def topk_both(
    x: Tensor,
    z: Tensor,
    n: int,
    *,
    known: Known | None = None,
    matrix: Tensor | None = None,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> tuple[TopK, TopK]:
    """The n largest of x · zᵀ per row of x, and per row of z, from one product of all with all.  x: (q, d), z: (m, d).

    They are those of `topk` both ways, up to rounding, and of equal scores at the last place any may be taken. At least
    n of those that were near before (`known`) tell how near the others have to be, which saves time and nothing else,
    and so does x · zᵀ (`matrix`) where it is small enough to be kept.
    """
    rounds = matrix is None and rounded.pays(x, z, n) and rounded.pays(z, x, n)
    listed = rounded.longer(n) if rounds else n
    of_z, of_x = (rounded.Bound(z), rounded.Bound(x)) if rounds else (None, None)
    known_z, known_x = known or (None, None)
    near_z, near_x = _begun(x, z, n, listed, known_z, of_z), _begun(z, x, n, listed, known_x, of_x)
    if matrix is None:
        _list_both(x, z, near_z, near_x, budget, progress)
    else:
        merge(near_z, 0, matrix)
        merge(near_x, 0, matrix.T)
    if of_z and of_x:
        return _proven(near_z, x, z, n, of_z, budget), _proven(near_x, z, x, n, of_x, budget)
    return _whole(near_z, x, z, budget), _whole(near_x, z, x, budget)


def _begun(
    queries: Tensor,
    keys: Tensor,
    n: int,
    listed: int,
    known: Tensor | None,
    bound: rounded.Bound | None,
    bias: Tensor | None = None,
) -> TopK:
    """Lists with nothing on them yet, and room only for what may be among the n best, by the keys that are known.

    They are for rounded scores where there is a bound for these.
    """
    if known is None or not known.shape[1] >= n > 0:
        return nothing(len(queries), min(listed, len(keys)), queries, None if bound is None else rounded.ROUND)
    scores = products(queries, keys, known.to(torch.int32))
    if bias is not None:
        scores += bias.to(scores)[known.long()]
    least = scores.topk(n, dim=1).values[:, -1]
    return above(least - ROUNDING if bound is None else bound.below(least, queries), listed)


def _in_full(
    queries: Tensor, keys: Tensor, n: int, *, bias: Tensor | None, budget: int, progress: Progress | None = None
) -> TopK:
    """By the products of the rows as they are."""
    more = min(n + 1, len(keys))  # one more tells whether a score that is left out equals the last that is not
    width = _width(n)
    best = [nothing(0, n, queries)]
    for rows, blocks in score_blocks(queries, keys, bias=bias, width=width, budget=budget, passes=2):
        found = nothing(len(rows), more, queries)
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
    return joined(best)


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


def _list_both(x: Tensor, z: Tensor, near_z: TopK, near_x: TopK, budget: int, progress: Progress | None) -> None:
    """Put the best of both ways on their lists, in no order, by products of the kind of these."""
    dtype = near_z.values.dtype
    width, done = _width(near_z.values.shape[1]), 0
    for part in torch.split(x, EVEN_ROWS):
        for rows, blocks in score_blocks(part, z, width=width, budget=budget * 4 // 5, dtype=dtype):
            for start, scores in blocks:
                merge(near_z.part(done, len(rows)), start, scores)
                merge(near_x.part(start, scores.shape[1]), done, scores.T)
            done += len(rows)
            if progress:
                progress(done, len(x))


def _whole(listed: TopK, queries: Tensor, keys: Tensor, budget: int) -> TopK:
    """Lists in order, those with places that stayed free searched in full."""
    best = in_order(listed)
    return _settled([_Checked(best, (best.indices < 0).any(1))], queries, keys, budget=budget)


def _proven(listed: TopK, queries: Tensor, keys: Tensor, n: int, bound: rounded.Bound, budget: int) -> TopK:
    """The n best of lists of rounded scores, or of all keys where a list does not tell."""
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
    best = scored(listed, queries, keys, n, bias)
    return _Checked(best, ~(best.values[:, -1] > bound(listed.values.amin(1), queries)))


def _settled(found: list[_Checked], queries: Tensor, keys: Tensor, *, bias: Tensor | None = None, budget: int) -> TopK:
    """With what is open searched in full."""
    best = joined([part.best for part in found])
    places = torch.cat([part.open for part in found]).nonzero()[:, 0]
    n = best.values.shape[1]
    for some in torch.split(places, AT_ONCE) if len(places) else ():
        rows = queries[some]
        again = _in_full(rows, keys, min(n + SPARE, len(keys)), bias=bias, budget=budget)
        best.values[some], best.indices[some] = scored(again, rows, keys, n, bias)
    return best


def scored(listed: TopK, queries: Tensor, keys: Tensor, n: int, bias: Tensor | None) -> TopK:
    """The n best of each list, by scores that are the same to the last bit in whichever list they are."""
    places = listed.indices.clamp_min(0)
    values = products(queries, keys, places.to(torch.int32))
    if bias is not None:
        values += bias.to(values)[places]
    values.masked_fill_((listed.values == -torch.inf) | (listed.indices < 0), -torch.inf)  # where there is nothing
    found = in_order(TopK(values, listed.indices))
    return TopK(found.values[:, :n].contiguous(), found.indices[:, :n].contiguous())


def _width(n: int) -> int:
    """Keys of a block of scores."""
    return max(KEY_BLOCK, 16 * n)
