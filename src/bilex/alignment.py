"""Two tables in one space: translate, induce, evaluate, export; saved to a folder and opened again."""

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
from bilex.retrieval import CSLS, Index, Retrieval
from bilex.retrieval.sides import Sides, both_sides, from_to, reverse
from bilex.run.given import given_pairs, with_given
from bilex.settings.fields import check_positive
from bilex.storage.array_form import all_finite
from bilex.table import EmbeddingTable
from bilex.text.words import quote, truncate, word_list
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from numpy.typing import ArrayLike
    from torch import Tensor

    from bilex.evaluation.similarity import JudgementsLike
    from bilex.frames import Library
    from bilex.io.in_memory import LexiconLike, TableLike
    from bilex.mapping import Mapping
    from bilex.page.tables import Table
    from bilex.retrieval.sides import Direction, Side
    from bilex.search.blocks import Progress


@dataclass(frozen=True, repr=False)
class Translation(Displayed):
    """A word and its translations, best first; none if it has no vector."""

    word: str
    candidates: tuple[Candidate, ...]
    through: str | None
    """Where its vector came from: "table", "subwords", or None."""

    @property
    def words(self) -> list[str]:
        """The translations without their scores."""
        return [candidate.word for candidate in self.candidates]

    def _line(self) -> str:
        found = [f"{quote(word)} {score:.3f}" for word, score in self.candidates]
        through = " (through subwords)" if self.through == "subwords" else ""
        shown = format_list(found, len(found), most=MAX_SHOWN_ROWS) or "nothing, it has no vector"
        return f"{quote(self.word)}{through} -> {shown}"

    def _preview(self) -> Table:
        from bilex.page.tables import Table, row

        rows = tuple(row(truncate(word), f"{score:.3f}") for word, score in self.candidates)
        return Table("translation", "Translations", ("translation", "score"), rows)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Alignment(Displayed):
    """Two tables, what was learnt of them, and where it all came from."""

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
    folder: Path | None = None
    """The run folder it was opened from; penalties once computed are kept there."""
    _indexes: dict[Retrieval, Index] = field(default_factory=dict)

    @property
    def tables(self) -> Sides[EmbeddingTable]:
        """Both tables as they were used."""
        return Sides(self.source, self.target)

    def save(self, path: str | PathLike[str], *, replace: bool = False) -> None:
        """Write a run folder, whole or not at all; it must not exist yet, or be a run that may be replaced."""
        from bilex.run.folder import save

        save(self, path, replace=replace)

    @classmethod
    def load(cls, path: str | PathLike[str], *, device: str | None = None) -> Alignment:
        """Open a run folder."""
        from bilex.run.folder import load

        return load(path, device=device)

    @property
    def dictionary(self) -> Lexicon:
        """What it was given to learn from: train, and dev too where that was held out of train."""
        if self.dev is None or self.provenance["inputs"]["dev"] is not None:
            return self.train
        return self.train.union(self.dev)

    @cached_property
    def given(self) -> Lexicon:
        """The translations that `induce` puts first: the dictionary, and a dev dictionary that was given beside it.

        Words that were learnt from because they are spelt alike are not among them.
        """
        return given_pairs(self.train, self.dev, self.provenance)

    @property
    def held_out(self) -> HeldOut | None:
        """How well held-out words of its dictionary are translated, where that was measured."""
        found = self.provenance.get("held_out")
        return None if found is None else HeldOut.read(found)

    @property
    def agreement(self) -> Agreement | None:
        """How far the pairs that it finds confirm each other, where nothing is known of held-out words."""
        found = self.provenance.get("agreement")
        return None if found is None else Agreement.read(found)

    @cached_property
    def source_rows(self) -> Tensor:
        """The whole source table in the shared space, unit rows."""
        return self._unit(self.mapping.source(self._normalized_source), "source")

    @cached_property
    def target_rows(self) -> Tensor:
        """The whole target table in the shared space, unit rows."""
        return self._unit(self.mapping.target(self._normalized_target), "target")

    def normalized(self, side: Side = "source") -> Tensor:
        """The whole source or target table as the mapping takes it: normalized, not yet mapped."""
        return self._normalized_source if side == "source" else self._normalized_target

    def map_rows(self, rows: Tensor, side: Side = "source") -> Tensor:
        """New vectors of the source or target space in the shared space, unit rows."""
        if side == "source":
            mapped = self.mapping.source(self.source_normalizer(rows), among=self._normalized_source)
        else:
            mapped = self.mapping.target(self.target_normalizer(rows), among=self._normalized_target)
        return self._unit(mapped, side)

    def apply(self, table: TableLike, side: Side = "source") -> EmbeddingTable:
        """Another table of the source or target language's space, such as one with more words, in the shared space."""
        table, own = EmbeddingTable.of(table), self._table(side)
        if table.dim != own.dim:
            raise TableError(f"the table has {table.dim} dimensions; the {side} side of this alignment has {own.dim}")
        rows = torch.from_numpy(table.rows).to(self.device)
        return replace(table, rows=self.map_rows(rows, side).cpu().numpy(), subwords=None)

    def index(self, retrieval: Retrieval | None = None) -> Index:
        """Both mapped tables ready for retrieval; made once per kind of retrieval."""
        retrieval = retrieval or CSLS()
        if retrieval not in self._indexes:
            made = retrieval.index(self.source_rows, self.target_rows)
            if self.folder is not None:
                from bilex.run.penalty_cache import PenaltyCache

                sizes = Sides(len(self.source), len(self.target))
                made = replace(made, cache=PenaltyCache(self.folder, retrieval, self.device, sizes))
            self._indexes[retrieval] = made
        return self._indexes[retrieval]

    @overload
    def translate(  # type: ignore[overload-overlap]  # a string is one word, and no Iterable[str] here
        self,
        words: str,
        n: int = 10,
        *,
        direction: Direction = "forward",
        retrieval: Retrieval | None = None,
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
        progress: Progress | None = None,
    ) -> list[Translation]: ...

    def translate(
        self,
        words: str | Iterable[str],
        n: int = 10,
        *,
        direction: Direction = "forward",
        retrieval: Retrieval | None = None,
        progress: Progress | None = None,
    ) -> Translation | list[Translation]:
        """The n best translations of a word, or of each of several words in the order given."""
        check_positive(n=n)
        found = self._translations(word_list(words), n, direction, retrieval, progress)
        return found[0] if isinstance(words, str) else found

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
        found = iter(zip(values.tolist(), indices.tolist(), strict=True))
        translations = []
        for word, vector in zip(words, vectors, strict=True):
            scores, places = next(found) if vector is not None else ([], [])
            candidates = tuple(Candidate(others.words[j], s) for j, s in zip(places, scores, strict=True))
            through = None if vector is None else "table" if word in queries else "subwords"
            translations.append(Translation(word, candidates, through))
        return translations

    def induce(
        self,
        *,
        n: int = 1,
        mutual: bool = False,
        max_rank: int | None = None,
        direction: Direction = "forward",
        given: bool = True,
        retrieval: Retrieval | None = None,
        progress: Progress | None = None,
    ) -> list[Entry]:
        """A lexicon of the `max_rank` most frequent words of both tables, or all, in order of the sources' frequency.

        First come the translations that the dictionary has given, all of them and in its order, then those that the
        vectors find, until a source has n. `mutual` keeps a found pair only where each word is the other's best
        translation by the vectors. With `given=False` the lexicon is what the vectors alone find.
        """
        check_positive(n=n, max_rank=max_rank)
        found = self._found(n, mutual, max_rank, direction, retrieval, progress)
        if not given:
            return found
        return with_given(self, found, n=n, direction=direction, retrieval=retrieval, max_rank=max_rank)

    def _found(
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
        x, z = Sides(index.x, index.z).along(direction)
        rows = torch.arange(min(len(x), max_rank or len(x)), device=x.device)
        found = index.topk(x[rows], 1 if mutual else n, direction, first=max_rank, rows=rows, progress=progress)
        if mutual:
            hit, place = torch.unique(found.indices[:, 0], return_inverse=True)
            back = index.topk(z[hit], 1, reverse(direction), first=max_rank, rows=hit, progress=progress)
            rows = rows[back.indices[:, 0][place] == rows]
            found = found._replace(values=found.values[rows], indices=found.indices[rows])
        return [
            Entry(sources.words[i], targets.words[j], score, rank)
            for i, scores, places in zip(rows.tolist(), found.values.tolist(), found.indices.tolist(), strict=True)
            for rank, (score, j) in enumerate(zip(scores, places, strict=True), 1)
        ]

    def to_frame(self, *, library: Library = "polars", **how: Any) -> Any:
        """The lexicon that `induce` makes, which takes the other arguments, as a frame of Polars or pandas."""
        from bilex.frames import to_frame

        return to_frame(self.induce(**how), library=library)

    def most_similar(
        self,
        word: str | ArrayLike,
        n: int = 10,
        *,
        sides: Side | tuple[Side, Side] = ("source", "target"),
        topn: int | None = None,
    ) -> list[Candidate]:
        """The n words nearest to a word or to a vector (d,) by cosine in the shared space, best first.

        The first of `sides` is where the word, or the space of the vector, belongs, the second where words are looked
        for: in the target table, if nothing is said; `sides="source"` stays in the source table, without the word
        itself. These are plain cosines, as of `translate` with `Nearest()`. `topn` is the name that gensim has for n.
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
        progress: Progress | None = None,
    ) -> Evaluation:
        """Precision against a lexicon whose sources are of the language translated from: the target's, if backward."""
        tables = self.tables.along(direction)
        indexed = Lexicon.of(lexicon).index(*tables, fold_case=fold_case).require_usable()
        index = self.index(retrieval)
        result = evaluate(index, indexed, direction=direction, progress=progress)
        covered = Lexicon.from_pairs((word, word) for word in result.ranks)
        used = [self.train] if self.dev is None else [self.train, self.dev]
        used = used if direction == "forward" else [part.swapped() for part in used]
        seen = {word for part in used for word in covered.shared_sources(part, fold_case=fold_case)}
        return replace(result, train_overlap=len(seen))

    def hubness(self, *, k: int = 10, retrieval: Retrieval | None = None, direction: Direction = "forward") -> Hubness:
        """How unevenly the candidates are retrieved."""
        return hubness(self.index(retrieval), k=k, direction=direction)

    def similarity(
        self, judgements: JudgementsLike, sides: Side | tuple[Side, Side] = ("source", "target")
    ) -> Similarity:
        """Spearman correlation of cosines in the shared space with judgements, or with those of a file.

        `sides` says where the first and the second word of each judgement belong; one side, where both do.
        """
        first, second = both_sides(sides)
        shared = [(self._table(side), self._rows(side)) for side in (first, second)]
        return similarity(judgement_list(judgements), *shared)

    def export(self, source: str | PathLike[str] | None = None, target: str | PathLike[str] | None = None) -> None:
        """Write the mapped tables, unit rows in the shared space; the suffix says in which format."""
        for path in (source, target):
            if path is not None:
                choose_format(Path(path), None)  # refuse a name before anything is written
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
        """The name of the file that a table was read from, when it was aligned."""
        file = (self.provenance.get("inputs", {}).get(side) or {}).get("file")
        return Path(file).name if file else ""

    def _unit(self, mapped: Tensor, side: Side) -> Tensor:
        """Mapped rows of length 1; no figure is ever made of numbers that are not finite."""
        rows = unit(mapped)
        if not all_finite(rows):
            raise AlignmentError(
                f"{self.folder or 'the alignment'}: the {side} vectors are mapped to numbers that are not finite; look "
                "for huge numbers in them with bilex inspect, and align again"
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
