"""A run opened for looking into it: everything behind the page, without the web."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from bilex.entry import Entry
from bilex.explorer.batches import Batches
from bilex.explorer.entries import Entries
from bilex.explorer.preparation import Preparation
from bilex.explorer.search import Query, Ranked, Search, Wanted
from bilex.explorer.translations_cache import Induced, N
from bilex.explorer.words import WordIndex
from bilex.retrieval import CSLS
from bilex.run.corrected import corrected
from bilex.run.given import given_entries, scored, with_given

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Future

    from torch import Tensor

    from bilex.alignment import Alignment
    from bilex.retrieval.base import Direction, Side
    from bilex.run.corrections import Corrections
    from bilex.table import EmbeddingTable

OTHER: dict[Side, Side] = {"source": "target", "target": "source"}
DIRECTION: dict[Side, Direction] = {"source": "forward", "target": "backward"}


class NotReadyError(Exception):
    """What is asked for is still being prepared."""


class Explorer:
    """An alignment with its mapped tables in memory, its search, its induced lexicon and its corrections."""

    def __init__(self, alignment: Alignment, corrections: Corrections, *, k: int = 10) -> None:
        self.retrieval = CSLS(k=k)
        self.alignment, self.corrections = alignment, corrections
        self.index = alignment.index(self.retrieval)
        self.search = Search(self.index, self.retrieval)
        self.words: dict[Side, WordIndex] = {side: WordIndex(self.table(side).words) for side in OTHER}
        self.induced = Induced(self.index, self.retrieval, alignment.folder)
        self.preparation = Preparation(self.induced)
        self._batches: Batches[Wanted, Query, Ranked] = Batches(self.search)

    def close(self) -> None:
        """End the threads and close the file of corrections."""
        self.preparation.stop()
        self._batches.close()
        self.corrections.close()

    def table(self, side: Side) -> EmbeddingTable:
        """The words and vectors of one language."""
        return self.alignment.source if side == "source" else self.alignment.target

    def names(self) -> dict[Side, str]:
        """What to call the two languages: the names of their files, where they differ."""
        inputs = self.alignment.provenance.get("inputs", {})
        files: dict[Side, Any] = {side: (inputs.get(side) or {}).get("file") for side in OTHER}
        stems: dict[Side, str] = {side: Path(file).name.split(".")[0] if file else "" for side, file in files.items()}
        if all(stems.values()) and stems["source"] != stems["target"]:
            return stems
        return {"source": "source", "target": "target"}

    def translate(self, side: Side, row: int | None, vector: Tensor, n: int) -> Future[Ranked] | Ranked:
        """The best translations of a word: at once, if they were found before."""
        direction, other = DIRECTION[side], OTHER[side]
        best = self.induced.best.get(direction)
        if row is not None and best is not None and n <= N and all(map(self.search.ready, OTHER)):
            return self.search.known(direction, row, best.rows[row, :n].long(), best.scores[row, :n])
        return self._ask(Wanted(other, "best"), Query(vector, n, row))

    def explain(self, side: Side, row: int | None, vector: Tensor, n: int, also: Iterable[int] = ()) -> Future[Ranked]:
        """The best translations and the nearest words of the other language, with their ranks by score and cosine.

        also: rows of further candidates.
        """
        return self._ask(Wanted(OTHER[side], "explained"), Query(vector, n, row, tuple(also)))

    def neighbours(self, side: Side, row: int | None, vector: Tensor, n: int) -> Future[Ranked]:
        """The nearest words of that language itself."""
        return self._batches.submit(Wanted(side, "near"), Query(vector, n, row))

    def vector(self, side: Side, word: str) -> tuple[int | None, Tensor]:
        """Row and mapped vector of a word; no row, if its vector is made of subwords. TableError if there is none."""
        table = self.table(side)
        row = table.index.get(word)
        if row is not None:
            return row, self.search.rows(side)[row]
        made = torch.from_numpy(table.vector(word)).to(self.alignment.device)
        return None, self.alignment.map_rows(made[None], side)[0]

    def back(self, side: Side, rows: list[int]) -> list[int] | None:
        """The best translations of some words into the other language, if they were found before."""
        best = self.induced.best.get(DIRECTION[side])
        return None if best is None else best.rows[rows, 0].tolist()

    @cached_property
    def given(self) -> dict[Side, dict[str, list[str]]]:
        """What the dictionary gives for each word, by the language of the word."""
        found: dict[Side, dict[str, list[str]]] = {side: {} for side in OTHER}
        for side, words in found.items():
            for entry in given_entries(self.alignment, direction=DIRECTION[side]):
                words.setdefault(entry.source, []).append(entry.target)
        return found

    def given_rows(self, side: Side, word: str) -> list[int]:
        """The rows of what the dictionary gives for a word, as far as it has vectors."""
        index = self.table(OTHER[side]).index
        return [index[given] for given in self.given[side].get(word, ()) if given in index]

    def rate(self, side: Side, row: int, candidates: list[int]) -> Ranked | None:
        """Some candidates of a word with their figures, in the order given; none while these are not ready."""
        if not all(map(self.search.ready, OTHER)):
            return None
        places = torch.tensor(candidates, device=self.alignment.device)
        scores = self.index.scores(torch.full_like(places, row), places, DIRECTION[side])
        return self.search.known(DIRECTION[side], row, places, scores)

    @cached_property
    def entries(self) -> Entries:
        """The lexicon: what the dictionary gives, and for all other words what was induced."""
        best = self.induced.best
        if len(best) < 2:
            raise NotReadyError("the lexicon is still being induced")
        given: dict[int, list[Entry]] = {}
        for entry in scored(self.alignment, given_entries(self.alignment), retrieval=self.retrieval):
            if entry.source in self.table("source"):
                given.setdefault(self.table("source").index[entry.source], []).append(entry)
        return Entries(best["forward"], best["backward"], self.words["source"], self.words["target"], given)

    def suggestion(self, row: int) -> str:
        """The translation that the lexicon has for a source word: the first one that is given, or the best found."""
        given = self.entries.given.get(row)
        return given[0].target if given else self.table("target").words[int(self.entries.target[row])]

    def lexicon(self) -> list[Entry]:
        """Every source word with what is given or its best translation, as far as nothing else was decided."""
        entries, source, target = self.entries, self.table("source").words, self.table("target").words
        scores = self.induced.best["forward"].scores[:, 0].tolist()
        found = zip(source, entries.target.tolist(), scores, strict=True)
        made = [Entry(word, target[j], score, 1) for word, j, score in found]
        decided = corrected(with_given(self.alignment, made, n=1, retrieval=self.retrieval), self.corrections)
        return scored(self.alignment, decided, retrieval=self.retrieval)

    def _ask(self, wanted: Wanted, query: Query) -> Future[Ranked]:
        if not self.search.ready(wanted.side):
            raise NotReadyError("the neighbourhoods of all words are still being measured, once for this run")
        return self._batches.submit(wanted, query)
