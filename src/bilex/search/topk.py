"""The one neighbour search: exact, blocked, under a memory budget, on any device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from bilex.search.bfloat16 import Sixteen
from bilex.search.blocks import BUDGET, KEY_BLOCK, MOST_ROWS, ROUNDING, score_blocks
from bilex.search.int8 import Eight
from bilex.search.lists import TopK, above, in_order, joined, lowest, merge, nothing
from bilex.search.products import products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.search.blocks import Progress
    from bilex.search.rounding import Rounding

    Known = tuple[Tensor, Tensor]
    """Places of rows that should be near, (q, w) and (m, w)."""
    Kinds = tuple[type[Eight] | type[Sixteen], ...]

EVEN_ROWS = 2496  # of about the size of MOST_ROWS, but a multiple of LANES
SPARE = 5  # rows beyond the last that are looked at, lest the rounding of a block decides who is among the best
AT_ONCE = 16 * MOST_ROWS  # queries searched again after others
TRIED, HOPELESS = 256, 0.5  # where a rounding leaves more than this share of so many open, it is not gone on with
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
    search = _Search(queries, keys, min(n, len(keys)), bias, known, budget)
    found = _by_rounding(search, ROUNDINGS, progress)
    return _in_full(search, progress=progress) if found is None else found


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
    of_x, of_z = known or (None, None)
    forward, backward = _Search(x, z, n, None, of_x, budget), _Search(z, x, n, None, of_z, budget)
    rounding, finer = (None, ()) if matrix is not None else _first_that_proves(forward, backward)
    inverse = None if rounding is None else rounding.backward()
    near_z, near_x = _begun(forward, rounding), _begun(backward, inverse)
    if matrix is None:
        _list_both(x, z, near_z, near_x, rounding, budget, progress)
    else:
        merge(near_z, 0, matrix)
        merge(near_x, 0, matrix.T)
    return _finished(near_z, forward, rounding, finer), _finished(near_x, backward, inverse, finer)


@dataclass(frozen=True)
class _Search:
    """The n best keys of each query, by products and a bias; where some are known that should be near."""

    queries: Tensor
    keys: Tensor
    n: int
    bias: Tensor | None
    known: Tensor | None
    budget: int

    def of(self, queries: Tensor | slice) -> _Search:
        """For some of the queries."""
        known = None if self.known is None else self.known[queries]
        return replace(self, queries=self.queries[queries], known=known)

    def least(self) -> Tensor | None:
        """What the n-th best key of each query has at least, (q,), by those that are known, if they are enough."""
        if self.known is None or not self.known.shape[1] >= self.n > 0:
            return None
        scores = products(self.queries, self.keys, self.known.to(torch.int32))
        if self.bias is not None:
            scores += self.bias.to(scores)[self.known.long()]
        return scores.topk(self.n, dim=1).values[:, -1]


def _first(kinds: Kinds, search: _Search, *others: _Search) -> tuple[Rounding | None, Kinds]:
    """The first kind of rounding that pays, for other searches too, if any does; and the kinds after it."""
    for i, kind in enumerate(kinds):
        if all(kind.pays(each.queries, each.keys, each.n) for each in (search, *others)):
            rounding = kind.of(search.queries, search.keys, bias=search.bias, budget=search.budget)
            if rounding is not None:
                return rounding, kinds[i + 1 :]
    return None, ()


def _by_rounding(search: _Search, kinds: Kinds, progress: Progress | None = None) -> TopK | None:
    """By the first of these kinds that pays, and what it leaves open by the others; None if none pays."""
    rounding, finer = _first(kinds, search)
    if rounding is None:
        return None
    found, done, count = list[_Checked](), 0, len(search.queries)
    tried = TRIED if finer else 0
    for part in chain(_answers(search, rounding, 0, tried), _answers(search, rounding, tried, count)):
        found.append(part)
        done += len(part.open)
        if progress:
            progress(done, count)
        if finer and part.hopeless():
            rest = search.queries[done:]
            found.append(_Checked(nothing(len(rest), search.n, rest), torch.ones(len(rest), dtype=torch.bool)))
            break
    return _settled(found, search, finer)


def _first_that_proves(forward: _Search, backward: _Search) -> tuple[Rounding | None, Kinds]:
    """The first kind of rounding that pays both ways and is not hopeless for a few queries; and the kinds after it."""
    rounding, finer = _first(ROUNDINGS, forward, backward)
    while rounding is not None and finer:
        tried = chain(_answers(forward, rounding, 0, TRIED), _answers(backward, rounding.backward(), 0, TRIED))
        if not any(part.hopeless() for part in tried):
            break
        rounding, finer = _first(finer, forward, backward)
    return rounding, finer


def _answers(search: _Search, rounding: Rounding, first: int, count: int) -> Iterator[_Checked]:
    """What rounded scores tell of so many queries, from the first on, some at a time."""
    width = _width(rounding.longer(search.n), rounding)
    for rows, blocks in rounding.blocks(first, count, width=width, budget=search.budget):
        part = search.of(slice(first, first + len(rows)))
        listed = _begun(part, rounding, first)
        for start, scores in blocks:
            merge(listed, start, scores)
        yield _checked(listed, part, rounding, first)
        first += len(rows)


def _begun(search: _Search, rounding: Rounding | None, first: int = 0) -> TopK:
    """Lists with nothing on them yet, and room only for what may be among the n best, by the keys that are known.

    They are for rounded scores where there is a rounding, of whose queries these are some, from the first on.
    """
    listed, least = search.n if rounding is None else rounding.longer(search.n), search.least()
    if least is None:
        dtype = None if rounding is None else rounding.dtype
        return nothing(len(search.queries), min(listed, len(search.keys)), search.queries, dtype)
    return above(least - ROUNDING if rounding is None else rounding.below(least, first), listed)


def _in_full(search: _Search, *, more: int = 0, progress: Progress | None = None) -> TopK:
    """By the products of the rows as they are, and some more than n."""
    queries, keys = search.queries, search.keys
    n = min(search.n + more, len(keys))
    asked = min(n + 1, len(keys))  # one more tells whether a score that is left out equals the last that is not
    width = _width(n)
    best = [nothing(0, n, queries)]
    for rows, blocks in score_blocks(queries, keys, bias=search.bias, width=width, budget=search.budget, passes=2):
        found = nothing(len(rows), asked, queries)
        for start, scores in islice(blocks, -(-len(keys) // width)):
            merge(found, start, scores)
        found = in_order(found)
        tied = found.values[:, n - 1] == found.values[:, -1] if asked > n > 0 else found.values.new_empty(0)
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


def _finished(listed: TopK, search: _Search, rounding: Rounding | None, finer: Kinds) -> TopK:
    """The n best of lists of all queries, or of all keys where a list does not tell."""
    if rounding is None:
        best = in_order(listed)
        return _settled([_Checked(best, (best.indices < 0).any(1))], search, finer)
    starts = range(0, len(search.queries), MOST_ROWS)
    parts = ((start, listed.part(start, MOST_ROWS), search.of(slice(start, start + MOST_ROWS))) for start in starts)
    return _settled([_checked(some, part, rounding, start) for start, some, part in parts], search, finer)


class _Checked(NamedTuple):
    """The n best of some lists, and which of them (q,) may not be the best of all keys."""

    best: TopK
    open: Tensor

    def hopeless(self) -> bool:
        """Whether so many are open that others of them are not worth trying."""
        return bool(self.open.float().mean() > HOPELESS)


def _checked(listed: TopK, search: _Search, rounding: Rounding, first: int) -> _Checked:
    """The n best of each list of rounded scores by their scores in full.

    If the last of them exceeds what any key that is not on the list can have, they are the best of all.
    """
    best = scored(listed, search.queries, search.keys, search.n, search.bias)
    return _Checked(best, ~(best.values[:, -1] > rounding.at_most(listed.values.amin(1), first)))


def _settled(found: list[_Checked], search: _Search, finer: Kinds) -> TopK:
    """With what is open searched again, by finer kinds of rounding, or in full."""
    best = joined([part.best for part in found])
    places = torch.cat([part.open for part in found]).nonzero()[:, 0]
    for some in torch.split(places, AT_ONCE) if len(places) else ():
        rest = search.of(some)
        again = _by_rounding(rest, finer)
        if again is None:
            again = scored(_in_full(rest, more=SPARE), rest.queries, rest.keys, best.values.shape[1], rest.bias)
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
