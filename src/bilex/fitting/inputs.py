"""The inputs of an alignment: collected, checked, described."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bilex.coverage import Lookup
from bilex.errors import AlignmentError, SettingsError, TableError
from bilex.fitting.default import choose
from bilex.induction.initial import same_spelling
from bilex.io.directions import find_directions, require_directions
from bilex.io.inspection import find_order_problem
from bilex.lexicon import Lexicon
from bilex.methods.base import Method, get_method
from bilex.storage.files import sha256
from bilex.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping as Dict
    from pathlib import Path

    from bilex.coverage import LexiconIndex
    from bilex.induction.initial import Spelling
    from bilex.run.decisions import Decisions
    from bilex.table import EmbeddingTable


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """All that decides the result of an alignment; equal inputs on the same machine and threads give equal results."""

    source: EmbeddingTable
    target: EmbeddingTable
    train: Lexicon
    dev: Lexicon | None
    method: Method
    rng_seed: int
    dev_share: float
    fold_case: bool
    spelling: Spelling | None = None
    """How words spelt alike came into `train`."""
    spelt_alike: int = 0
    """How many pairs at the end of `train` came in so."""
    corrections: Decisions | None = None
    """What of the dictionaries is as it was decided in `bilex explore`."""
    why: str | None = None
    """Why it is this method, where none was named."""

    @property
    def least_bytes(self) -> int:
        """A run made of them takes so many at least: those of its tables."""
        return self.source.rows.nbytes + self.target.rows.nbytes

    @cached_property
    def coverage(self) -> LexiconIndex:
        """What the tables have of the whole dictionary, before any of it is held out."""
        return self.index(self.train)

    def index(self, lexicon: Lexicon) -> LexiconIndex:
        """The pairs of a dictionary as rows of the two tables."""
        return lexicon.index(self.source, self.target, fold_case=self.fold_case)

    @property
    def least_pairs(self) -> int:
        """So many pairs have to have vectors: one, where there is a dictionary or should be."""
        return int(self.method.needs_pairs or len(self.train) > 0)

    def doubts(self) -> list[str]:
        """What may be wrong with the inputs, for people to read."""
        cut = self.method.rank_cut
        order = [
            f"{_name(table, side)} {doubt}, and {self.method.name} looks at the first {cut:,} of its "
            f"{len(table):,} words as the most frequent: sort it by frequency, or let the method look at all of them"
            for side, table in (("source", self.source), ("target", self.target))
            if cut is not None and cut < len(table) and (doubt := find_order_problem(table.words))
        ]
        return order + [
            f"{_name(table, side)} {doubt}"
            for side, table in (("source", self.source), ("target", self.target))
            for doubt in find_directions(table.rows).doubts(table.words)
        ]

    def describe(self) -> dict[str, Any]:
        """The inputs in plain values: settings, and files by hash."""
        return {
            "method": self.method.name,
            "settings": self.method.describe(),
            "rng_seed": self.rng_seed,
            "dev_share": self.dev_share,
            "fold_case": self.fold_case,
            "spelling": self.spelling,
            "source": _describe_table(self.source),
            "target": _describe_table(self.target),
            "train": _describe_lexicon(self.train),
            "dev": None if self.dev is None else _describe_lexicon(self.dev),
            "corrections": None if self.corrections is None else self.corrections.describe(),
        }


def collect(
    source: EmbeddingTable,
    target: EmbeddingTable,
    train: Lexicon | None,
    *,
    dev: Lexicon | None = None,
    method: str | Method | None = None,
    fast: bool = False,
    settings: Dict[str, Any] | None = None,
    rng_seed: int = 0,
    dev_share: float = 0.1,
    fold_case: bool = False,
    spelling: Spelling | None = None,
    corrections: Decisions | None = None,
) -> Inputs:
    """The inputs of an alignment, checked.

    settings: those of the method, as texts or values of Python.
    """
    if fast and method is not None:
        raise SettingsError("a method was named, and the fast one asked for: leave `method` out, or `fast`")
    if corrections is not None:
        words = (Lookup(table, fold_case) for table in (source, target))
        train, dev = corrections.apply(train, dev, *words, fold_case=fold_case)
        if train is None:
            raise AlignmentError(
                f"{corrections.file}: no pair was accepted or corrected, and there is no dictionary beside it; pass "
                "one as `train`, or leave `corrections` out"
            )
    given, why = 0 if train is None else len(train), None
    if spelling is not None:
        train = _with_spelling(train, source, target, spelling, corrections)
    if method is None:
        found = None if train is None else train.index(source, target, fold_case=fold_case).sources_covered
        method, why = choose(found, only_spelling=not given, fast=fast, settings=settings)
    else:
        method = get_method(method, settings)
    if train is None:
        if method.needs_pairs:
            raise AlignmentError(
                f"method {method.name} learns from a dictionary and none was given: pass one as `train`, or take "
                "words that are spelt alike in both languages: `spelling='identical'`, or `spelling='numerals'`"
            )
        train = Lexicon.from_pairs([])
    if source.dim != target.dim:
        raise TableError(
            f"the source vectors have {source.dim} dimensions and the target vectors {target.dim}; "
            "use tables of the same dimension"
        )
    for side, table in (("source", source), ("target", target)):
        require_directions(_name(table, side), table.rows)
    if dev is not None and (shared := dev.shared_sources(train, fold_case=fold_case)):
        raise AlignmentError(
            f"{len(shared)} source words are in both the train and the dev dictionary (such as {min(shared)!r}); "
            "choices made on words that were trained on are worthless: remove them from one, or leave `dev` out"
        )
    inputs = Inputs(
        source=source,
        target=target,
        train=train,
        dev=dev,
        method=method,
        rng_seed=rng_seed,
        dev_share=dev_share,
        fold_case=fold_case,
        spelling=spelling,
        spelt_alike=0 if spelling is None else len(train) - given,
        corrections=corrections,
        why=why,
    )
    inputs.coverage.require_usable(inputs.least_pairs)
    return inputs


def _name(table: EmbeddingTable, side: str) -> str:
    """For messages."""
    return str(table.origin or f"the {side} table")


def _with_spelling(
    train: Lexicon | None,
    source: EmbeddingTable,
    target: EmbeddingTable,
    spelling: Spelling,
    corrections: Decisions | None,
) -> Lexicon:
    """The train lexicon, and words spelt alike that it has no translation for and nobody has refused."""
    shared, given = same_spelling(source, target, spelling), Lexicon.from_pairs([]) if train is None else train
    if not len(shared):
        what = "no numerals" if spelling == "numerals" else "no words"
        raise AlignmentError(f"the two tables have {what} in common; give a dictionary, or an unsupervised method")
    refused = () if corrections is None else corrections.refused
    alike = Lexicon(tuple(pair for pair in shared.without_sources(given.sources) if pair not in refused))
    return given.union(alike)


def _describe_table(table: EmbeddingTable) -> dict[str, Any]:
    return {**_describe_file(table.origin), "words": len(table), "dim": table.dim}


def _describe_lexicon(lexicon: Lexicon) -> dict[str, Any]:
    return {**_describe_file(lexicon.origin), "pairs": len(lexicon)}


def _describe_file(path: Path | None) -> dict[str, Any]:
    if path is None or not path.is_file():
        return {"file": None, "sha256": None}
    return {"file": printable(str(path.resolve())), "sha256": sha256(path)}  # a name need not be UTF-8
