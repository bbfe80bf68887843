"""A run opened for browsing: everything behind the page, without the web server."""

from __future__ import annotations

import math
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from bilex.entry import Entry
from bilex.explorer.batches import Batches
from bilex.explorer.entries import Entries
from bilex.explorer.learning import Learning
from bilex.explorer.preparation import NotReadyError, Preparation
from bilex.explorer.review import Review
from bilex.explorer.search import Query, Ranked, Search, Wanted
from bilex.explorer.translations_cache import Best, Induced, N
from bilex.explorer.words import WordIndex
from bilex.rerank.reranker import RETRIEVAL
from bilex.retrieval import CSLS
from bilex.retrieval.sides import SIDES, other
from bilex.run.corrected import corrected
from bilex.run.given import given_entries, scored, with_given

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from concurrent.futures import Future

    from torch import Tensor

    from bilex.alignment import Alignment
    from bilex.explorer.corpus import Corpus
    from bilex.explorer.tags import Tags
    from bilex.retrieval.sides import Direction, Side
    from bilex.run.corrections import Corrections
    from bilex.table import EmbeddingTable

DIRECTION: dict[Side, Direction] = {"source": "forward", "target": "backward"}


class Lexicon(NamedTuple):
    """The induced lexicon, and what has been decided about it."""

    entries: Entries
    review: Review

    def warm_up(self) -> None:
        """Compute the columns of the review list, and take over the decisions."""
        self.entries.warm_up()
        self.review.with_status("open")


class Explorer:
    """An alignment with its mapped tables in memory, the search, the induced lexicon and the corrections."""

    def __init__(
        self,
        alignment: Alignment,
        corrections: Corrections,
        *,
        k: int = 10,
        corpora: Mapping[Side, Corpus] | None = None,
        tags: Mapping[Side, Tags] | None = None,
    ) -> None:
        self.retrieval = CSLS(k=k)
        self.corpora, self.tags = dict(corpora or {}), dict(tags or {})
        self.alignment, self.corrections = alignment, corrections
        self.index = alignment.index(self.retrieval)
        self.search = Search(self.index, self.retrieval)
        self.words: dict[Side, WordIndex] = {side: WordIndex(self.table(side).words) for side in SIDES}
        self.induced = self.induced_by(alignment)
        self.preparation = Preparation(self.induced, self._warm_up)
        self.learning = Learning(self)
        self._batches: Batches[Wanted, Query, Ranked] = Batches(self.search)

    def close(self) -> None:
        """Stop the threads and close the files."""
        self.preparation.stop()
        self.learning.stop()
        self._batches.close()
        self.corrections.close()
        for corpus in self.corpora.values():
            corpus.close()

    @property
    def ranks(self) -> bool:
        """Whether there is a second stage for this retrieval."""
        return self.alignment.reranker is not None and self.retrieval == RETRIEVAL

    def table(self, side: Side) -> EmbeddingTable:
        """The words and vectors of one language."""
        return self.alignment.tables.of(side)

    def names(self) -> dict[Side, str]:
        """Names of the two languages: the names of their files if these differ, else source and target."""
        inputs = self.alignment.provenance.get("inputs", {})
        files: dict[Side, Any] = {side: (inputs.get(side) or {}).get("file") for side in SIDES}
        stems: dict[Side, str] = {side: Path(file).name.split(".")[0] if file else "" for side, file in files.items()}
        if all(stems.values()) and stems["source"] != stems["target"]:
            return stems
        return {"source": "source", "target": "target"}

    def translate(self, side: Side, row: int | None, vector: Tensor, n: int) -> Future[Ranked] | Ranked:
        """The best translations of a word; without a future if they are in the cache."""
        direction, candidates = DIRECTION[side], other(side)
        best = self.induced.best.get(direction)
        if row is not None and best is not None and n <= N and all(map(self.search.ready, SIDES)):
            return self.search.known(direction, row, best.rows[row, :n].long(), best.scores[row, :n])
        return self._submit(Wanted(candidates, "best"), Query(vector, n, row))

    def explain(
        self, side: Side, row: int | None, vector: Tensor, n: int, extra_rows: Iterable[int] = ()
    ) -> Future[Ranked]:
        """The best translations and the nearest words of the other language, with their ranks by score and cosine.

        extra_rows: further candidates.
        """
        return self._submit(Wanted(other(side), "explained"), Query(vector, n, row, tuple(extra_rows)))

    def neighbours(self, side: Side, row: int | None, vector: Tensor, n: int) -> Future[Ranked]:
        """The nearest words of the same language."""
        return self._batches.submit(Wanted(side, "near"), Query(vector, n, row))

    def vector(self, side: Side, word: str) -> tuple[int | None, Tensor]:
        """Row and mapped vector of a word; the row is None if the vector comes from subwords. TableError: no vector."""
        table = self.table(side)
        row = table.index.get(word)
        if row is not None:
            return row, self.search.rows(side)[row]
        vector = torch.from_numpy(table.vector(word)).to(self.alignment.device)
        return None, self.alignment.map_rows(vector[None], side)[0]

    def back(self, side: Side, rows: list[int]) -> list[int] | None:
        """The best translation of each of these words into the other language; None if it is not in the cache."""
        best = self.induced.best.get(DIRECTION[side])
        return None if best is None else best.rows[rows, 0].tolist()

    def confidence(self, side: Side, row: int | None) -> dict[int, float]:
        """The confidence of the translations of a source word, by row, where it is known."""
        if side == "target" or row is None or not self.induced.ready:
            return {}
        columns, values = self.entries.found[row].tolist(), self.entries.found_confidence[row].tolist()
        return {column: value for column, value in zip(columns, values, strict=True) if not math.isnan(value)}

    @cached_property
    def given(self) -> dict[Side, dict[str, list[str]]]:
        """The dictionary translations of each word, by the language of the word."""
        found: dict[Side, dict[str, list[str]]] = {side: {} for side in SIDES}
        for side, words in found.items():
            for entry in given_entries(self.alignment, direction=DIRECTION[side]):
                words.setdefault(entry.source, []).append(entry.target)
        return found

    def given_rows(self, side: Side, word: str) -> list[int]:
        """The rows of the dictionary translations of a word; those without a vector are left out."""
        index = self.table(other(side)).index
        return [index[given] for given in self.given[side].get(word, ()) if given in index]

    def rate(self, side: Side, row: int, candidates: list[int]) -> Ranked | None:
        """Scores of some candidates of a word, in this order; None while the penalties are not ready."""
        if not all(map(self.search.ready, SIDES)):
            return None
        rows = torch.tensor(candidates, device=self.alignment.device)
        scores = self.index.scores(torch.full_like(rows, row), rows, DIRECTION[side])
        return self.search.known(DIRECTION[side], row, rows, scores)

    @property
    def entries(self) -> Entries:
        """The lexicon: the translations of the dictionary, and induced ones for all other words."""
        return self._lexicon.entries

    @property
    def review(self) -> Review:
        """What has been decided about each entry."""
        return self._lexicon.review

    @cached_property
    def _lexicon(self) -> Lexicon:
        if not self.induced.ready:
            raise NotReadyError("The lexicon is still being induced")
        return self._made(self.induced)

    def show(self, alignment: Alignment, induced: Induced) -> None:
        """Put another lexicon in the place of the one that is shown."""
        lexicon = self._made(induced)
        lexicon.warm_up()
        self.alignment, self.induced, self._lexicon = alignment, induced, lexicon

    def induced_by(self, alignment: Alignment) -> Induced:
        """The translations by an alignment that differs from this one in its second stage only."""
        reranker = alignment.reranker if self.ranks else None
        stage = partial(alignment.stage, self.retrieval)
        return Induced(self.index, self.retrieval, alignment.folder, reranker, stage)

    def _made(self, induced: Induced) -> Lexicon:
        given: dict[int, list[Entry]] = {}
        for entry in scored(self.alignment, given_entries(self.alignment), retrieval=self.retrieval):
            if entry.source in self.table("source"):
                given.setdefault(self.table("source").index[entry.source], []).append(entry)
        best, ranked = induced.best, induced.ranked
        forward = best["forward"] if ranked is None else Best(ranked.rows, ranked.scores)
        confidence = None if ranked is None else ranked.confidences.numpy()
        entries = Entries(forward, best["backward"], self.words["source"], self.words["target"], given, confidence)
        translations = partial(self._translations, entries)
        return Lexicon(entries, Review(self.corrections, self.table("source").index, translations))

    @cached_property
    def parts(self) -> list[str]:
        """The part of speech of each source word; empty where it is not known."""
        tags = self.tags.get("source")
        return [tags.of(word).part if tags and tags.parts else "" for word in self.table("source").words]

    def suggestion(self, row: int) -> str:
        """The first translation of a source word in the lexicon."""
        return self.translations(row)[0]

    def translations(self, row: int) -> list[str]:
        """The translations of a source word in the lexicon: all of the dictionary, or the best one found."""
        return self._translations(self.entries, row)

    def _translations(self, entries: Entries, row: int) -> list[str]:
        given = entries.given.get(row)
        return [e.target for e in given] if given else [self.table("target").words[int(entries.target[row])]]

    def lexicon(self) -> list[Entry]:
        """Every source word with the decided translations, else those of the dictionary, else the best one found."""
        entries, source, target = self.entries, self.table("source").words, self.table("target").words
        columns = (entries.target, entries.found_scores[:, 0], entries.found_confidence[:, 0])
        found = zip(source, *(column.tolist() for column in columns), strict=True)
        induced = [Entry(word, target[j], score, 1, confidence=confidence) for word, j, score, confidence in found]
        entries_with_given = with_given(self.alignment, induced, n=1, retrieval=self.retrieval)
        return scored(self.alignment, corrected(entries_with_given, self.corrections), retrieval=self.retrieval)

    def _warm_up(self) -> None:
        """Compute the columns of the review list, and take over the decisions."""
        self._lexicon.warm_up()

    def _submit(self, wanted: Wanted, query: Query) -> Future[Ranked]:
        if not self.search.ready(wanted.side):
            raise NotReadyError(
                "The CSLS neighbourhoods of all words are still being computed; this is done once for each run"
            )
        return self._batches.submit(wanted, query)
