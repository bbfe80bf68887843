"""What was decided in `bilex explore`, for an alignment to learn from."""

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
    """The decisions in a file as they are at one moment: which pairs are right, and which are not."""

    file: Path
    right: Lexicon
    refused: frozenset[tuple[str, str]]
    counts: dict[str, int]
    dictionary: Lexicon | None = None
    """What the run was given to learn from, where the file is that of a run."""

    @classmethod
    def of(cls, given: DecisionsLike) -> Self:
        """Those of a run folder or of a file."""
        return given if isinstance(given, cls) else cls.read(Path(given))  # type: ignore[arg-type]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Those of a run folder or of a file, at this moment."""
        from bilex.run.corrections import Corrections
        from bilex.run.folder import dictionary

        file = path / CORRECTIONS if path.is_dir() else path
        with closing(Corrections(file, reading=True)) as kept:
            right, refused = kept.judged()
            counts = kept.counts()
        of_run = (file.parent / DESCRIPTION).is_file()
        return cls(
            file=file,
            right=Lexicon.from_pairs(right),
            refused=frozenset(refused),
            counts=counts,
            dictionary=dictionary(file.parent) if of_run else None,
        )

    def change(self, lexicon: Lexicon, right: Lexicon, source: Lookup, target: Lookup) -> Lexicon:
        """A dictionary with the right pairs, without those that were refused, whose words the tables may spell so."""
        kept = (pair for pair in lexicon if (source.spelling(pair[0]), target.spelling(pair[1])) not in self.refused)
        return replace(lexicon, pairs=tuple(kept), report=None).union(right)

    def apply(
        self, train: Lexicon | None, dev: Lexicon | None, source: Lookup, target: Lookup, *, fold_case: bool
    ) -> tuple[Lexicon | None, Lexicon | None]:
        """Train, or without it the dictionary of the run, and dev as decided. What is of a word of dev stays in dev."""
        train = train or self.dictionary
        of_dev = set() if dev is None else self.right.shared_sources(dev, fold_case=fold_case)
        to_dev = Lexicon(tuple(pair for pair in self.right if pair[0] in of_dev))
        to_train = self.right.without_sources(of_dev)
        if train is not None or len(to_train):
            train = self.change(train or Lexicon.from_pairs([]), to_train, source, target)
        return train, None if dev is None else self.change(dev, to_dev, source, target)

    def describe(self) -> dict[str, Any]:
        """Where they were, how many they were, and the hash of what they say: that of the file tells less and more."""
        said = to_json([sorted(self.right), sorted(self.refused)])
        return {
            "file": printable(str(self.file.resolve())),
            "sha256": hashlib.sha256(said.encode()).hexdigest(),
            **self.counts,
        }
