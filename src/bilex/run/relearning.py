"""The second stage learnt anew, from the dictionary and from what people have decided in `bilex explore`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bilex.errors import AlignmentError
from bilex.rerank.candidates import find_candidates
from bilex.rerank.cross_fitting import Lists
from bilex.rerank.learning import SecondStage
from bilex.rerank.reranker import RETRIEVAL, Decided, Reranker
from bilex.run.second_stage import evidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bilex.alignment import Alignment


def relearn(
    alignment: Alignment, right: Iterable[tuple[str, str]], refused: Iterable[tuple[str, str]] = ()
) -> Reranker:
    """The second stage of an alignment, learnt from these right and refused pairs too.

    The mapping stays, so that this takes seconds. It was not trained on words that the dictionary does not have, so
    they are learnt from as they are found. Words of the dictionary keep the candidates that were found for them without
    it, and only what is right among these changes. All that is right of a word that people have decided about are the
    pairs in `right`, and those of the dictionary that are not in `refused`.
    """
    before = alignment.reranker and alignment.reranker.original
    if before is None or not before.lists:
        found = "none" if before is None else "one that an earlier version of bilex made, without what it learnt from"
        raise AlignmentError(
            f"to learn from decisions, a run needs a second stage, and this one has {found}; align again, with a "
            "dictionary of some hundred words or more"
        )
    alignment = alignment.reranked(before)
    known = evidence(alignment).pairs
    added, removed = (_rows(alignment, pairs) for pairs in (right, refused))
    decided = np.union1d(added[:, 0], removed[:, 0])
    if not len(decided):
        raise AlignmentError("found no decision about a word of the source table; decide about some entries first")
    pairs = np.unique(np.concatenate([_without(known, removed), added]), axis=0)
    lists = [part.judged_by(pairs) for part in before.lists]
    settings = SecondStage(candidates=before.candidates, folds=len(lists))
    others = _found(alignment, np.setdiff1d(decided, known[:, 0]), pairs)
    learnt = settings.learn(before.signals, lists, before.summary.left_out, others)
    return replace(learnt, lists=(), decided=Decided(words=len(decided), pairs=pairs, before=before))


def _found(alignment: Alignment, sources: NDArray[np.int64], pairs: NDArray[np.int64]) -> Lists | None:
    """The lists of source words that the dictionary does not have; None if there are none."""
    stage = alignment.stage()
    if stage is None or not len(sources):
        return None
    candidates = find_candidates(alignment.index(RETRIEVAL), sources, stage.reranker.candidates)
    return Lists.of(candidates, stage.features, pairs)


def _rows(alignment: Alignment, pairs: Iterable[tuple[str, str]]) -> NDArray[np.int64]:
    """The pairs of which both words are in the tables, as rows: (p, 2)."""
    source, target = (table.index for table in alignment.tables)
    rows = [(source[s], target[t]) for s, t in pairs if s in source and t in target]
    return np.array(sorted(rows), dtype=np.int64).reshape(-1, 2)


def _without(pairs: NDArray[np.int64], removed: NDArray[np.int64]) -> NDArray[np.int64]:
    """(p, 2), (r, 2) → (q, 2)."""
    width = 1 + max(int(pairs[:, 1].max(initial=0)), int(removed[:, 1].max(initial=0)))
    keys, refused = (rows[:, 0] * width + rows[:, 1] for rows in (pairs, removed))
    return pairs[~np.isin(keys, refused)]
