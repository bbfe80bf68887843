"""A lexicon looked up in two tables: its pairs as row numbers, and statistics of the missing pairs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from bilex.errors import LexiconError
from bilex.page.display import Displayed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bilex.lexicon import Lexicon
    from bilex.page.tables import Table

EXAMPLES = 5


class Vocabulary(Protocol):
    """The part of a table that a look-up needs; `EmbeddingTable` has it."""

    @property
    def words(self) -> Sequence[str]:
        """Words in row order."""

    @property
    def index(self) -> Mapping[str, int]:
        """Row of each word."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Missing:
    """Number of pairs that are not covered for one reason, and the missing words, each once."""

    pairs: int
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class LexiconIndex(Displayed):
    """The pairs of a lexicon as row numbers of two tables, and statistics of the missing pairs.

    `pairs_total = pairs_covered + missing_source.pairs + missing_target.pairs + missing_both.pairs + duplicates`.
    """

    name: str
    pairs: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """(p, 2) rows of source and target in file order, each pair once."""
    gold: dict[int, list[int]]
    """Source row -> rows of all its targets."""
    sources: dict[str, int]
    """Source word with at least one covered pair -> row."""
    pairs_total: int
    sources_total: int
    missing_source: Missing
    missing_target: Missing
    missing_both: Missing
    duplicates: int
    folded: int
    """Number of words that were found only by folding case."""
    pairs_swapped: int
    """Number of pairs that would be covered if the two tables were swapped."""
    vocabulary_sizes: tuple[int, int]

    @property
    def pairs_covered(self) -> int:
        """Number of different pairs with both words in the tables."""
        return len(self.pairs)

    @property
    def sources_covered(self) -> int:
        """Number of source words with at least one covered pair."""
        return len(self.sources)

    def _line(self) -> str:
        return "; ".join(self.summary()[:2])

    def _preview(self) -> Table:
        from bilex.page.tables import Table, row

        return Table("coverage", "Coverage", (self.name,), tuple(map(row, self.summary())))

    @property
    def sorted_pairs(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """The pairs sorted by source row, then target row: (p, 2). The order in the dictionary then has no effect."""
        return self.pairs[np.lexsort((self.pairs[:, 1], self.pairs[:, 0]))]

    def require_usable(self, minimum: int = 1) -> Self:
        """Itself; LexiconError if fewer than `minimum` pairs are covered, or if source and target are swapped."""
        covered, swapped = self.pairs_covered, self.pairs_swapped
        if swapped >= 10 and swapped > 3 * covered:
            raise LexiconError(
                f"{self.name} seems to run from target to source: {covered:,} of {self.pairs_total:,} pairs fit as "
                f"given, {swapped:,} when swapped; swap the two tables, the dictionary's columns or the direction"
            )
        if covered < minimum:
            raise LexiconError(self._too_few(minimum))
        return self

    def _too_few(self, minimum: int) -> str:
        sizes = " and ".join(f"{size:,}" for size in self.vocabulary_sizes)
        missing = (*self.missing_both.words, *self.missing_source.words, *self.missing_target.words)
        return (
            f"{self.name}: {self.pairs_covered:,} of {self.pairs_total:,} pairs are in both vocabularies "
            f"({sizes} words), needed at least {minimum}; not found: {_examples(missing)}. Check letter case "
            "(`fold_case`), read more words (`max_words`), and that the dictionary is for these two languages"
        )

    def summary(self) -> list[str]:
        """The statistics as lines of text."""
        lines = [
            f"{self.pairs_covered:,} of {self.pairs_total:,} pairs are in both vocabularies",
            f"{self.sources_covered:,} of {self.sources_total:,} source words have a translation there",
        ]
        missing = {"source": self.missing_source, "target": self.missing_target, "source and target": self.missing_both}
        for side, lacking in missing.items():
            if lacking.pairs:
                lines.append(f"{lacking.pairs:,} pairs lack the {side} word: {_examples(lacking.words)}")
        if self.duplicates:
            lines.append(f"{self.duplicates:,} repeated pairs dropped")
        if self.folded:
            lines.append(f"{self.folded:,} words matched only by folding case")
        return lines

    def to_json(self) -> dict[str, object]:
        """The statistics as plain values for `json.dumps`, without the rows."""
        counted = ("name", "pairs_total", "pairs_covered", "sources_total", "sources_covered", "duplicates", "folded")
        missing = {key: asdict(getattr(self, key)) for key in ("missing_source", "missing_target", "missing_both")}
        listed = {key: {**found, "words": list(found["words"])} for key, found in missing.items()}
        return {key: getattr(self, key) for key in counted} | listed | {"vocabulary_sizes": list(self.vocabulary_sizes)}


class Lookup:
    """Rows by word: exact matches first, then by folded case. `count` records the words found only by folding."""

    def __init__(self, table: Vocabulary, fold_case: bool) -> None:
        self.size = len(table)
        self.words, self.rows = table.words, table.index
        self.folded_rows: dict[str, int] = {}
        self.folded: set[str] = set()
        for row, word in enumerate(table.words if fold_case else ()):
            self.folded_rows.setdefault(word.casefold(), row)

    def find(self, word: str) -> int | None:
        """The row of a word, or None."""
        row = self.rows.get(word)
        return self.folded_rows.get(word.casefold()) if row is None and self.folded_rows else row

    def spelling(self, word: str) -> str:
        """The word as it is spelt in the table; unchanged if it is not there."""
        row = self.find(word)
        return word if row is None else self.words[row]

    def count(self, word: str) -> int | None:
        """As `find`; a word found only by folding is recorded."""
        row = self.find(word)
        if row is not None and word not in self.rows:
            self.folded.add(word)
        return row


def find_pairs(lexicon: Lexicon, source: Vocabulary, target: Vocabulary, *, fold_case: bool) -> LexiconIndex:
    """Look up the pairs in two tables: exactly, and with `fold_case` also by `str.casefold`, the first row."""
    return _find(lexicon, Lookup(source, fold_case), Lookup(target, fold_case))


def _find(lexicon: Lexicon, source: Lookup, target: Lookup) -> LexiconIndex:
    covered: dict[tuple[int, int], None] = {}
    sources: dict[str, int] = {}
    missing: dict[str, list[tuple[str, str]]] = {"source": [], "target": [], "both": []}
    unique = dict.fromkeys(lexicon.pairs)
    for pair in unique:
        row, column = source.count(pair[0]), target.count(pair[1])
        if row is not None and column is not None:
            covered[row, column] = None
            sources.setdefault(pair[0], row)
        else:
            missing["target" if row is not None else "source" if column is not None else "both"].append(pair)
    gold: dict[int, list[int]] = {}
    for row, column in covered:
        gold.setdefault(row, []).append(column)
    return LexiconIndex(
        name=lexicon.name,
        pairs=np.array(list(covered), dtype=np.int64).reshape(-1, 2),
        gold=gold,
        sources=sources,
        pairs_total=len(lexicon),
        sources_total=len(lexicon.sources),
        missing_source=_missing(missing["source"], [0]),
        missing_target=_missing(missing["target"], [1]),
        missing_both=_missing(missing["both"], [0, 1]),
        duplicates=len(lexicon) - len(covered) - sum(map(len, missing.values())),
        folded=len(source.folded) + len(target.folded),
        pairs_swapped=sum(target.find(a) is not None and source.find(b) is not None for a, b in unique),
        vocabulary_sizes=(source.size, target.size),
    )


def _missing(pairs: list[tuple[str, str]], sides: list[int]) -> Missing:
    return Missing(len(pairs), tuple(dict.fromkeys(pair[side] for pair in pairs for side in sides)))


def _examples(words: Sequence[str]) -> str:
    return ", ".join(words[:EXAMPLES]) + (", ..." if len(words) > EXAMPLES else "")
