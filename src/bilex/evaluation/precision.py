"""Precision of translations against a dictionary, over the covered source words and over all of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch

from bilex.page.display import Displayed, format_count
from bilex.retrieval.sides import Sides

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.lexicon import LexiconIndex
    from bilex.page.tables import Table
    from bilex.retrieval import Index
    from bilex.retrieval.sides import Direction
    from bilex.search.blocks import Progress

FIGURES = ("P@1", "P@5", "P@10", "MRR")
BANDS = (0, 1_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
"""First row of each frequency band of source words; results are also given per band."""


@dataclass(frozen=True, kw_only=True)
class Scores:
    """P@n: percentage of source words with a gold target among the n best; MRR: mean of 1 / rank, 0 to 1."""

    p_at_1: float
    p_at_5: float
    p_at_10: float
    mrr: float

    @classmethod
    def of(cls, ranks: Tensor, sources: int) -> Scores:
        """From the ranks of the best gold targets; sources without a rank count as not found."""
        share = [float((ranks <= n).sum()) * 100 / sources if sources else 0.0 for n in (1, 5, 10)]
        mrr = float((1 / ranks.double()).sum()) / sources if sources else 0.0
        return cls(p_at_1=share[0], p_at_5=share[1], p_at_10=share[2], mrr=mrr)

    def shown(self) -> tuple[str, ...]:
        """The figures as text, in the order of `FIGURES`."""
        return f"{self.p_at_1:.1f}", f"{self.p_at_5:.1f}", f"{self.p_at_10:.1f}", f"{self.mrr:.3f}"


@dataclass(frozen=True, kw_only=True)
class Band:
    """Scores of the source words in rows first to last."""

    first: int
    last: int
    covered: int
    scores: Scores


@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation(Displayed):
    """Result of an evaluation. A source word is covered if it and one of its gold targets are in the tables."""

    direction: Direction
    retrieval: str
    sources: int
    covered: int
    scores: Scores
    scores_all: Scores
    bands: tuple[Band, ...]
    train_overlap: int = 0
    """Source words that are in the train or dev lexicon too; if not 0, the figures are too high."""
    ranks: dict[str, int]
    """Rank of the best gold target of every covered source word."""

    @property
    def coverage(self) -> float:
        """Percentage of sources that are covered."""
        return 100 * self.covered / self.sources if self.sources else 0.0

    def to_json(self) -> dict[str, Any]:
        """Flat keys: `p_at_1`, ... over covered source words, `p_at_1_all`, ... over all source words."""
        return {
            "direction": self.direction,
            "retrieval": self.retrieval,
            **asdict(self.scores),
            "covered": self.covered,
            "sources": self.sources,
            "coverage": self.coverage,
            **{f"{name}_all": value for name, value in asdict(self.scores_all).items()},
            "train_overlap": self.train_overlap,
            "bands": [{"first": b.first, "last": b.last, "covered": b.covered, **asdict(b.scores)} for b in self.bands],
        }

    def _line(self) -> str:
        figures = ", ".join(f"{name} {figure}" for name, figure in zip(FIGURES, self.scores.shown(), strict=True))
        seen = f"; {format_count(self.train_overlap, 'source word')} trained on" if self.train_overlap else ""
        over = f"over {self.covered:,} of {format_count(self.sources, 'source word')}"
        return f"{figures} {over}, {self.direction}, {self.retrieval}{seen}"

    def _preview(self) -> Table:
        from bilex.page.tables import Table, row

        rows = (
            row(f"covered ({self.covered:,})", *self.scores.shown()),
            row(f"all ({self.sources:,})", *self.scores_all.shown()),
        )
        return Table("evaluation", "Evaluation", ("source words", *FIGURES), rows)


def evaluate(
    index: Index,
    lexicon: LexiconIndex,
    *,
    direction: Direction = "forward",
    progress: Progress | None = None,
) -> Evaluation:
    """Rank all candidates for every covered source word of the lexicon; sources are words of the query language."""
    words, rows = list(lexicon.sources), torch.tensor(list(lexicon.sources.values()), dtype=torch.long)
    table = Sides(index.x, index.z).along(direction).source
    queries = table[rows]
    ranks = index.ranks(queries, gold_matrix(lexicon.gold, rows), direction, progress=progress).cpu()
    return Evaluation(
        direction=direction,
        retrieval=index.retrieval.name,
        sources=lexicon.sources_total,
        covered=len(words),
        scores=Scores.of(ranks, len(words)),
        scores_all=Scores.of(ranks, lexicon.sources_total),
        bands=_bands(rows, ranks, len(table)),
        ranks=dict(zip(words, ranks.tolist(), strict=True)),
    )


def gold_matrix(gold: dict[int, list[int]], rows: Tensor) -> Tensor:
    """The gold targets of each row, padded with -1: (q, g)."""
    lists = [torch.tensor(gold[row], dtype=torch.long) for row in rows.tolist()]
    return torch.nn.utils.rnn.pad_sequence(lists, batch_first=True, padding_value=-1)


def _bands(rows: Tensor, ranks: Tensor, words: int) -> tuple[Band, ...]:
    bands = []
    for first, end in zip(BANDS, (*BANDS[1:], 2**62), strict=True):
        in_band = ranks[(rows >= first) & (rows < end)]
        if len(in_band):
            last = min(end, words) - 1
            bands.append(Band(first=first, last=last, covered=len(in_band), scores=Scores.of(in_band, len(in_band))))
    return tuple(bands)
