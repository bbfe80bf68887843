"""An alignment, two tables in one space: translate, induce, evaluate, export, save and load."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import torch

from bilex.candidates import Candidate, asked_for, look_up, nearest_words
from bilex.entry import Entry
from bilex.errors import AlignmentError, TableError
from bilex.evaluation.held_out import Agreement, HeldOut
from bilex.evaluation.hubness import Hubness, hubness
from bilex.evaluation.precision import Evaluation, evaluate
from bilex.evaluation.similarity import Similarity, judgement_list, similarity
from bilex.io.write import choose_format
from bilex.lexicon import Lexicon
from bilex.normalize import Normalizer, unit
from bilex.page.display import MAX_SHOWN_ROWS, Displayed, format_count, format_list
from bilex.rerank.reranker import RETRIEVAL
from bilex.retrieval import CSLS, Index, Retrieval
from bilex.retrieval.mutual import is_mutual
from bilex.retrieval.sides import Sides, both_sides, from_to
from bilex.run.given import given_pairs, with_given
from bilex.run.second_stage import decided_pairs, entries, evaluated, evidence, likely, most_confident
from bilex.settings.fields import check_positive
from bilex.storage.array_form import all_finite
from bilex.table import EmbeddingTable
from bilex.text.words import quote, truncate, word_list
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike
    from torch import Tensor

    from bilex.evaluation.similarity import JudgementsLike
    from bilex.frames import Library
    from bilex.io.in_memory import LexiconLike, TableLike
    from bilex.mapping import Mapping
    from bilex.page.tables import Table
    from bilex.rerank.reranker import BoundReranker, Reranker
    from bilex.retrieval.sides import Direction, Side
    from bilex.run.decisions import DecisionsLike
    from bilex.search.blocks import Progress


@dataclass(frozen=True, repr=False)
class Translation(Displayed):
    """A word and its translations, best first. There are none if the word has no vector."""

    word: str
    candidates: tuple[Candidate, ...]
    through: str | None
    """Where its vector came from: "table", "subwords", or None."""
    confidences: tuple[float, ...] = ()
    """The probability of each candidate that a dictionary lists it; empty without a second stage."""
    any_right: float | None = None
    """The probability that a dictionary lists one of these candidates; None without a second stage."""

    @property
    def words(self) -> list[str]:
        """The translations without their scores."""
        return [candidate.word for candidate in self.candidates]

    @property
    def figures(self) -> list[str]:
        """The probability of each candidate if it is known, as 93 %, else its score, as texts."""
        if self.confidences:
            return [f"{100 * confidence:.0f} %" for confidence in self.confidences]
        return [f"{candidate.score:.3f}" for candidate in self.candidates]

    def _line(self) -> str:
        found = [f"{quote(c.word)} {figure}" for c, figure in zip(self.candidates, self.figures, strict=True)]
        through = " (through subwords)" if self.through == "subwords" else ""
        shown = format_list(found, len(found), most=MAX_SHOWN_ROWS) or "nothing, it has no vector"
        return f"{quote(self.word)}{through} -> {shown}"

    def _preview(self) -> Table:
        from bilex.page.tables import Table, row

        rows = tuple(row(truncate(c.word), figure) for c, figure in zip(self.candidates, self.figures, strict=True))
        name = "probability" if self.confidences else "score"
        return Table("translation", "Translations", ("translation", name), rows)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Alignment(Displayed):
    """Two tables, the fitted mapping, and the provenance of both."""

    source: EmbeddingTable
    target: EmbeddingTable
    source_normalizer: Normalizer
    target_normalizer: Normalizer
    mapping: Mapping
    train: Lexicon
    dev: Lexicon | None
    device: torch.device
    provenance: dict[str, Any]
    trace: Trace = field(default_factory=Trace)
    reranker: Reranker | None = None
    """The second stage, which ranks the candidates by all that is known of them; None: by the vectors alone."""
    folder: Path | None = None
    """The run folder that it was opened from; computed penalties are cached there."""
    _indexes: dict[Retrieval, Index] = field(default_factory=dict)

    @property
    def tables(self) -> Sides[EmbeddingTable]:
        """Both tables, not normalized."""
        return Sides(self.source, self.target)

    def save(self, path: str | PathLike[str], *, replace: bool = False) -> None:
        """Write a run folder atomically. It must not exist yet; with `replace`, it may be a run, which is replaced."""
        from bilex.run.folder import save

        save(self, path, replace=replace)

    @classmethod
    def load(cls, path: str | PathLike[str], *, device: str | None = None) -> Alignment:
        """Open a run folder."""
        from bilex.run.folder import load

        return load(path, device=device)

    def refitted(self, mapping: Mapping, *, train: Lexicon, dev: Lexicon | None) -> Alignment:
        """The same tables with a mapping that was fitted to other dictionaries. The normalized tables are shared."""
        other = replace(self, mapping=mapping, train=train, dev=dev, reranker=None, folder=None, _indexes={})
        shared = ("_normalized_source", "_normalized_target")
        vars(other).update({name: vars(self)[name] for name in shared if name in vars(self)})
        return other

    def reranked(self, reranker: Reranker) -> Alignment:
        """The same with another second stage. What is computed of the mapping is shared."""
        other = replace(self, reranker=reranker)
        known = {name: value for name, value in vars(self).items() if name != "_bound_reranker"}
        vars(other).update({name: value for name, value in known.items() if name not in vars(other)})
        return other

    def relearnt(self, corrections: DecisionsLike) -> Alignment:
        """The same with a second stage that has learnt from decisions too: a run folder or a file of `bilex explore`.

        The mapping stays, so that this takes seconds. `reranked(alignment.reranker.original)` takes it back.
        """
        from bilex.run.decisions import Decisions
        from bilex.run.relearning import relearn

        decisions = Decisions.of(corrections)
        return self.reranked(relearn(self, decisions.right, decisions.refused))

    @property
    def dictionary(self) -> Lexicon:
        """The dictionary that was given: train, and dev if it was held out of train."""
        if self.dev is None or self.provenance["inputs"]["dev"] is not None:
            return self.train
        return self.train.union(self.dev)

    @cached_property
    def given(self) -> Lexicon:
        """The pairs that `induce` puts first: the dictionary, and the dev dictionary if one was given.

        Pairs that were added because both words are spelt alike are left out.
        """
        return given_pairs(self.train, self.dev, self.provenance)

    @property
    def held_out(self) -> HeldOut | None:
        """Precision on held-out words of the dictionary, if it was measured."""
        found = self.provenance.get("held_out")
        return None if found is None else HeldOut.read(found)

    @property
    def agreement(self) -> Agreement | None:
        """Agreement of the induced pairs with each other, if there is no `held_out`."""
        found = self.provenance.get("agreement")
        return None if found is None else Agreement.read(found)

    @cached_property
    def source_rows(self) -> Tensor:
        """The source table in the shared space, unit rows: (n, e)."""
        return self._unit(self.mapping.source(self._normalized_source), "source")

    @cached_property
    def target_rows(self) -> Tensor:
        """The target table in the shared space, unit rows: (m, e)."""
        return self._unit(self.mapping.target(self._normalized_target), "target")

    def normalized(self, side: Side = "source") -> Tensor:
        """The source or target table, normalized but not mapped."""
        return self._normalized_source if side == "source" else self._normalized_target

    def map_rows(self, rows: Tensor, side: Side = "source") -> Tensor:
        """Map new vectors of the source or target space to the shared space, unit rows: (q, d) → (q, e)."""
        if side == "source":
            mapped = self.mapping.source(self.source_normalizer(rows), among=self._normalized_source)
        else:
            mapped = self.mapping.target(self.target_normalizer(rows), among=self._normalized_target)
        return self._unit(mapped, side)

    def apply(self, table: TableLike, side: Side = "source") -> EmbeddingTable:
        """Map another table of the source or target space, such as one with more words, to the shared space."""
        table, own = EmbeddingTable.of(table), self._table(side)
        if table.dim != own.dim:
            raise TableError(f"the table has {table.dim} dimensions; the {side} side of this alignment has {own.dim}")
        rows = torch.from_numpy(table.rows).to(self.device)
        return replace(table, rows=self.map_rows(rows, side).cpu().numpy(), subwords=None)

    def index(self, retrieval: Retrieval | None = None) -> Index:
        """The index of both mapped tables; one per kind of retrieval is made and cached."""
        retrieval = retrieval or CSLS()
        if retrieval not in self._indexes:
            index = retrieval.index(self.source_rows, self.target_rows)
            if self.folder is not None:
                from bilex.run.penalty_cache import PenaltyCache

                sizes = Sides(len(self.source), len(self.target))
                index = replace(index, cache=PenaltyCache(self.folder, retrieval, self.device, sizes))
            self._indexes[retrieval] = index
        return self._indexes[retrieval]

    def stage(self, retrieval: Retrieval | None = None, *, direction: Direction = "forward") -> BoundReranker | None:
        """The second stage, ready to rank; None if there is none, or if it is not for this retrieval and direction."""
        applies = direction == "forward" and retrieval in (None, RETRIEVAL)
        return self._bound_reranker if applies else None

    @cached_property
    def _bound_reranker(self) -> BoundReranker | None:
        return None if self.reranker is None else self.reranker.bind(evidence(self))

    @overload
    def translate(  # type: ignore[overload-overlap]  # a string is one word, and no Iterable[str] here
        self,
        words: str,
        n: int = 10,
        *,
        direction: Direction = "forward",
        retrieval: Retrieval | None = None,
        vectors_only: bool = False,
        progress: Progress | None = None,
    ) -> Translation: ...

    @overload
    def translate(
        self,
        words: Iterable[str],
        n: int = 10,
        *,
        direction: Direction = "forward",
        retrieval: Retrieval | None = None,
        vectors_only: bool = False,
        progress: Progress | None = None,
    ) -> list[Translation]: ...

    def translate(
        self,
        words: str | Iterable[str],
        n: int = 10,
        *,
        direction: Direction = "forward",
        retrieval: Retrieval | None = None,
        vectors_only: bool = False,
        progress: Progress | None = None,
    ) -> Translation | list[Translation]:
        """The n best translations of a word, or of several words, in their order.

        With a second stage they have a confidence, except for words whose vector comes from subwords.
        """
        check_positive(n=n)
        stage = None if vectors_only else self.stage(retrieval, direction=direction)
        translations = self._translations(word_list(words), n, direction, retrieval, progress)
        if stage is not None:
            translations = self._ranked(stage, translations, n, retrieval, progress)
        return translations[0] if isinstance(words, str) else translations

    def _ranked(
        self,
        stage: BoundReranker,
        translations: list[Translation],
        n: int,
        retrieval: Retrieval | None,
        progress: Progress | None,
    ) -> list[Translation]:
        """The translations of the words in the table by the second stage; the others as they are."""
        rows = np.array([self.source.index[t.word] for t in translations if t.through == "table"], dtype=np.int64)
        ranked = stage.rank(self.index(retrieval), rows, n, progress=progress)
        lists = zip(*(column.tolist() for column in ranked), strict=True)
        return [
            self._rated(translation, *next(lists)) if translation.through == "table" else translation
            for translation in translations
        ]

    def _rated(
        self,
        translation: Translation,
        rows: list[int],
        scores: list[float],
        confidences: list[float],
        any_right: list[float],
    ) -> Translation:
        candidates = tuple(Candidate(self.target.words[j], score) for j, score in zip(rows, scores, strict=True))
        any_of_these = any_right[len(candidates) - 1]
        return replace(translation, candidates=candidates, confidences=tuple(confidences), any_right=any_of_these)

    def _translations(
        self, words: list[str], n: int, direction: Direction, retrieval: Retrieval | None, progress: Progress | None
    ) -> list[Translation]:
        queries, others = self.tables.along(direction)
        vectors = [_vector(queries, word) for word in words]
        known = [vector for vector in vectors if vector is not None]
        if not known:
            return [Translation(word, (), None) for word in words]
        rows = torch.from_numpy(np.stack(known)).to(self.device)
        mapped = self.map_rows(rows, from_to(direction).source)
        values, indices = self.index(retrieval).topk(mapped, n, direction, progress=progress)
        results = iter(zip(values.tolist(), indices.tolist(), strict=True))
        translations = []
        for word, vector in zip(words, vectors, strict=True):
            scores, places = next(results) if vector is not None else ([], [])
            candidates = tuple(Candidate(others.words[j], s) for j, s in zip(places, scores, strict=True))
            through = None if vector is None else "table" if word in queries else "subwords"
            translations.append(Translation(word, candidates, through))
        return translations

    def explain(self, word: str, n: int = 10) -> list[tuple[str, dict[str, float]]]:
        """Why the second stage ranks the n best translations of a word as it does: the share of each signal.

        A positive share speaks for the candidate, compared with the others. Empty without a second stage, or if the
        word is not in the table.
        """
        check_positive(n=n)
        stage, row = self.stage(), self.source.index.get(word)
        if stage is None or row is None:
            return []
        rows, shares = stage.shares(self.index(), row)
        return [
            (self.target.words[j], {signal: float(values[place]) for signal, values in shares.items()})
            for place, j in enumerate(rows[:n].tolist())
        ]

    def induce(
        self,
        *,
        n: int = 1,
        mutual: bool = False,
        max_rank: int | None = None,
        direction: Direction = "forward",
        given: bool = True,
        min_confidence: float | None = None,
        expected_precision: float | None = None,
        retrieval: Retrieval | None = None,
        vectors_only: bool = False,
        progress: Progress | None = None,
    ) -> list[Entry]:
        """A lexicon of the `max_rank` most frequent words of both tables, or of all, in order of source frequency.

        For each source word, the translations of the dictionary come first, all of them and in their order. Then come
        those found by the vectors, until there are n. With `mutual`, a pair found by the vectors is included only if
        each word is the best translation of the other. With `given=False` the dictionary is not included.

        With a second stage, a word gets fewer than n translations if further ones are improbable. Then `min_confidence`
        leaves out found pairs that are less probable, and `expected_precision` includes only the most confident ones,
        as many as have this mean probability.
        """
        check_positive(n=n, max_rank=max_rank)
        stage = None if vectors_only else self.stage(retrieval, direction=direction)
        if stage is None and (min_confidence is not None or expected_precision is not None):
            raise AlignmentError(
                "`min_confidence` and `expected_precision` need probabilities, and there are none: they come from a "
                "second stage, forward, with csls; align again with a larger dictionary, or leave them out"
            )
        if stage is None:
            induced = self._induce(n, mutual, max_rank, direction, retrieval, progress)
        else:
            index, rows = self.index(retrieval), np.arange(min(len(self.source), max_rank or len(self.source)))
            ranked = stage.rank(index, rows, n, first=max_rank, progress=progress)
            words: Sides[Sequence[str]] = Sides(self.source.words, self.target.words)
            listed = likely(ranked, stage.reranker.summary.min_confidence)
            if mutual:
                queries, places = (torch.from_numpy(array).to(self.device) for array in (rows, ranked.targets))
                listed &= is_mutual(index, queries, places, first=max_rank, progress=progress).cpu().numpy()
            induced = entries(ranked, words, listed)
            induced = most_confident(induced, min_confidence=min_confidence, expected_precision=expected_precision)
        if not given:
            return induced
        return with_given(self, induced, n=n, direction=direction, retrieval=retrieval, max_rank=max_rank)

    def _induce(
        self,
        n: int,
        mutual: bool,
        max_rank: int | None,
        direction: Direction,
        retrieval: Retrieval | None,
        progress: Progress | None,
    ) -> list[Entry]:
        index = self.index(retrieval)
        sources, targets = self.tables.along(direction)
        x = Sides(index.x, index.z).along(direction).source
        rows = torch.arange(min(len(x), max_rank or len(x)), device=x.device)
        best = index.topk(x[rows], 1 if mutual else n, direction, first=max_rank, rows=rows, progress=progress)
        if mutual:
            rows = rows[is_mutual(index, rows, best.indices, direction, first=max_rank, progress=progress)[:, 0]]
            best = best._replace(values=best.values[rows], indices=best.indices[rows])
        return [
            Entry(sources.words[i], targets.words[j], score, rank)
            for i, scores, places in zip(rows.tolist(), best.values.tolist(), best.indices.tolist(), strict=True)
            for rank, (score, j) in enumerate(zip(scores, places, strict=True), 1)
        ]

    def to_frame(self, *, library: Library = "polars", **options: Any) -> Any:
        """The lexicon of `induce`, which takes the other arguments, as a Polars or pandas frame."""
        from bilex.frames import to_frame

        return to_frame(self.induce(**options), library=library)

    def most_similar(
        self,
        word: str | ArrayLike,
        n: int = 10,
        *,
        sides: Side | tuple[Side, Side] = ("source", "target"),
        topn: int | None = None,
    ) -> list[Candidate]:
        """The n words nearest to a word or to a vector (d,) by cosine in the shared space, best first.

        sides: the side of the word or vector, then the side that is searched, by default the target table;
        `sides="source"` searches the source table, without the word itself. The scores are plain cosines, as those of
        `translate` with `Nearest()`. `topn` is gensim's name for n.
        """
        n = asked_for(n, topn)
        first, second = both_sides(sides)
        vector, row = look_up(self._table(first), word)
        mapped = self.map_rows(vector[None].to(self.device), first)[0]
        apart = row if first == second else None
        return nearest_words(mapped, self._rows(second), self._table(second).words, n, apart_from=apart)

    def evaluate(
        self,
        lexicon: LexiconLike,
        *,
        retrieval: Retrieval | None = None,
        direction: Direction = "forward",
        fold_case: bool = False,
        vectors_only: bool = False,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Precision against a lexicon. Backward, its source words are words of the target language.

        If there is a second stage, the figures are those with it, and `vectors_only` has those without.
        """
        tables = self.tables.along(direction)
        indexed = Lexicon.of(lexicon).index(*tables, fold_case=fold_case).require_usable()
        index = self.index(retrieval)
        result = evaluate(index, indexed, direction=direction, progress=progress)
        trained = [self.train] if self.dev is None else [self.train, self.dev]
        trained = trained if direction == "forward" else [part.swapped() for part in trained]
        if not vectors_only and (stage := self.stage(retrieval, direction=direction)) is not None:
            result = evaluated(result, stage, index, indexed)
            trained.append(decided_pairs(self))
        covered = Lexicon.from_pairs((word, word) for word in result.ranks)
        seen = {word for part in trained for word in covered.shared_sources(part, fold_case=fold_case)}
        return replace(result, train_overlap=len(seen))

    def hubness(self, *, k: int = 10, retrieval: Retrieval | None = None, direction: Direction = "forward") -> Hubness:
        """Hubness: how often the same few candidates are retrieved."""
        return hubness(self.index(retrieval), k=k, direction=direction)

    def similarity(
        self, judgements: JudgementsLike, sides: Side | tuple[Side, Side] = ("source", "target")
    ) -> Similarity:
        """Spearman correlation of cosines in the shared space with judgements, given as a list or a file.

        sides: the sides of the first and the second word of each judgement, or one side for both.
        """
        first, second = both_sides(sides)
        shared = [(self._table(side), self._rows(side)) for side in (first, second)]
        return similarity(judgement_list(judgements), *shared)

    def export(self, source: str | PathLike[str] | None = None, target: str | PathLike[str] | None = None) -> None:
        """Write the mapped tables, unit rows in the shared space. The suffix determines the format."""
        for path in (source, target):
            if path is not None:
                choose_format(Path(path), None)  # refuse an unknown suffix before anything is written
        for path, table, rows in ((source, self.source, "source_rows"), (target, self.target, "target_rows")):
            if path is not None:
                replace(table, rows=getattr(self, rows).cpu().numpy(), subwords=None).write(path)

    def _table(self, side: Side) -> EmbeddingTable:
        return self.tables.of(side)

    def _rows(self, side: Side) -> Tensor:
        return self.source_rows if side == "source" else self.target_rows

    def _line(self) -> str:
        method = self.provenance.get("inputs", {}).get("method", self.mapping.kind)
        dev = "" if self.dev is None else f" and {len(self.dev):,} dev"
        pairs = f"{len(self.train):,} train{dev} pairs" if len(self.train) else "no dictionary"
        words = f"{len(self.source):,} source and {len(self.target):,} target words"
        return f"{method}, {pairs}, {words} of {format_count(self.source.dim, 'dimension')}"

    def _preview(self) -> Table:
        from bilex.page.tables import Table, row

        rows = tuple(
            row(
                side,
                truncate(self._file(side)),
                format_list([truncate(word) for word in table.words[:MAX_SHOWN_ROWS]], len(table)),
            )
            for side, table in (("source", self.source), ("target", self.target))
        )
        return Table("alignment", "Alignment", ("side", "file", "words"), rows, left=3)

    def _file(self, side: str) -> str:
        """Name of the file that a table was read from."""
        file = (self.provenance.get("inputs", {}).get(side) or {}).get("file")
        return Path(file).name if file else ""

    def _unit(self, mapped: Tensor, side: Side) -> Tensor:
        """Mapped rows of length 1; AlignmentError if they are not finite."""
        rows = unit(mapped)
        if not all_finite(rows):
            raise AlignmentError(
                f"{self.folder or 'the alignment'}: the {side} vectors are mapped to numbers that are not finite and "
                "cannot be used; look for huge numbers in the table with bilex inspect, and align again"
            )
        return rows

    @cached_property
    def _normalized_source(self) -> Tensor:
        return self.source_normalizer(torch.from_numpy(self.source.rows).to(self.device))

    @cached_property
    def _normalized_target(self) -> Tensor:
        return self.target_normalizer(torch.from_numpy(self.target.rows).to(self.device))


def _vector(table: EmbeddingTable, word: str) -> np.ndarray[Any, np.dtype[np.float32]] | None:
    try:
        return table.vector(word)
    except TableError:
        return None
