"""The one neighbour search: exact, blocked, under a memory budget, on any device."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from bilex.linalg.best import TopK, above, in_order, joined, lowest, merge, nothing
from bilex.linalg.blocks import BUDGET, KEY_BLOCK, MOST_ROWS, ROUNDING, score_blocks
from bilex.linalg.eight import Eight
from bilex.linalg.pairs import products
from bilex.linalg.sixteen import Sixteen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.linalg.blocks import Progress
    from bilex.linalg.rounded import Rounding

    Known = tuple[Tensor, Tensor]
    """Places of rows that should be near, (q, w) and (m, w)."""
    Kinds = tuple[type[Eight] | type[Sixteen], ...]

EVEN_ROWS = 2496  # of about the size of MOST_ROWS, but a multiple of LANES
SPARE = 5  # rows beyond the last that are looked at, lest the rounding of a block decides who is among the best
AT_ONCE = 16 * MOST_ROWS  # queries searched again after others
HOPELESS = 0.5  # where a rounding leaves more than this share of some queries open, the others are not tried with it
ROUNDINGS: Kinds = (Eight, Sixteen)  # the coarsest first: it is the fastest, and leaves the most open


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
    list cannot prove is searched again, with rows rounded less, at last in full (see `rounded`). There, at least n keys
    of each query that were near before (`known`: (q, w)) tell how near the others have to be, which saves time and
    nothing else.
    """
    n = min(n, len(keys))
    found = _by_rounding(queries, keys, n, ROUNDINGS, bias=bias, known=known, budget=budget, progress=progress)
    return _in_full(queries, keys, n, bias=bias, budget=budget, progress=progress) if found is None else found


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
    rounding, finer = (None, ()) if matrix is not None else _first(ROUNDINGS, x, z, n, budget=budget, both=True)
    of_x = None if rounding is None else rounding.backward()
    known_z, known_x = known or (None, None)
    near_z, near_x = _begun(x, z, n, known_z, rounding), _begun(z, x, n, known_x, of_x)
    if matrix is None:
        _list_both(x, z, near_z, near_x, rounding, budget, progress)
    else:
        merge(near_z, 0, matrix)
        merge(near_x, 0, matrix.T)
    if rounding is None or of_x is None:
        return _whole(near_z, x, z, budget), _whole(near_x, z, x, budget)
    return (
        _proven(near_z, x, z, n, rounding, finer, known_z, budget),
        _proven(near_x, z, x, n, of_x, finer, known_x, budget),
    )


def _first(
    kinds: Kinds, queries: Tensor, keys: Tensor, n: int, *, bias: Tensor | None = None, budget: int, both: bool = False
) -> tuple[Rounding | None, Kinds]:
    """The first kind of rounding that pays, if any does, or that pays both ways; and the kinds after it."""
    for i, kind in enumerate(kinds):
        if kind.pays(queries, keys, n) and (not both or kind.pays(keys, queries, n)):
            rounding = kind.of(queries, keys, bias=bias, budget=budget)
            if rounding is not None:
                return rounding, kinds[i + 1 :]
    return None, ()


def _by_rounding(
    queries: Tensor,
    keys: Tensor,
    n: int,
    kinds: Kinds,
    *,
    bias: Tensor | None,
    known: Tensor | None,
    budget: int,
    progress: Progress | None = None,
) -> TopK | None:
    """By the first of these kinds that pays, and what it leaves open by the others; None if none pays."""
    rounding, finer = _first(kinds, queries, keys, n, bias=bias, budget=budget)
    if rounding is None:
        return None
    found, done = list[_Checked](), 0
    for part, blocks in rounding.blocks(0, len(queries), width=_width(rounding.longer(n), rounding), budget=budget):
        rows = queries[done : done + len(part)]
        hints = None if known is None else known[done : done + len(part)]
        least = _least(rows, keys, n, hints, bias)
        if least is None:
            listed = nothing(len(rows), rounding.longer(n), queries, rounding.dtype)
        else:
            listed = above(rounding.below(least, done), rounding.longer(n))
        for start, scores in blocks:
            merge(listed, start, scores)
        found.append(_checked(listed, rows, keys, n, rounding, done, bias))
        done += len(part)
        if progress:
            progress(done, len(queries))
        if finer and found[-1].open.float().mean() > HOPELESS:
            rest = len(queries) - done
            found.append(_Checked(nothing(rest, n, queries), torch.ones(rest, dtype=torch.bool)))
            break
    return _settled(found, queries, keys, finer, bias=bias, known=known, budget=budget)


def _begun(queries: Tensor, keys: Tensor, n: int, known: Tensor | None, rounding: Rounding | None) -> TopK:
    """Lists with nothing on them yet, and room only for what may be among the n best, by the keys that are known.

    They are for rounded scores where there is a rounding.
    """
    listed = n if rounding is None else rounding.longer(n)
    least = _least(queries, keys, n, known, None)
    if least is None:
        return nothing(len(queries), min(listed, len(keys)), queries, None if rounding is None else rounding.dtype)
    return above(least - ROUNDING if rounding is None else rounding.below(least, 0), listed)


def _least(queries: Tensor, keys: Tensor, n: int, known: Tensor | None, bias: Tensor | None) -> Tensor | None:
    """What the n-th best key of each query has at least, (q,), by those that are known, (q, w), if they are enough."""
    if known is None or not known.shape[1] >= n > 0:
        return None
    scores = products(queries, keys, known.to(torch.int32))
    if bias is not None:
        scores += bias.to(scores)[known.long()]
    return scores.topk(n, dim=1).values[:, -1]


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


def _list_both(
    x: Tensor,
    z: Tensor,
    near_z: TopK,
    near_x: TopK,
    rounding: Rounding | None,
    budget: int,
    progress: Progress | None,
) -> None:
    """Put the best of both ways on their lists, in no order, by products of the kind of these."""
    width, budget, done = _width(near_z.values.shape[1], rounding), budget * 4 // 5, 0
    for part in torch.split(x, EVEN_ROWS):
        for rows, blocks in (
            score_blocks(part, z, width=width, budget=budget)
            if rounding is None
            else rounding.blocks(done, len(part), width=width, budget=budget)
        ):
            for start, scores in blocks:
                merge(near_z.part(done, len(rows)), start, scores)
                merge(near_x.part(start, scores.shape[1]), done, scores.T)
            done += len(rows)
            if progress:
                progress(done, len(x))


def _whole(listed: TopK, queries: Tensor, keys: Tensor, budget: int) -> TopK:
    """Lists in order, those with places that stayed free searched in full."""
    best = in_order(listed)
    return _settled([_Checked(best, (best.indices < 0).any(1))], queries, keys, (), budget=budget)


def _proven(
    listed: TopK,
    queries: Tensor,
    keys: Tensor,
    n: int,
    rounding: Rounding,
    finer: Kinds,
    known: Tensor | None,
    budget: int,
) -> TopK:
    """The n best of lists of rounded scores, or of all keys where a list does not tell."""
    found = [
        _checked(listed.part(first, MOST_ROWS), queries[first : first + MOST_ROWS], keys, n, rounding, first)
        for first in range(0, len(queries), MOST_ROWS)
    ]
    return _settled(found, queries, keys, finer, known=known, budget=budget)


class _Checked(NamedTuple):
    """The n best of some lists, and which of them (q,) may not be the best of all keys."""

    best: TopK
    open: Tensor


def _checked(
    listed: TopK,
    queries: Tensor,
    keys: Tensor,
    n: int,
    rounding: Rounding,
    first: int,
    bias: Tensor | None = None,
) -> _Checked:
    """The n best of each list of rounded scores by their scores in full.

    If the last of them exceeds what any key that is not on the list can have, they are the best of all.
    """
    best = scored(listed, queries, keys, n, bias)
    return _Checked(best, ~(best.values[:, -1] > rounding.at_most(listed.values.amin(1), first)))


def _settled(
    found: list[_Checked],
    queries: Tensor,
    keys: Tensor,
    finer: Kinds,
    *,
    bias: Tensor | None = None,
    known: Tensor | None = None,
    budget: int,
) -> TopK:
    """With what is open searched again, by finer kinds of rounding, or in full."""
    best = joined([part.best for part in found])
    places = torch.cat([part.open for part in found]).nonzero()[:, 0]
    n = best.values.shape[1]
    for some in torch.split(places, AT_ONCE) if len(places) else ():
        rows, hints = queries[some], None if known is None else known[some]
        again = _by_rounding(rows, keys, n, finer, bias=bias, known=hints, budget=budget)
        if again is None:
            more = _in_full(rows, keys, min(n + SPARE, len(keys)), bias=bias, budget=budget)
            again = scored(more, rows, keys, n, bias)
        best.values[some], best.indices[some] = again
    return best


def scored(listed: TopK, queries: Tensor, keys: Tensor, n: int, bias: Tensor | None) -> TopK:
    """The n best of each list, by scores that are the same to the last bit in whichever list they are."""
    places = listed.indices.clamp_min(0)
    values = products(queries, keys, places.to(torch.int32))
    if bias is not None:
        values += bias.to(values)[places]
    nothing_there = (listed.values == lowest(listed.values.dtype)) | (listed.indices < 0)
    values.masked_fill_(nothing_there, -torch.inf)
    found = in_order(TopK(values, listed.indices))
    return TopK(found.values[:, :n].contiguous(), found.indices[:, :n].contiguous())


def _width(n: int, rounding: Rounding | None = None) -> int:
    """Keys of a block of scores, where so many are listed of each query."""
    return max(KEY_BLOCK if rounding is None else rounding.key_block, 16 * n)
