"""The inputs of an alignment: collected, checked, described."""

from __future__ import annotations

import copy
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
    """All that determines an alignment: on one machine, with as many threads, equal inputs give equal results."""

    source: EmbeddingTable
    target: EmbeddingTable
    train: Lexicon
    dev: Lexicon | None
    method: Method
    rng_seed: int
    dev_share: float
    fold_case: bool
    spelling: Spelling | None = None
    """Which words spelt alike were added to `train`."""
    spelt_alike: int = 0
    """Number of these pairs; they are the last ones of `train`."""
    corrections: Decisions | None = None
    """Decisions of `bilex explore` that the dictionaries were changed by."""
    why: str | None = None
    """The reason for the default method; None if the method was named."""

    @property
    def least_bytes(self) -> int:
        """Smallest size of a run on disk: that of its tables."""
        return self.source.rows.nbytes + self.target.rows.nbytes

    @cached_property
    def coverage(self) -> LexiconIndex:
        """The whole dictionary as rows of the tables, before dev is held out."""
        return self.index(self.train)

    def index(self, lexicon: Lexicon) -> LexiconIndex:
        """The pairs of a dictionary as rows of the two tables."""
        return lexicon.index(self.source, self.target, fold_case=self.fold_case)

    @property
    def least_pairs(self) -> int:
        """Smallest number of pairs with vectors: 1 if there is a dictionary or the method needs one, else 0."""
        return int(self.method.needs_pairs or len(self.train) > 0)

    def doubts(self) -> list[str]:
        """Warnings about the inputs, as texts."""
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
        """The inputs as plain values: settings, and the hashes of files."""
        return copy.deepcopy(self._description)

    @cached_property
    def _description(self) -> dict[str, Any]:
        """The result of `describe`; it is made once, as it reads all files."""
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
    """Collect the inputs of an alignment, and check them.

    settings: those of the method, as texts or Python values.
    """
    if fast and method is not None:
        raise SettingsError("`method` and `fast` were both given, and each chooses the method: leave one of them out")
    if corrections is not None:
        words = (Lookup(table, fold_case) for table in (source, target))
        train, dev = corrections.apply(train, dev, *words, fold_case=fold_case)
        if train is None:
            raise AlignmentError(
                f"{corrections.file}: no pair was accepted or corrected, and there is no dictionary beside it; pass "
                "one as `train`, or leave `corrections` out"
            )
    given_pairs, why = 0 if train is None else len(train), None
    if spelling is not None:
        train = _with_spelling(train, source, target, spelling, corrections)
    if method is None:
        covered = None if train is None else train.index(source, target, fold_case=fold_case).sources_covered
        method, why = choose(covered, only_spelling=not given_pairs, fast=fast, settings=settings)
    else:
        method = get_method(method, settings)
    if train is None:
        if method.needs_pairs:
            raise AlignmentError(
                f"method {method.name} needs a dictionary, and none was given: pass one as `train`, or use "
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
        spelt_alike=0 if spelling is None else len(train) - given_pairs,
        corrections=corrections,
        why=why,
    )
    inputs.coverage.require_usable(inputs.least_pairs)
    return inputs


def _name(table: EmbeddingTable, side: str) -> str:
    """The table as messages name it."""
    return str(table.origin or f"the {side} table")


def _with_spelling(
    train: Lexicon | None,
    source: EmbeddingTable,
    target: EmbeddingTable,
    spelling: Spelling,
    corrections: Decisions | None,
) -> Lexicon:
    """Train, and words spelt alike that have no translation there and were not rejected in `bilex explore`."""
    shared = same_spelling(source, target, spelling)
    train = Lexicon.from_pairs([]) if train is None else train
    if not len(shared):
        what = "no numerals" if spelling == "numerals" else "no words"
        raise AlignmentError(f"the two tables have {what} in common; give a dictionary, or an unsupervised method")
    refused = () if corrections is None else corrections.refused
    alike = Lexicon(tuple(pair for pair in shared.without_sources(train.sources) if pair not in refused))
    return train.union(alike)


def _describe_table(table: EmbeddingTable) -> dict[str, Any]:
    return {**_describe_file(table.origin), "words": len(table), "dim": table.dim}


def _describe_lexicon(lexicon: Lexicon) -> dict[str, Any]:
    return {**_describe_file(lexicon.origin), "pairs": len(lexicon)}


def _describe_file(path: Path | None) -> dict[str, Any]:
    if path is None or not path.is_file():
        return {"file": None, "sha256": None}
    return {"file": printable(str(path.resolve())), "sha256": sha256(path)}  # a name need not be UTF-8
