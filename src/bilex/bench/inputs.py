"""The data that a suite names: found, checked, and made ready for cells to map into memory.

A table that is in no native form is converted once and kept in the data folder, so that each cell opens it at once
and cells side by side share its memory. What is kept may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from bilex.data.folder import data_folder
from bilex.errors import SuiteError
from bilex.io.dictionary import comment_prefix
from bilex.lexicon import Lexicon
from bilex.storage.disk import is_file, require_disk_space
from bilex.storage.files import sha256
from bilex.table import EmbeddingTable

Kind = Literal["table", "dictionary"]
Place = Literal["file", "sample", "shared", "muse"]
NATIVE = ".safetensors"
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A file that a cell can read as it is."""

    path: Path
    max_words: int | None
    sha256: str
    label: str
    """How the suite names it."""
    comment: str | None = None
    """What a comment begins with in a dictionary; the file may lie under another name where it is read."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """A table or a dictionary as a suite names it."""

    kind: Kind
    place: Place
    name: str
    """The path of a file, which may hold ${VARIABLES}, or the name that it has in its place."""
    base: Path
    """The folder that paths are relative to."""
    max_words: int | None = None
    sha256: str | None = None
    """What the hash of the file has to be, if it is known."""
    pair: str = ""
    """The direction it belongs to, to say how it is fetched."""

    @property
    def label(self) -> str:
        """How the suite names it."""
        cut = "" if self.max_words is None else f", first {self.max_words:,} words"
        return (self.name if self.place == "file" else f"{self.place} {self.name}") + cut

    def find(self) -> Path:
        """Its file, which must be there."""
        path = self._path()
        if not is_file(path):
            raise SuiteError(f"{path}: there is no such file; {self._advice()}")
        return path

    def _path(self) -> Path:
        suffix = {"table": NATIVE, "dictionary": ".tsv"}[self.kind]
        match self.place:
            case "file":
                return self.base / expand(self.name)
            case "sample":
                return Path(str(files("bilex.sample"))) / "data" / f"{self.name}{suffix}"
            case "shared":
                return Path(expand("${BILEX_SHARED}")) / "data" / "vectors" / f"{self.name}.npz"
        file = f"wiki.{self.name}.vec" if self.kind == "table" else f"{self.name}.txt"
        return data_folder() / "muse" / file

    def _advice(self) -> str:
        return {
            "file": "correct its path in the suite, or put it there",
            "sample": "the bundled languages are en, fr and fi, the pairs en-fr and en-fi",
            "shared": "set BILEX_SHARED to the folder that has data/unpack.py",
            "muse": f"fetch them: bilex data fetch muse {self.pair}",
        }[self.place]


@dataclass(frozen=True)
class Store:
    """Makes inputs ready, each once."""

    folder: Path = field(default_factory=lambda: data_folder() / "tables")
    """Where converted tables are kept."""
    converts: bool = True
    """Whether a table that is in no native form is converted, or refused."""
    _ready: dict[Input, Ready] = field(default_factory=dict, repr=False)

    def prepare(self, wanted: Input) -> Ready:
        """The file for cells to read: itself, or its native form."""
        if wanted not in self._ready:
            self._ready[wanted] = self._prepare(wanted)
        return self._ready[wanted]

    def _prepare(self, wanted: Input) -> Ready:
        path = wanted.find()
        if wanted.kind == "dictionary" or path.suffix == NATIVE:
            found = sha256(path)
            check_sum(path, found, wanted.sha256)
            comment = comment_prefix(path) if wanted.kind == "dictionary" else None
            return Ready(path=path, max_words=wanted.max_words, sha256=found, label=wanted.label, comment=comment)
        native = self.folder / f"{path.name.split('.')[0]}-{_fingerprint(path, wanted)}{NATIVE}"
        if not native.is_file():
            if not self.converts:
                raise SuiteError(f"{path}: not converted yet; run the suite")
            if wanted.sha256 is not None:
                check_sum(path, sha256(path), wanted.sha256)
            native.parent.mkdir(parents=True, exist_ok=True)
            table = _read_foreign(path, wanted)
            require_disk_space(native, table.rows.nbytes, "the table in native form")
            table.write(native)
        return Ready(path=native, max_words=None, sha256=sha256(native), label=wanted.label)


def check_sum(path: Path, found: str, needed: str | None) -> None:
    """Refuse a file whose contents are not those that the suite was written for."""
    if needed is not None and found != needed.lower():
        raise SuiteError(
            f"{path}: its SHA-256 is {found}, the suite needs {needed}; get the file again, or correct the suite"
        )


def expand(text: str) -> str:
    """The text with ${NAME} replaced by environment variables; ${BILEX_DATA} has a default."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name == "BILEX_DATA":
            return str(data_folder())
        if name not in os.environ:
            raise SuiteError(f"{text}: the environment variable {name} is not set; set it to the folder of the data")
        return os.environ[name]

    return _VARIABLE.sub(value, text)


def some_pairs(train: Lexicon, source: EmbeddingTable, target: EmbeddingTable, count: int, rng_seed: int) -> Lexicon:
    """So many pairs that are in both tables, of different source words, drawn by the seed."""
    usable = Lexicon.from_pairs(pair for pair in train if pair[0] in source and pair[1] in target)
    _, drawn = usable.split(count=count, rng_seed=rng_seed)
    return Lexicon.from_pairs((word, targets[0]) for word, targets in drawn.targets_of().items())


def _fingerprint(path: Path, wanted: Input) -> str:
    """Changes when the file does, without reading it: vectors can be gigabytes."""
    state = path.stat()
    told = (str(path.resolve()), state.st_size, state.st_mtime_ns, wanted.max_words, wanted.sha256)
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def _read_foreign(path: Path, wanted: Input) -> EmbeddingTable:
    if wanted.place != "shared":
        return EmbeddingTable.read(path, max_words=wanted.max_words)
    words, rows = _unpacker(path.parents[1] / "unpack.py").load(wanted.name, wanted.max_words)
    return EmbeddingTable(words, rows)


def _unpacker(script: Path) -> Any:
    """The program that comes with the packed tables and knows how to open them."""
    spec = importlib.util.spec_from_file_location("unpack", script)
    if spec is None or spec.loader is None or not script.is_file():
        raise SuiteError(f"{script}: there is no such file; set BILEX_SHARED to the folder that has data/unpack.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
