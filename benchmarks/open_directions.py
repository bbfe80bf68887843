"""Benchmark data: sixteen language directions, and two large tables of one language.

They are loaded from the folder in the environment variable BILEX_SHARED (default: ../shared beside the checkout).
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bilex import EmbeddingTable, Lexicon

SHARED = Path(os.environ.get("BILEX_SHARED", Path(__file__).parents[2] / "shared"))


@dataclass(frozen=True)
class OpenDirection:
    """Source and target language, the tables (name, words read), and the folder of the dictionaries."""

    source: str
    target: str
    tables: tuple[tuple[str, int | None], tuple[str, int | None]]
    dictionaries: str = "muse"

    @property
    def name(self) -> str:
        """The name, such as en-fr."""
        return f"{self.source}-{self.target}"

    def load(self) -> tuple[EmbeddingTable, EmbeddingTable]:
        """Source and target table."""
        return load_table(*self.tables[0]), load_table(*self.tables[1])

    def train(self) -> Lexicon:
        """The MUSE train dictionary."""
        return self._lexicon("0-5000")

    def test(self) -> Lexicon:
        """The MUSE test dictionary, for evaluation only."""
        return self._lexicon("5000-6500")

    def _lexicon(self, part: str) -> Lexicon:
        return Lexicon.read(SHARED / "data" / "dictionaries" / self.dictionaries / f"{self.name}.{part}.txt")


def _both(source: str, target: str, *tables: tuple[str, int | None], dictionaries: str = "muse") -> list[OpenDirection]:
    return [
        OpenDirection(source, target, (tables[0], tables[1]), dictionaries),
        OpenDirection(target, source, (tables[1], tables[0]), dictionaries),
    ]


DIRECTIONS = {
    direction.name: direction
    for direction in [
        *_both("en", "fr", ("en", None), ("fr", None)),
        *_both("en", "fi", ("en", None), ("fi", 40_000)),
        *_both("en", "ru", ("en", None), ("ru", 40_000)),
        *_both("en", "zh", ("en-glove", 40_000), ("zh", 40_000), dictionaries="muse/simplified"),
        *_both("en", "he", ("en", None), ("he", None)),
        *_both("en", "ar", ("en", None), ("ar", None)),
        *_both("en", "es", ("en", None), ("es", None)),
        *_both("en", "it", ("en", None), ("it", None)),
    ]
}
"""The first eight have rich vectors, the others poor ones: small corpora of another domain."""


class World(NamedTuple):
    """Two tables, a train lexicon and a test lexicon."""

    source: EmbeddingTable
    target: EmbeddingTable
    train: Lexicon
    test: Lexicon


TRAIN_WORDS = 5000
"""Shared words before the first test word."""


def load_russian_pair(words: int, *, pairs: int = TRAIN_WORDS, test: int = 1500, dim: int | None = None) -> World:
    """Russian vectors of fiction and of news (`ru`, `ru-news`), with a lexicon of the words in both tables.

    dim: use only the first columns. The shared words are in order of frequency. Test words begin at the 5,001st; the
    most frequent other words are for training. If there are too few words, a quarter of them is for testing.
    """
    source, target = (_cut(load_table(name, words), dim) for name in ("ru", "ru-news"))
    shared = [(word, word) for word in source.words if word in target]
    test = min(test, len(shared) // 4)
    start = min(TRAIN_WORDS, len(shared) - test)
    train = (shared[:start] + shared[start + test :])[:pairs]
    return World(source, target, Lexicon.from_pairs(train), Lexicon.from_pairs(shared[start : start + test]))


def _cut(table: EmbeddingTable, dim: int | None) -> EmbeddingTable:
    return EmbeddingTable(table.words, np.ascontiguousarray(table.rows[:, :dim])) if dim else table


@cache
def load_table(name: str, max_words: int | None = None) -> EmbeddingTable:
    """A table from the shared folder, by name."""
    require_shared()
    spec = importlib.util.spec_from_file_location("unpack", SHARED / "data" / "unpack.py")
    assert spec is not None
    assert spec.loader is not None
    unpack = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(unpack)
    words, rows = unpack.load(name, max_words)
    return EmbeddingTable(words, rows)


def require_shared() -> None:
    """Exit with a clear message if the data are missing."""
    if reason := missing_data_reason():
        raise SystemExit(reason)


def missing_data_reason() -> str | None:
    """Why the data are missing, or None."""
    if (SHARED / "data" / "unpack.py").exists():
        return None
    return f"no data at {SHARED}: set BILEX_SHARED to the folder that has data/unpack.py"
