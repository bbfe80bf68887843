"""Examples to check by hand: right and wrong translations, possible gaps of the dictionary, and doubtful pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bilex.alignment import Alignment, Translation
    from bilex.coverage import LexiconIndex
    from bilex.report.figures import Figures

MAX_EXAMPLES = 15
"""Words in each list at most."""
ANSWERS = 3
"""Translations shown for each word."""
DOUBTFUL_RANK = 100
"""A trained pair is doubtful if its target ranks below this."""


@dataclass(frozen=True)
class Example:
    """A word, its best translations, those of the dictionary, the best rank of these, and the score of the first."""

    word: str
    answers: tuple[str, ...]
    gold: tuple[str, ...]
    rank: int
    score: float


def right(alignment: Alignment, figures: Figures) -> list[Example]:
    """Some words whose best translation is in the dictionary, from frequent to rare."""
    return _examples(alignment, figures, _spread([word for word, rank in _ranked(figures) if rank == 1]))


def wrong(alignment: Alignment, figures: Figures) -> list[Example]:
    """Some words whose best translation is not in the dictionary, from frequent to rare."""
    return _examples(alignment, figures, _spread([word for word, rank in _ranked(figures) if rank > 1]))


def gaps(alignment: Alignment, figures: Figures) -> list[Example]:
    """Translations that count as wrong although both directions agree on them, highest scores first.

    They may be right translations that the dictionary lacks.
    """
    found = _examples(alignment, figures, [word for word, rank in _ranked(figures) if rank > 1])
    answers = [example.answers[0] for example in found]
    returned = alignment.translate(answers, 1, direction="backward")
    agreed = [
        example
        for example, back in zip(found, returned, strict=True)
        if back.candidates and back.candidates[0].word == example.word
    ]
    return sorted(agreed, key=lambda example: -example.score)[:MAX_EXAMPLES]


def doubtful_pairs(alignment: Alignment, *, fold_case: bool) -> list[Example]:
    """Pairs that were trained on, but whose targets still have the lowest ranks."""
    indexed = alignment.train.index(alignment.source, alignment.target, fold_case=fold_case)
    if not indexed.pairs_covered:
        return []
    index, pairs = alignment.index(), torch.from_numpy(indexed.pairs).to(alignment.device)
    ranks = index.ranks(index.x[pairs[:, 0]], pairs[:, 1:]).cpu()
    worst = ranks.argsort(descending=True, stable=True)[:MAX_EXAMPLES]
    chosen = [(int(pairs[i, 0]), int(pairs[i, 1]), int(ranks[i])) for i in worst if ranks[i] > DOUBTFUL_RANK]
    words = [alignment.source.words[row] for row, _, _ in chosen]
    return [
        _example(translation, (alignment.target.words[column],), rank)
        for translation, (_, column, rank) in zip(
            alignment.translate(words, ANSWERS, vectors_only=True), chosen, strict=True
        )
    ]


def _ranked(figures: Figures) -> list[tuple[str, int]]:
    """Words of the dictionary with their ranks, the most frequent first."""
    rows = figures.indexed.sources
    return sorted(figures.csls.ranks.items(), key=lambda item: rows[item[0]])


def _spread(words: Sequence[str]) -> list[str]:
    """A sample of `MAX_EXAMPLES` words at equal distances."""
    count = min(MAX_EXAMPLES, len(words))
    return [words[i * len(words) // count] for i in range(count)]


def _examples(alignment: Alignment, figures: Figures, words: Sequence[str]) -> list[Example]:
    """Examples with the words as the table spells them; letter case may differ from that in the dictionary."""
    rows = [figures.indexed.sources[word] for word in words]
    found = alignment.translate([alignment.source.words[row] for row in rows], ANSWERS, vectors_only=True)
    return [
        _example(translation, _gold(alignment, figures.indexed, row), figures.csls.ranks[word])
        for translation, row, word in zip(found, rows, words, strict=True)
    ]


def _gold(alignment: Alignment, indexed: LexiconIndex, row: int) -> tuple[str, ...]:
    return tuple(alignment.target.words[column] for column in indexed.gold[row])


def _example(translation: Translation, gold: tuple[str, ...], rank: int) -> Example:
    answers = tuple(candidate.word for candidate in translation.candidates)
    return Example(translation.word, answers, gold, rank, translation.candidates[0].score)
