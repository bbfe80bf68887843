"""Candidates of a batch of queries, with the terms of their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import torch

from bilex.retrieval.csls import local_mean
from bilex.retrieval.sides import Sides, from_to, other

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.retrieval import CSLS, Index
    from bilex.retrieval.sides import Direction, Side

Kind = Literal["best", "explained", "near"]


class Wanted(NamedTuple):
    """What to search: the table of the candidates, and which details to compute."""

    side: Side
    kind: Kind


class Query(NamedTuple):
    """A unit vector of the shared space, and the number of candidates; `row` is its row in its own table, if any.

    `extra_rows` are further candidates to explain, listed last.
    """

    vector: Tensor
    n: int
    row: int | None = None
    extra_rows: tuple[int, ...] = ()


class Ranked(NamedTuple):
    """Candidates of one query, best first: score = 2 cosine − r(query) − r(candidate)."""

    rows: list[int]
    scores: list[float]
    cosines: list[float]
    penalties: list[float]
    """The r of each candidate."""
    own: float
    """The r of the query."""
    score_ranks: list[int]
    cosine_ranks: list[int]
    """Ranks from 1 among all words of the table; empty unless the kind is `explained`."""


class Search:
    """Search in either table of an index."""

    def __init__(self, index: Index, retrieval: CSLS) -> None:
        self.index, self.k = index, retrieval.k

    def ready(self, side: Side) -> bool:
        """Whether CSLS can search this table: the r of its words have been computed."""
        return side in self.index.penalties

    def rows(self, side: Side) -> Tensor:
        """The table in the shared space."""
        return Sides(self.index.x, self.index.z).of(side)

    def penalty(self, side: Side) -> Tensor:
        """The r of each word of the table."""
        penalty = self.index.penalty(side)
        if penalty is None:
            raise TypeError("an index by CSLS has penalties")
        return penalty

    def __call__(self, key: Wanted, queries: list[Query]) -> list[Ranked]:
        """The candidates of each query. One product (q, d) x (d, m) for all of them."""
        cosines = torch.stack([query.vector for query in queries]) @ self.rows(key.side).T
        if key.kind == "near":
            return [_near(*pair) for pair in zip(queries, cosines, strict=True)]
        penalty, own = self.penalty(key.side), self._own(key.side, queries, cosines)
        scores = torch.add(
            -penalty, cosines, alpha=2
        )  # r(query) is subtracted later: it is the same for all candidates
        best = scores.topk(min(max(query.n for query in queries), len(penalty))).indices
        results = []
        for i, query in enumerate(queries):
            rows = best[i, : query.n]
            if key.kind == "explained":
                nearest = cosines[i].topk(len(rows)).indices
                for more in (nearest, torch.tensor(query.extra_rows, dtype=rows.dtype, device=rows.device)):
                    rows = torch.cat([rows, more[~torch.isin(more, rows)]])
            results.append(_ranked(rows, scores[i], cosines[i], penalty, own[i], explained=key.kind == "explained"))
        return results

    def known(self, direction: Direction, row: int, candidates: Tensor, scores: Tensor) -> Ranked:
        """Candidates that were found earlier for a word of the table, with the terms of their scores."""
        own_side, side = from_to(direction)
        cosines = self.rows(side)[candidates] @ self.rows(own_side)[row]
        penalties, own = self.penalty(side)[candidates], float(self.penalty(own_side)[row])
        return Ranked(candidates.tolist(), scores.tolist(), cosines.tolist(), penalties.tolist(), own, [], [])

    def _own(self, side: Side, queries: list[Query], cosines: Tensor) -> list[float]:
        """The r of each query: from the index if all are words of the other table, else computed from the cosines."""
        own_side = other(side)
        rows = [query.row for query in queries if query.row is not None]
        if len(rows) == len(queries) and self.ready(own_side):
            stored: list[float] = self.penalty(own_side)[rows].tolist()
            return stored
        computed: list[float] = local_mean(cosines, self.k).tolist()
        return computed


def _near(query: Query, cosines: Tensor) -> Ranked:
    """The nearest words by cosine, without the word itself."""
    if query.row is not None:
        cosines[query.row] = -torch.inf
    found = cosines.topk(min(query.n, len(cosines) - (query.row is not None)))
    values = found.values.tolist()
    return Ranked(found.indices.tolist(), values, values, [], 0.0, [], [])


def _ranked(rows: Tensor, scores: Tensor, cosines: Tensor, penalty: Tensor, own: float, *, explained: bool) -> Ranked:
    return Ranked(
        rows.tolist(),
        (scores[rows] - own).tolist(),
        cosines[rows].tolist(),
        penalty[rows].tolist(),
        own,
        _ranks(scores, rows) if explained else [],
        _ranks(cosines, rows) if explained else [],
    )


def _ranks(values: Tensor, rows: Tensor) -> list[int]:
    return [int((values > values[row]).count_nonzero()) + 1 for row in rows]
