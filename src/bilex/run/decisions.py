"""Decisions of `bilex explore` as an input of an alignment."""

from __future__ import annotations

import hashlib
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from bilex.lexicon import Lexicon
from bilex.run.files import CORRECTIONS, DESCRIPTION
from bilex.storage.strict_json import to_json
from bilex.text.printable import printable

if TYPE_CHECKING:
    from os import PathLike

    from bilex.coverage import Lookup

    DecisionsLike: TypeAlias = "Decisions | str | PathLike[str]"


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """A snapshot of the decisions in a file: the right pairs, and the refused ones."""

    file: Path
    right: Lexicon
    refused: frozenset[tuple[str, str]]
    counts: dict[str, int]
    dictionary: Lexicon | None = None
    """The dictionary of the run, if the file is in a run folder."""

    @classmethod
    def of(cls, given: DecisionsLike) -> Self:
        """The decisions of a run folder or of a file."""
        return given if isinstance(given, cls) else cls.read(Path(given))  # type: ignore[arg-type]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the current decisions of a run folder or of a file."""
        from bilex.run.corrections import Corrections
        from bilex.run.folder import dictionary

        file = path / CORRECTIONS if path.is_dir() else path
        with closing(Corrections(file, reading=True)) as corrections:
            right, refused = corrections.judged()
            counts = corrections.counts()
        in_run = (file.parent / DESCRIPTION).is_file()
        return cls(
            file=file,
            right=Lexicon.from_pairs(right),
            refused=frozenset(refused),
            counts=counts,
            dictionary=dictionary(file.parent) if in_run else None,
        )

    def change(self, lexicon: Lexicon, right: Lexicon, source: Lookup, target: Lookup) -> Lexicon:
        """The dictionary without refused pairs, compared as the tables spell them, and with the right pairs."""
        remaining = (
            pair for pair in lexicon if (source.spelling(pair[0]), target.spelling(pair[1])) not in self.refused
        )
        return replace(lexicon, pairs=tuple(remaining), report=None).union(right)

    def apply(
        self, train: Lexicon | None, dev: Lexicon | None, source: Lookup, target: Lookup, *, fold_case: bool
    ) -> tuple[Lexicon | None, Lexicon | None]:
        """Apply the decisions to train (by default the dictionary of the run) and dev; words of dev stay in dev."""
        train = train or self.dictionary
        of_dev = set() if dev is None else self.right.shared_sources(dev, fold_case=fold_case)
        to_dev = Lexicon(tuple(pair for pair in self.right if pair[0] in of_dev))
        to_train = self.right.without_sources(of_dev)
        if train is not None or len(to_train):
            train = self.change(train or Lexicon.from_pairs([]), to_train, source, target)
        return train, None if dev is None else self.change(dev, to_dev, source, target)

    def describe(self) -> dict[str, Any]:
        """The file, the numbers of decisions, and the hash of the pairs, since that of an SQLite file may vary."""
        content = to_json([sorted(self.right), sorted(self.refused)])
        return {
            "file": printable(str(self.file.resolve())),
            "sha256": hashlib.sha256(content.encode()).hexdigest(),
            **self.counts,
        }
