"""The collections of public data in catalog.toml, and the files that a language pair needs."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from bilex.errors import DataError
from bilex.text.suggest import suggestion
from bilex.text.words import word_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal["vectors", "dictionaries"]
LANGUAGE_CODE = re.compile(r"[a-z]{2,}(_[a-z]+)*")
"""A language code as in the file names: en, als, zh_yue."""


@dataclass(frozen=True)
class Source:
    """Files of one kind with one base address and one licence. files: name patterns, by use."""

    base: str
    files: Mapping[str, str]
    size: str
    licence: str
    cite: str


@dataclass(frozen=True)
class Item:
    """One file of a collection: its kind, and its name and address on the server."""

    collection: str
    kind: Kind
    file: str
    url: str
    max_words: int | None = None

    @property
    def name(self) -> str:
        """The local file name. A gzipped table that is cut to `max_words` is stored as plain text."""
        return self.file if self.max_words is None else self.file.removesuffix(".gz")


@dataclass(frozen=True)
class Collection:
    """Vectors, and dictionaries for them if there are any."""

    name: str
    title: str
    max_words: int
    vectors: Source
    dictionaries: Source | None = None
    languages: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)

    def sources(self) -> dict[Kind, Source]:
        """The sources by kind."""
        found: dict[Kind, Source] = {"vectors": self.vectors}
        return found | ({"dictionaries": self.dictionaries} if self.dictionaries else {})

    def items(
        self,
        names: str | Iterable[str],
        *,
        only: Kind | None = None,
        full: bool = False,
        whole: bool = False,
        max_words: int | None = None,
    ) -> list[Item]:
        """The files for directions (`en-es`), groups of directions (`rich`) or languages (`en`: only vectors).

        Dictionaries come first: they are small, so a wrong code is noticed at once. Vectors are cut to `max_words`
        words (default: that of the collection), unless `whole` is given. `full` adds the complete dictionary, of which
        train and test are parts. No file is listed twice.
        """
        names = word_list(names, "names")
        directions = [part for name in names for part in self._directions(name)]
        words = None if whole else max_words or self.max_words
        dictionaries = [
            self._item("dictionaries", pattern.format(pair="-".join(codes)), None)
            for codes in directions
            for use, pattern in (self.dictionaries.files if self.dictionaries else {}).items()
            if len(codes) == 2 and (full or use != "full")
        ]
        vectors = [
            self._item("vectors", pattern.format(language=code), words)
            for codes in directions
            for code in codes
            for pattern in self.vectors.files.values()
        ]
        chosen = [item for item in (*dictionaries, *vectors) if only in (None, item.kind)]
        if not chosen:
            raise DataError(f"{self.name} has no {only} for {', '.join(names)}; {self.advice()}")
        return list(dict.fromkeys(chosen))

    def advice(self) -> str:
        """The valid names, for error messages."""
        if not self.dictionaries:
            return "it has vectors by language code, such as en or zh; check the code"
        return (
            f"it has dictionaries to and from en of {self.languages['with_english']}, and between any two of "
            f"{self.languages['among']}; name a direction such as en-es, or a group: {', '.join(self.groups)}"
        )

    def _directions(self, name: str) -> list[list[str]]:
        if name in self.groups:
            return [direction.split("-") for direction in self.groups[name].split()]
        codes = name.split("-")
        if len(codes) > 2 or not all(map(LANGUAGE_CODE.fullmatch, codes)):
            raise DataError(f"{name!r} is not a language or direction of {self.name}; {self.advice()}")
        return [codes]

    def _item(self, kind: Kind, file: str, max_words: int | None) -> Item:
        return Item(self.name, kind, file, self.sources()[kind].base + file, max_words)


def all_collections() -> dict[str, Collection]:
    """All collections by name."""
    return {name: _collection(name, entry) for name, entry in _catalog().items()}


def get_collection(name: str) -> Collection:
    """The collection with this name."""
    known = _catalog()
    if name not in known:
        raise DataError(f"no collection {name!r}{suggestion(name, known)}; there are: {', '.join(known)}")
    return _collection(name, known[name])


def _collection(name: str, entry: Mapping[str, Any]) -> Collection:
    sources = {kind: Source(**entry[kind]) for kind in ("vectors", "dictionaries") if kind in entry}
    return Collection(name=name, **{**entry, **sources})


@cache
def _catalog() -> dict[str, Any]:
    return tomllib.loads((files("bilex.data") / "catalog.toml").read_text(encoding="utf-8"))
