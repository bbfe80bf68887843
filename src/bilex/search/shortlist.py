"""Search by shortlists: list keys by rounded scores, rescore them, prove the result by a bound, or fall back."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from bilex.search.blocks import QUERY_BLOCK, ROUNDING_ERROR
from bilex.search.full_precision import search_in_full
from bilex.search.lists import TopK, concatenate, empty_lists, lists_above, lowest, merge, sort_lists
from bilex.search.problem import SPARE_NEIGHBOURS, block_width
from bilex.search.products import products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bilex.search.blocks import Progress
    from bilex.search.low_precision import LowPrecision
    from bilex.search.problem import Problem

    Precisions = tuple[type[LowPrecision], ...]
    """Kinds of low precision, in the order in which they are tried."""

TRIAL_QUERIES, GIVE_UP_SHARE = 256, 0.5
"""A precision is given up if more than this share of so many queries stays unproven."""
FALLBACK_BATCH = 16 * QUERY_BLOCK
"""Unproven queries that are searched again at a time."""


class Proof(NamedTuple):
    """The n best of some shortlists, and the queries (q,) of which it is not proven that no other key is better."""

    best: TopK
    unproven: Tensor

    def mostly_fails(self) -> bool:
        """Whether so many are unproven that the precision is to be given up."""
        return bool(self.unproven.float().mean() > GIVE_UP_SHARE)


def search_by_shortlists(problem: Problem, precisions: Precisions, progress: Progress | None = None) -> TopK | None:
    """The n best keys, by the first precision that is worthwhile, then by finer ones; None if none is worthwhile."""
    precision, finer = first_worthwhile(precisions, problem)
    if precision is None:
        return None
    proofs, done, count = list[Proof](), 0, len(problem.queries)
    trial = TRIAL_QUERIES if finer else 0
    for proof in chain(_proofs(problem, precision, 0, trial), _proofs(problem, precision, trial, count)):
        proofs.append(proof)
        done += len(proof.unproven)
        if progress:
            progress(done, count)
        if finer and proof.mostly_fails():
            rest = problem.queries[done:]
            proofs.append(Proof(empty_lists(len(rest), problem.n, rest), torch.ones(len(rest), dtype=torch.bool)))
            break
    return search_unproven(proofs, problem, finer)


def first_worthwhile(precisions: Precisions, *problems: Problem) -> tuple[LowPrecision | None, Precisions]:
    """The first problem in the first precision that is worthwhile for all problems; and the precisions after it."""
    first = problems[0]
    for i, kind in enumerate(precisions):
        if all(kind.is_worthwhile(each.queries, each.keys, each.n) for each in problems):
            precision = kind.of(first.queries, first.keys, bias=first.bias, budget=first.budget)
            if precision is not None:
                return precision, precisions[i + 1 :]
    return None, ()


def first_proving(
    precisions: Precisions, forward: Problem, backward: Problem
) -> tuple[LowPrecision | None, Precisions]:
    """The first precision that is worthwhile both ways and proves enough of a trial; and the precisions after it."""
    precision, finer = first_worthwhile(precisions, forward, backward)
    while precision is not None and finer:
        ways = ((forward, precision), (backward, precision.swapped()))
        trial = chain.from_iterable(_proofs(problem, kind, 0, TRIAL_QUERIES) for problem, kind in ways)
        if not any(proof.mostly_fails() for proof in trial):
            break
        precision, finer = first_worthwhile(finer, forward, backward)
    return precision, finer


def empty_shortlists(problem: Problem, precision: LowPrecision | None, first: int = 0) -> TopK:
    """Shortlists without entries, for rounded scores if there is a precision, of its queries from `first` on.

    With a warm start they only take scores that can be among the n best.
    """
    size = problem.n if precision is None else precision.shortlist_size(problem.n)
    bound = problem.lower_bound()
    if bound is None:
        dtype = None if precision is None else precision.dtype
        return empty_lists(len(problem.queries), min(size, len(problem.keys)), problem.queries, dtype)
    return lists_above(bound - ROUNDING_ERROR if precision is None else precision.threshold(bound, first), size)


def prove(shortlists: TopK, problem: Problem, precision: LowPrecision, first: int) -> Proof:
    """The n best of each shortlist by full scores.

    Proven: the n-th best exceeds the upper bound of every key that is not on the shortlist.
    """
    best = rescore(shortlists, problem.queries, problem.keys, problem.n, problem.bias)
    bound = precision.upper_bound(shortlists.values.amin(1), first)
    return Proof(best, ~(best.values[:, -1] > bound))


def rescore(shortlists: TopK, queries: Tensor, keys: Tensor, n: int, bias: Tensor | None) -> TopK:
    """The n best of each shortlist by full scores, which are the same to the last bit on any list."""
    indices = shortlists.indices.clamp_min(0)
    values = products(queries, keys, indices.to(torch.int32))
    if bias is not None:
        values += bias.to(values)[indices]
    free = (shortlists.values == lowest(shortlists.values.dtype)) | (shortlists.indices < 0)
    values.masked_fill_(free, -torch.inf)
    best = sort_lists(TopK(values, shortlists.indices))
    return TopK(best.values[:, :n].contiguous(), best.indices[:, :n].contiguous())


def search_unproven(proofs: list[Proof], problem: Problem, finer: Precisions) -> TopK:
    """The n best of all queries; the unproven ones are searched again, in finer precisions or in full."""
    best = concatenate([proof.best for proof in proofs])
    rows = torch.cat([proof.unproven for proof in proofs]).nonzero()[:, 0]
    for batch in torch.split(rows, FALLBACK_BATCH) if len(rows) else ():
        rest = problem.part(batch)
        again = search_by_shortlists(rest, finer)
        if again is None:
            lists = search_in_full(rest, extra=SPARE_NEIGHBOURS)
            again = rescore(lists, rest.queries, rest.keys, best.values.shape[1], rest.bias)
        best.values[batch], best.indices[batch] = again
    return best


def _proofs(problem: Problem, precision: LowPrecision, first: int, count: int) -> Iterator[Proof]:
    """The proofs of so many queries, from `first` on, block by block."""
    width = block_width(precision.shortlist_size(problem.n), precision)
    for rows, blocks in precision.blocks(first, count, width=width, budget=problem.budget):
        part = problem.part(slice(first, first + len(rows)))
        shortlists = empty_shortlists(part, precision, first)
        for start, scores in blocks:
            merge(shortlists, start, scores)
        yield prove(shortlists, part, precision, first)
        first += len(rows)
