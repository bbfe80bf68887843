"""A lexicon as a StarDict dictionary (2.4.2). GoldenDict, KOReader and others can open it.

NAME.ifo    description, as text
NAME.idx    for each word: its bytes, a zero byte, then offset and length of its article, 32 bits each, big-endian
NAME.dict   the articles, one after another
"""

from __future__ import annotations

import struct
from contextlib import ExitStack
from typing import TYPE_CHECKING

from bilex import __version__
from bilex.errors import LexiconError
from bilex.storage.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bilex.entry import Entry

SUFFIXES = (".ifo", ".idx", ".dict")
MAX_WORD_BYTES = 255
"""Limit of the format."""
MAX_ARTICLE_BYTES = 2**32
"""Limit for all articles together: offsets have 32 bits."""


def stardict_files(path: Path) -> list[Path]:
    """The files of a dictionary whose .ifo is `path`."""
    return [path.with_suffix(suffix) for suffix in SUFFIXES]


def fits_stardict(entry: Entry) -> bool:
    """Whether both words can be written."""
    try:
        return "\0" not in entry.source and len(entry.source.encode()) <= MAX_WORD_BYTES and bool(entry.target.encode())
    except UnicodeEncodeError:
        return False


def write_stardict(path: Path, entries: Iterable[Entry], languages: tuple[str, str]) -> None:
    """Write the three files into one folder. `path` is the .ifo, which is put in place last."""
    index, articles = encode_entries(entries)
    description = _description(path.stem, len(index), sum(map(len, index)), languages)
    with ExitStack() as stack:  # temporary files are renamed in reverse order
        ifo, idx, data = (stack.enter_context(atomic_write(file)) for file in stardict_files(path))
        ifo.write_text(description, encoding="utf-8", newline="\n")
        idx.write_bytes(b"".join(index))
        data.write_bytes(articles)


def encode_entries(entries: Iterable[Entry]) -> tuple[list[bytes], bytes]:
    """The sorted records of the .idx, and the bytes of the .dict. An article has one translation per line, best first.

    A translation that was given, not found, is marked: `le [given]`.
    """
    targets: dict[str, list[str]] = {}
    for entry in entries:
        targets.setdefault(entry.source, []).append(_format_translation(entry))
    index, articles = [], bytearray()
    for word in sorted(targets, key=sort_key):
        article = "\n".join(targets[word]).encode()
        index.append(word.encode() + b"\0" + struct.pack(">II", len(articles), len(article)))
        articles += article
        if len(articles) >= MAX_ARTICLE_BYTES:
            raise LexiconError("larger than a StarDict dictionary can be (4 GB); keep fewer translations (`n`)")
    return index, bytes(articles)


def _format_translation(entry: Entry) -> str:
    return entry.target if entry.origin == "found" else f"{entry.target} [{entry.origin}]"


def sort_key(word: str) -> tuple[bytes, bytes]:
    """Sort key of StarDict: the bytes with ASCII letters in lower case, then the bytes."""
    encoded = word.encode()
    return encoded.lower(), encoded


def _description(name: str, words: int, index_size: int, languages: tuple[str, str]) -> str:
    lines = [
        "StarDict's dict ifo file",
        "version=2.4.2",
        f"wordcount={words}",
        f"idxfilesize={index_size}",
        f"bookname={' '.join(name.split())}",
        f"description={'-'.join(languages)}, made with bilex {__version__}",
        "sametypesequence=m",
    ]
    return "\n".join(lines) + "\n"
