"""The input files of a suite: find them, check them, and convert tables so that cells can map them into memory.

A table in another format is converted once and cached in the data folder. Every cell then opens it at once, and
parallel cells share its memory. The cache may be deleted at any time.
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
Place = Literal["file", "sample", "shared", "muse", "identical"]
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
    """The comment sign of a dictionary. It depends on the file name, which may be another one on a cluster."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """A table or a dictionary as a suite names it."""

    kind: Kind
    place: Place
    name: str
    """The path of a file, which may contain ${VARIABLES}, or its name in another place."""
    base: Path
    """The folder that paths are relative to."""
    max_words: int | None = None
    sha256: str | None = None
    """The expected hash of the file, if it is known."""
    pair: str = ""
    """The language pair, for the advice how to fetch the file."""
    tables: tuple[Input, ...] = ()
    """Source and target table of a dictionary of identical words, whose name is a range such as 0-5000."""

    @property
    def label(self) -> str:
        """How the suite names it."""
        cut = "" if self.max_words is None else f", first {self.max_words:,} words"
        return (self.name if self.place == "file" else f"{self.place} {self.name}") + cut

    def find(self) -> Path:
        """The path of its file, which must exist; for identical words that of the source table."""
        for table in self.tables:
            table.find()
        path = self.tables[0].find() if self.tables else self._path()
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
            "file": "correct the path in the suite, or put the file there",
            "sample": "the bundled languages are en, fr and fi, the pairs en-fr and en-fi",
            "shared": "set BILEX_SHARED to the folder that has data/unpack.py",
            "muse": f"fetch it with bilex data fetch muse {self.pair}",
        }[self.place]


@dataclass(frozen=True)
class Store:
    """Prepares inputs, each one once."""

    folder: Path = field(default_factory=lambda: data_folder() / "tables")
    """Folder of the converted tables."""
    converts: bool = True
    """Whether a table in another format is converted, or refused."""
    _ready: dict[Input, Ready] = field(default_factory=dict, repr=False)

    def prepare(self, wanted: Input) -> Ready:
        """The file for cells to read: the input itself, or the converted table."""
        if wanted not in self._ready:
            self._ready[wanted] = self._prepare(wanted)
        return self._ready[wanted]

    def _prepare(self, wanted: Input) -> Ready:
        if wanted.tables:
            return self._write_identical(wanted)
        path = wanted.find()
        if wanted.kind == "dictionary" or path.suffix == NATIVE:
            found = sha256(path)
            check_sum(path, found, wanted.sha256)
            comment = comment_prefix(path) if wanted.kind == "dictionary" else None
            return Ready(path=path, max_words=wanted.max_words, sha256=found, label=wanted.label, comment=comment)
        native = self.folder / f"{path.name.split('.')[0]}-{_fingerprint(path, wanted)}{NATIVE}"
        if not native.is_file():
            if not self.converts:
                raise SuiteError(f"{path}: not converted yet; bilex bench run converts it")
            if wanted.sha256 is not None:
                check_sum(path, sha256(path), wanted.sha256)
            native.parent.mkdir(parents=True, exist_ok=True)
            table = _read_foreign(path, wanted)
            require_disk_space(native, table.rows.nbytes, "the converted table")
            table.write(native)
        return Ready(path=native, max_words=None, sha256=sha256(native), label=wanted.label)

    def _write_identical(self, wanted: Input) -> Ready:
        """A dictionary of the words of both tables, from the most frequent source word on, cut to the range."""
        ready = [self.prepare(table) for table in wanted.tables]
        identity = repr([(table.sha256, table.max_words) for table in ready])
        path = self.folder / f"identical-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.{wanted.name}.tsv"
        if not path.is_file():
            source, target = (EmbeddingTable.read(table.path, max_words=table.max_words) for table in ready)
            words = [word for word in source.words if word in target and not word.startswith("#")]
            begin, end = map(int, wanted.name.split("-"))
            path.parent.mkdir(parents=True, exist_ok=True)
            Lexicon.from_pairs((word, word) for word in words[begin:end]).write(path)
        return Ready(path=path, max_words=None, sha256=sha256(path), label=wanted.label, comment="#")


def check_sum(path: Path, found: str, needed: str | None) -> None:
    """Refuse a file whose contents do not have the expected hash."""
    if needed is not None and found != needed.lower():
        raise SuiteError(
            f"{path}: its SHA-256 is {found}, but the suite needs {needed}; get the file again, or correct the suite"
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
    """A random sample of `count` pairs of different source words; both words of each pair have vectors."""
    usable = Lexicon.from_pairs(pair for pair in train if pair[0] in source and pair[1] in target)
    _, drawn = usable.split(count=count, rng_seed=rng_seed)
    return Lexicon.from_pairs((word, targets[0]) for word, targets in drawn.targets_of().items())


def _fingerprint(path: Path, wanted: Input) -> str:
    """A hash that changes when the file changes. It does not read the file, which can have gigabytes."""
    state = path.stat()
    identity = (str(path.resolve()), state.st_size, state.st_mtime_ns, wanted.max_words, wanted.sha256)
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]


def _read_foreign(path: Path, wanted: Input) -> EmbeddingTable:
    if wanted.place != "shared":
        return EmbeddingTable.read(path, max_words=wanted.max_words)
    words, rows = _unpacker(path.parents[1] / "unpack.py").load(wanted.name, wanted.max_words)
    return EmbeddingTable(words, rows)


def _unpacker(script: Path) -> Any:
    """The script that comes with the packed tables and opens them."""
    spec = importlib.util.spec_from_file_location("unpack", script)
    if spec is None or spec.loader is None or not script.is_file():
        raise SuiteError(f"{script}: there is no such file; set BILEX_SHARED to the folder that has data/unpack.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
