"""The second stage of an alignment: its evidence, induced lexicons and evaluations with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from bilex.entry import Entry
from bilex.evaluation.calibration import calibration_error
from bilex.evaluation.precision import figures, gold_matrix
from bilex.lexicon import Lexicon
from bilex.rerank.evidence import Evidence
from bilex.retrieval.sides import Sides
from bilex.run.given import given_pairs
from bilex.training.negatives import is_gold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bilex.alignment import Alignment
    from bilex.evaluation.precision import Evaluation
    from bilex.lexicon import LexiconIndex
    from bilex.rerank.reranker import BoundReranker, Ranked
    from bilex.retrieval import Index


def known_pairs(alignment: Alignment) -> Lexicon:
    """The dictionary that the second stage learns from: train, and dev if it was held out of train.

    Pairs that were added because both words are spelt alike are left out.
    """
    separate = alignment.provenance["inputs"]["dev"] is not None
    return given_pairs(alignment.train, None if separate else alignment.dev, alignment.provenance)


def evidence(alignment: Alignment) -> Evidence:
    """What the signals of an alignment are computed from."""
    words: Sides[Sequence[str]] = Sides(alignment.source.words, alignment.target.words)
    decided = None if alignment.reranker is None else alignment.reranker.decided
    pairs = _known_rows(alignment) if decided is None else decided.pairs
    return Evidence(words=words, rows=Sides(alignment.source_rows, alignment.target_rows), pairs=pairs)


def decided_pairs(alignment: Alignment) -> Lexicon:
    """The pairs that a second stage was learnt from, if it has learnt from decisions of people; else none."""
    decided = None if alignment.reranker is None else alignment.reranker.decided
    source, target = alignment.source.words, alignment.target.words
    pairs = [] if decided is None else decided.pairs.tolist()
    return Lexicon.from_pairs((source[i], target[j]) for i, j in pairs)


def _known_rows(alignment: Alignment) -> NDArray[np.int64]:
    """The pairs of the dictionary as rows of the tables: (p, 2)."""
    fold_case = alignment.provenance["inputs"].get("fold_case", False)
    return known_pairs(alignment).index(alignment.source, alignment.target, fold_case=fold_case).sorted_pairs


def likely(ranked: Ranked, further: float) -> NDArray[np.bool_]:
    """The first translation of each word, and further ones of at least the probability `further`: (q, n)."""
    listed: NDArray[np.bool_] = (np.arange(ranked.targets.shape[1]) == 0) | (ranked.confidences >= further)
    return listed


def entries(ranked: Ranked, words: Sides[Sequence[str]], listed: NDArray[np.bool_]) -> list[Entry]:
    """The induced lexicon of the first source words: their translations that are listed (q, n)."""
    found = []
    for i, (targets, scores, confidences, any_right) in enumerate(zip(*(c.tolist() for c in ranked), strict=True)):
        for rank, place in enumerate(listed[i].nonzero()[0].tolist(), 1):
            entry = Entry(words.source[i], words.target[targets[place]], scores[place], rank)
            found.append(entry._replace(confidence=confidences[place], any_right=any_right[-1]))
    return found


def most_confident(
    found: list[Entry], *, min_confidence: float | None, expected_precision: float | None
) -> list[Entry]:
    """Found entries with at least this probability; the most confident ones whose mean probability is this precision.

    Entries of the dictionary and of a person always stay.
    """
    threshold = min_confidence or 0.0
    if expected_precision is not None:
        ordered = -np.sort([-entry.confidence for entry in found if entry.origin == "found"])
        means = ordered.cumsum() / np.arange(1, len(ordered) + 1)
        enough = (means >= expected_precision).nonzero()[0]
        threshold = max(threshold, float(ordered[enough[-1]]) if len(enough) else np.inf)
    return [entry for entry in found if entry.origin != "found" or entry.confidence >= threshold]


def evaluated(by_vectors: Evaluation, stage: BoundReranker, index: Index, lexicon: LexiconIndex) -> Evaluation:
    """The evaluation of the second stage. Words whose gold targets are no candidates keep their rank."""
    words, rows = list(lexicon.sources), torch.tensor(list(lexicon.sources.values()), dtype=torch.long)
    ranked = stage.rank(index, rows.numpy(), stage.reranker.candidates)
    right = is_gold(torch.from_numpy(ranked.targets), gold_matrix(lexicon.gold, rows))
    before = torch.tensor([by_vectors.ranks[word] for word in words], dtype=torch.long)
    ranks = torch.where(right.any(1), right.to(torch.int8).argmax(1) + 1, before)
    return replace(
        by_vectors,
        **figures(ranks, words, rows, lexicon.sources_total, len(index.x)),
        vectors_only=by_vectors,
        calibration_error=calibration_error(ranked.confidences[:, 0], right[:, 0].numpy()),
    )
