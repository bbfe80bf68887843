"""Examples of words in an indexed corpus."""

from __future__ import annotations

import re
import sqlite3
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from bilex.errors import ExplorerError
from bilex.explorer.corpus_index import UNSPACED, connect, spaced

if TYPE_CHECKING:
    from pathlib import Path

MAX_FOUND = 200
"""Sentences considered for a word; if it has more, the number is not counted further."""
CONTEXT = 90
"""Characters shown on each side of the word."""
GOOD_LENGTH = 110
"""Characters of a sentence that is neither too short to tell anything nor too long to read."""


class Example(NamedTuple):
    """A sentence with the word in it: the text before, the word as it is written there, and the text after."""

    before: str
    match: str
    after: str


class Found(NamedTuple):
    """Examples of a word, and the number of sentences that have it, up to `MAX_FOUND`."""

    sentences: int
    examples: list[Example]


class Corpus:
    """An indexed corpus. Safe to use from several threads."""

    def __init__(self, index: Path) -> None:
        self._lock = threading.Lock()
        self._index = index
        try:
            self._file = connect(index)
        except sqlite3.Error as error:
            raise ExplorerError(f"{index}: damaged ({error}); delete it, and it is made again") from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def examples(self, word: str, n: int) -> Found:
        """The n sentences that are the best to read, each once."""
        if not any(map(str.isalnum, word)):
            return Found(0, [])
        texts = self._sentences(word)
        pattern = _pattern(word)
        matches = [(text, match) for text in dict.fromkeys(texts) if (match := pattern.search(text))]
        matches.sort(key=lambda found: abs(len(found[0]) - GOOD_LENGTH))
        return Found(len(texts), [_example(text, match) for text, match in matches[:n]])

    def _sentences(self, word: str) -> list[str]:
        phrase = '"' + spaced(word).replace('"', '""') + '"'
        query = (
            "SELECT text FROM examples WHERE id IN (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?) ORDER BY id"
        )
        with self._lock:
            try:
                return [text for (text,) in self._file.execute(query, (phrase, MAX_FOUND))]
            except sqlite3.Error as error:
                raise ExplorerError(f"{self._index}: damaged ({error}); delete it, and it is made again") from None


def _pattern(word: str) -> re.Pattern[str]:
    """The word as a whole, in any letter case; in a script without spaces, wherever it stands."""
    escaped = re.escape(word).replace(r"\ ", r"\s+")
    return re.compile(escaped if UNSPACED.search(word) else rf"(?<!\w){escaped}(?!\w)", re.IGNORECASE)


def _example(text: str, match: re.Match[str]) -> Example:
    before, after = text[: match.start()], text[match.end() :]
    if len(before) > CONTEXT:
        before = "…" + before[-CONTEXT:].partition(" ")[2]
    if len(after) > CONTEXT:
        after = after[:CONTEXT].rpartition(" ")[0] + "…"
    return Example(before, match.group(), after)


def found_view(word: str, found: Found) -> dict[str, Any]:
    """The examples of a word as plain values."""
    examples = [example._asdict() for example in found.examples]
    return {"word": word, "count": found.sentences, "more": found.sentences >= MAX_FOUND, "examples": examples}
