"""Dictionaries: word pairs from a file, split by source word, and looked up in two tables.

This module does not import torch, which takes seconds.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from bilex.coverage import LexiconIndex, find_pairs
from bilex.errors import LexiconError, SettingsError
from bilex.io.dictionary import LexiconReport, write_pairs
from bilex.io.in_memory import word_pairs
from bilex.io.sheets.read import DictionaryFormat, read_dictionary
from bilex.page.display import MAX_SHOWN_ROWS, Displayed, format_count, format_list, more_rows_note
from bilex.text.printable import printable
from bilex.text.words import describe_value, quote, truncate, word_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bilex.coverage import Vocabulary
    from bilex.io.dictionary import Separator
    from bilex.io.in_memory import LexiconLike, PairsLike, TableLike
    from bilex.io.sheets.columns import ColumnsLike
    from bilex.io.sheets.pairs import CellMode
    from bilex.page.tables import Table

__all__ = ["Lexicon", "LexiconIndex", "LexiconReport"]


@dataclass(frozen=True, repr=False)
class Lexicon(Displayed):
    """Word pairs in file order, repeated lines included; a source may have several targets.

    `len(lexicon)` is the number of pairs; `("dog", "chien") in lexicon` and `for source, target in lexicon` work too.
    """

    pairs: tuple[tuple[str, str], ...]
    origin: Path | None = field(default=None, compare=False)
    report: LexiconReport | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.pairs, tuple):
            raise LexiconError(f"pairs are {describe_value(self.pairs)}; needed a tuple; Lexicon.of accepts any pairs")

    @classmethod
    def of(cls, given: LexiconLike) -> Lexicon:
        """A lexicon from any source of pairs; all functions that take a lexicon accept the same sources.

        A Lexicon is returned unchanged. A path is read. All else is passed to `from_pairs`.
        """
        if isinstance(given, Lexicon):
            return given
        return cls.read(given) if isinstance(given, str | PathLike) else cls.from_pairs(given)

    @classmethod
    def read(
        cls,
        path: PathLike[str] | str,
        *,
        separator: Separator = "auto",
        comment: str | None = "auto",
        encoding: str = "auto",
        columns: ColumnsLike | None = None,
        sheet: str | int | None = None,
        header: bool | None = None,
        cells: CellMode = "auto",
    ) -> Self:
        """Read pairs of words, one in each line, or a spreadsheet: .csv, .tsv, .txt, .xlsx or .ods.

        What the file is, is found out, and `report.summary()` says it. columns: source and targets, by numbers from 1
        or by headings, such as "1,3" or ("English", "French"). sheet: name or number of a sheet of a workbook. header:
        whether the first row is a heading. cells: "split" takes a cell such as `le, autre / x (remark)` apart, "whole"
        keeps its text; with "auto" a spreadsheet is split, and a file without a heading, in which every line is a pair
        between tabs, commas or spaces, is read as it is.

        A line is a comment if it begins with `comment`, unless `comment` alone is the first field of a tab or comma
        separated line: `#<TAB>dièse` is a pair. With "auto" the sign is `#`. Files named like those of MUSE
        (`en-fr.0-5000.txt`, `en-fr.5000-6500.txt`) then have no comments, since they have words like `#tag`.
        """
        path = Path(path)
        given = DictionaryFormat(
            separator=separator,
            comment=comment,
            encoding=encoding,
            columns=columns,
            sheet=sheet,
            header=header,
            cells=cells,
        )
        pairs, report = read_dictionary(path, given)
        return cls(pairs=pairs, origin=path, report=report)

    @classmethod
    def from_pairs(cls, pairs: PairsLike) -> Self:
        """A lexicon from pairs, [("dog", "chien")], or from a dict, {"dog": "chien", "cat": ["chat", "chatte"]}.

        Entries of an induced lexicon are pairs too. No word may be empty.
        """
        return cls(pairs=word_pairs(pairs))

    def write(self, path: Path | str) -> None:
        """Write tab separated UTF-8 lines; `read` returns the same pairs."""
        write_pairs(Path(path), self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.pairs)

    def __contains__(self, pair: object) -> bool:
        if isinstance(pair, str):
            raise LexiconError(f"found the word {quote(pair)}; a lexicon has pairs: ask `in lexicon.sources`")
        return isinstance(pair, tuple | list) and tuple(pair) in self._pair_set

    @property
    def name(self) -> str:
        """The file that it was read from, as messages name it."""
        return "the dictionary" if self.origin is None else printable(str(self.origin))

    @property
    def sources(self) -> list[str]:
        """The source words in order, each once."""
        return list(dict.fromkeys(source for source, _ in self.pairs))

    def targets_of(self) -> dict[str, list[str]]:
        """The targets of each source word in order, each once."""
        targets: dict[str, dict[str, None]] = {}
        for source, target in self.pairs:
            targets.setdefault(source, {})[target] = None
        return {source: list(words) for source, words in targets.items()}

    def split(
        self,
        share: float = 0.1,
        *,
        count: int | None = None,
        rng_seed: int,
        fold_case: bool = False,
        among: Iterable[str] | None = None,
    ) -> tuple[Self, Self]:
        """(rest, held out): hold out a share, or a count, of the source words, with all their pairs.

        No source word is in both parts; with `fold_case`, not in another letter case either. A target word can be. The
        order of pairs does not change. The choice depends only on the words and `rng_seed`, not on their order. With
        `among`, only these source words can be held out, such as those that have vectors.
        """
        if count is None and not 0 < share < 1:
            raise SettingsError(f"share={share}: needed a number between 0 and 1")
        words = (source for source, _ in self.pairs) if among is None else among
        sources = list(dict.fromkeys(_key(source, fold_case) for source in words))
        held = round(share * len(sources)) if count is None else count
        if not 0 < held < len(sources):
            raise LexiconError(
                f"{self.name}: cannot hold out {held} of {len(sources)} source words, one part would be empty; "
                f"needed 1 to {len(sources) - 1}: choose another share or count, or use a larger dictionary"
            )
        chosen = set(sorted(sources, key=lambda source: _draw(source, rng_seed))[:held])
        return (
            self._where(lambda source: _key(source, fold_case) not in chosen),
            self._where(lambda source: _key(source, fold_case) in chosen),
        )

    def shared_sources(self, other: LexiconLike, *, fold_case: bool = False) -> set[str]:
        """The source words that are in both lexicons; with `fold_case`, letter case is ignored."""
        theirs = {_key(source, fold_case) for source in Lexicon.of(other).sources}
        return {source for source in self.sources if _key(source, fold_case) in theirs}

    def swapped(self) -> Self:
        """The same pairs from target to source."""
        return replace(self, pairs=tuple((target, source) for source, target in self.pairs), report=None)

    def without_sources(self, words: str | Iterable[str]) -> Self:
        """The pairs without those of the source words `words`, or of one word."""
        unwanted = frozenset(word_list(words))
        return self._where(lambda source: source not in unwanted)

    def union(self, other: LexiconLike) -> Self:
        """These pairs, followed by the pairs of `other` that are new."""
        added = tuple(pair for pair in Lexicon.of(other) if pair not in self._pair_set)
        return replace(self, pairs=self.pairs + added, report=None)

    def index(
        self, source: Vocabulary | TableLike, target: Vocabulary | TableLike, *, fold_case: bool = False
    ) -> LexiconIndex:
        """Look up the pairs in two tables: exactly, and with `fold_case` also by `str.casefold`, the first row."""
        return find_pairs(self, _vocabulary(source), _vocabulary(target), fold_case=fold_case)

    @cached_property
    def _pair_set(self) -> frozenset[tuple[str, str]]:
        return frozenset(self.pairs)

    def _line(self) -> str:
        origin = f" from {quote(self.origin.name)}" if self.origin is not None else ""
        pairs = format_list([" - ".join(map(quote, pair)) for pair in self.pairs[:MAX_SHOWN_ROWS]], len(self))
        about = f"{format_count(len(self), 'pair')} of {format_count(len(self.sources), 'source word')}{origin}"
        return f"{about}: {pairs}" if pairs else about

    def _preview(self) -> Table:
        from bilex.page.tables import Table, row

        rows = tuple(row(*map(truncate, pair)) for pair in self.pairs[:MAX_SHOWN_ROWS])
        return Table("lexicon", "Word pairs", ("source", "target"), rows, more_rows_note(len(self), "pair"), left=2)

    def _where(self, wanted: Callable[[str], bool]) -> Self:
        return replace(self, pairs=tuple(pair for pair in self.pairs if wanted(pair[0])), report=None)


def _vocabulary(table: Any) -> Vocabulary:
    if hasattr(table, "words"):
        return cast("Vocabulary", table)
    from bilex.table import EmbeddingTable

    return EmbeddingTable.of(table)


def _key(word: str, fold_case: bool) -> str:
    return word.casefold() if fold_case else word


def _draw(word: str, rng_seed: int) -> bytes:
    """A hash as the random number of a word: the same in every dictionary and on every machine."""
    return hashlib.blake2b(f"{rng_seed} {word}".encode(errors="surrogatepass")).digest()
