"""Precision of translations against a dictionary, over the covered source words and over all of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch

from bilex.page.display import Displayed, format_count
from bilex.retrieval.sides import Sides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from bilex.lexicon import LexiconIndex
    from bilex.page.tables import Row, Table
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
    vectors_only: Evaluation | None = None
    """The same by the vectors alone, if there is a second stage."""
    calibration_error: float | None = None
    """Expected calibration error of the probabilities of the first translations, if there is a second stage."""

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
            **self._second_stage(),
            "bands": [{"first": b.first, "last": b.last, "covered": b.covered, **asdict(b.scores)} for b in self.bands],
        }

    def _second_stage(self) -> dict[str, Any]:
        if self.vectors_only is None:
            return {}
        return {"vectors_only": asdict(self.vectors_only.scores), "calibration_error": self.calibration_error}

    def _line(self) -> str:
        figures = ", ".join(f"{name} {figure}" for name, figure in zip(FIGURES, self.scores.shown(), strict=True))
        stage = (
            "" if self.vectors_only is None else f", second stage (vectors only {self.vectors_only.scores.shown()[0]})"
        )
        seen = f"; {format_count(self.train_overlap, 'source word')} trained on" if self.train_overlap else ""
        over = f"over {self.covered:,} of {format_count(self.sources, 'source word')}"
        return f"{figures} {over}, {self.direction}, {self.retrieval}{stage}{seen}"

    def _preview(self) -> Table:
        from bilex.page.tables import Table, row

        rows: tuple[Row, ...] = (
            row(f"covered ({self.covered:,})", *self.scores.shown()),
            row(f"all ({self.sources:,})", *self.scores_all.shown()),
        )
        if self.vectors_only is not None:
            rows += (row(f"vectors only ({self.covered:,})", *self.vectors_only.scores.shown()),)
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
        **figures(ranks, words, rows, lexicon.sources_total, len(table)),
    )


def figures(ranks: Tensor, words: Sequence[str], rows: Tensor, sources: int, size: int) -> dict[str, Any]:
    """All figures that follow from the ranks of the covered source words: (s,).

    words and rows: of these words; sources: all source words of the dictionary; size: of the table.
    """
    return {
        "scores": Scores.of(ranks, len(words)),
        "scores_all": Scores.of(ranks, sources),
        "bands": _bands(rows, ranks, size),
        "ranks": dict(zip(words, ranks.tolist(), strict=True)),
    }


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
