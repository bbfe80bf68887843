"""Index a text corpus in SQLite FTS5, so that examples of a word are found in milliseconds."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from bilex.errors import ExplorerError
from bilex.storage.disk import describe_os_error, file_kind
from bilex.storage.files import atomic_write
from bilex.storage.strict_json import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from bilex.search.blocks import Progress

SCHEMA = """
CREATE TABLE about (identity TEXT NOT NULL);
CREATE TABLE examples (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = "unicode61 remove_diacritics 0");
"""
APPLICATION_ID = 0x62696C63
"""SQLite application id in the file header: "bilc"."""
VERSION = 1
BLOCK = 1 << 20
"""Bytes read at once."""
HASH_BYTES = 32 << 20
"""Memory that FTS5 fills before it writes a part of the index."""
MAX_CHARACTERS = 500
"""Characters of an example; longer sentences are cut at a space."""
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"»”')\]]*\s+|(?<=[。！？])")
UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
"""Letters of scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


def ensure_index(corpus: Path, index: Path, progress: Progress | None = None) -> bool:
    """Make the index of a file or a folder of texts, unless it is there. Returns whether it was made.

    The file appears when it is complete, so a killed program leaves no half index. Memory is bounded.
    """
    files = corpus_files(corpus)
    identity = identity_of(corpus, files)
    if _identity_in(index) == identity:
        return False
    try:
        index.parent.mkdir(exist_ok=True)
        with atomic_write(index) as temporary:
            _build(files, temporary, identity, progress or (lambda *_: None))
    except OSError as error:
        raise ExplorerError(f"{index}: the index of {corpus} cannot be written: {describe_os_error(error)}") from None
    except sqlite3.Error as error:
        raise ExplorerError(f"{index}: the index of {corpus} cannot be written ({error})") from None
    return True


def corpus_files(corpus: Path) -> list[Path]:
    """The file, or all files below the folder but hidden ones, sorted by name. ExplorerError if there is none."""
    if corpus.is_dir():
        below = (path for path in sorted(corpus.rglob("*")) if path.is_file())
        files = [path for path in below if not any(part.startswith(".") for part in path.relative_to(corpus).parts)]
        if not files:
            raise ExplorerError(f"{corpus}: there is no text file in this folder; name a folder of plain text files")
        return files
    if not corpus.exists():
        raise ExplorerError(
            f"{corpus}: there is no such file or folder; name a plain text file, or a folder of such files"
        )
    if (kind := file_kind(corpus)) is not None:
        raise ExplorerError(f"{corpus}: this is {kind}, needed a text file or a folder of text files")
    return [corpus]


def identity_of(corpus: Path, files: Iterable[Path]) -> str:
    """What the corpus is: names, sizes and times of its files. An index of another state is made anew."""
    stats = ((path, path.stat()) for path in files)
    return to_json(
        [VERSION, str(corpus.resolve()), [[str(path), stat.st_size, stat.st_mtime_ns] for path, stat in stats]]
    )


def spaced(text: str) -> str:
    """The text with spaces around each letter of a script without spaces, so that any string of them can be found."""
    return UNSPACED.sub(r" \1 ", text) if UNSPACED.search(text) else text


def sentences(path: Path, done: list[int]) -> Iterator[str]:
    """The sentences of a file; bytes that are not UTF-8 are replaced. done[0] grows by the bytes that were read."""
    with path.open("rb") as file:
        rest = b""
        while block := file.read(BLOCK):
            if b"\0" in block:
                raise ExplorerError(
                    f"{path}: this is no plain text (it has null bytes); take it out, or convert it to UTF-8"
                )
            done[0] += len(block)
            lines = (rest + block).split(b"\n")
            rest = lines.pop() if len(lines[-1]) < BLOCK else b""
            yield from _split(lines)
        yield from _split([rest])


def _split(lines: list[bytes]) -> Iterator[str]:
    for line in lines:
        text = " ".join(line.decode(errors="replace").split())
        for sentence in SENTENCE_END.split(text) if len(text) > MAX_CHARACTERS // 4 else (text,):
            while len(sentence) > MAX_CHARACTERS:
                end = sentence.rfind(" ", MAX_CHARACTERS // 2, MAX_CHARACTERS) + 1 or MAX_CHARACTERS
                yield sentence[:end].strip()
                sentence = sentence[end:]
            if sentence:
                yield sentence


def _build(files: list[Path], index: Path, identity: str, progress: Progress) -> None:
    total, done = sum(path.stat().st_size for path in files), [0]
    with closing(sqlite3.connect(index, isolation_level=None)) as file:
        file.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
            f"PRAGMA cache_size = -32000; BEGIN; {SCHEMA}"
        )
        file.execute("INSERT INTO words (words, rank) VALUES ('hashsize', ?)", (HASH_BYTES,))
        number = 0
        for path in files:
            for batch in _batches(sentences(path, done)):
                rows = list(enumerate(batch, number + 1))
                file.executemany("INSERT INTO examples VALUES (?, ?)", rows)
                file.executemany(
                    "INSERT INTO words (rowid, text) VALUES (?, ?)", ((key, spaced(text)) for key, text in rows)
                )
                number += len(rows)
                progress(done[0], total)
        if not number:
            raise ExplorerError(f"{files[0]}: there is no text in the corpus; name a file with text")
        file.execute("INSERT INTO about VALUES (?)", (identity,))
        file.execute("COMMIT")


def _batches(texts: Iterator[str], size: int = 5000) -> Iterator[list[str]]:
    batch: list[str] = []
    for text in texts:
        batch.append(text)
        if len(batch) == size:
            yield batch
            batch = []
    yield batch


def _identity_in(index: Path) -> str | None:
    """The corpus that an index is of; None if the file is no index of this version."""
    if not index.is_file():
        return None
    try:
        with closing(connect(index)) as file:
            identity: str = file.execute("SELECT identity FROM about").fetchone()[0]
            return identity
    except (sqlite3.Error, TypeError):
        return None


def connect(index: Path) -> sqlite3.Connection:
    """Open an index for reading. sqlite3.Error if it has other tables, or views and triggers, which could run code."""
    file = sqlite3.connect(f"{index.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    try:
        file.execute("PRAGMA trusted_schema = OFF")
        with closing(sqlite3.connect(":memory:")) as expected:
            expected.executescript(SCHEMA)
            if _tables(file) != _tables(expected):
                raise sqlite3.DatabaseError("its tables are not those of an index")
    except BaseException:
        file.close()
        raise
    return file


def _tables(file: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Type, name and definition of all tables."""
    return file.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
