"""A small real sample to try everything with, offline: English-French and English-Finnish.

Where the data come from, how they were chosen and under which licences: `NOTICE.md` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from bilex.errors import SettingsError
from bilex.lexicon import Lexicon
from bilex.table import EmbeddingTable

if TYPE_CHECKING:
    from pathlib import Path

_PAIRS = ("en-fr", "en-fi")
_PARTS = ("train", "dev", "test")


@dataclass(frozen=True, eq=False)
class Sample:
    """Two tables of 5,700 words and a dictionary in three parts that share no source word."""

    source: EmbeddingTable
    target: EmbeddingTable
    train: Lexicon
    dev: Lexicon
    test: Lexicon


def pairs() -> list[str]:
    """The language pairs to choose from."""
    return list(_PAIRS)


def load(pair: str) -> Sample:
    """The tables and lexicons of one language pair."""
    source, target = _languages(pair)
    train, dev, test = (_lexicon(f"{pair}.{part}.tsv") for part in _PARTS)
    return Sample(_table(source), _table(target), train, dev, test)


def files_of(pair: str, folder: Path) -> dict[str, Path]:
    """The files that `write` makes in a folder, such as `en.vec` and `en-fr.train.tsv`, by the fields of `Sample`."""
    source, target = _languages(pair)
    tables = {"source": folder / f"{source}.vec", "target": folder / f"{target}.vec"}
    return tables | {part: folder / f"{pair}.{part}.tsv" for part in _PARTS}


def write(pair: str, folder: Path) -> None:
    """Write the tables and lexicons of one language pair as files of text. Files of the same names are replaced."""
    data = load(pair)
    for field, path in files_of(pair, folder).items():
        getattr(data, field).write(path)


def _languages(pair: str) -> tuple[str, str]:
    if pair not in _PAIRS:
        raise SettingsError(f"no sample for {pair!r}; choose one of {', '.join(_PAIRS)}")
    source, target = pair.split("-")
    return source, target


def _table(language: str) -> EmbeddingTable:
    with as_file(files(__name__) / "data" / f"{language}.safetensors") as path:
        return EmbeddingTable.read(path)


def _lexicon(name: str) -> Lexicon:
    with as_file(files(__name__) / "data" / name) as path:
        return Lexicon.read(path)
