"""A table of word vectors: the one thing that everything else works on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bilex.errors import TableError
from bilex.io.report import ReadReport

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from bilex.io.contents import Contents, Subwords

__all__ = ["EmbeddingTable", "ReadReport"]


@dataclass(frozen=True, eq=False)
class EmbeddingTable:
    """Words in order of frequency and their rows; row i belongs to word i.

    `rows` is (n, d) float32, row-major; `report` tells what reading repaired; `subwords` makes vectors for words
    that are not in the table; `origin` is the file it was read from.
    """

    words: list[str] = field(repr=False)
    rows: NDArray[np.float32] = field(repr=False)
    report: ReadReport = field(default=ReadReport(), repr=False)
    subwords: Subwords | None = field(default=None, repr=False)
    origin: Path | None = None

    def __post_init__(self) -> None:
        found = f"{self.rows.dtype} of shape {self.rows.shape}"
        if self.rows.ndim != 2 or self.rows.dtype != np.float32 or 0 in self.rows.shape:
            raise TableError(f"rows are {found}; needed a float32 matrix with at least one row")
        if not self.rows.flags.c_contiguous:
            raise TableError(f"rows are {found} and not row-major; pass np.ascontiguousarray(rows)")
        if len(self.words) != len(self.rows):
            raise TableError(f"{len(self.words):,} words and {len(self.rows):,} rows; needed one word for each row")

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        max_words: int | None = None,
        format: str | None = None,  # noqa: A002 (the name the user knows)
        words: str | PathLike[str] | None = None,
        encoding: str = "utf-8",
        strict: bool = False,
    ) -> Self:
        """Read a table of any format that `docs/formats.md` names; the content tells which, not the suffix.

        Lines that cannot be used are left out whole and counted in `report`; with `strict` the first of them raises.
        """
        from bilex.io.open import read_contents

        contents = read_contents(
            Path(path),
            max_words=max_words,
            format=format,
            words=Path(words) if words is not None else None,
            encoding=encoding,
            strict=strict,
        )
        return cls._of(contents, Path(path))

    def write(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 (the name the user knows)
        dtype: str = "float32",
    ) -> None:
        """Write by suffix: .vec, .txt (no header), .bin (word2vec), .npz, .safetensors; .gz may follow the first three.

        Subwords are not written. `dtype` float16 halves .npz and .safetensors.
        """
        from bilex.io.write import write_contents

        write_contents(Path(path), self.words, self.rows, format=format, dtype=dtype)

    @classmethod
    def from_gensim(cls, keyed_vectors: Any) -> Self:
        """Take words and rows, and subwords if any, from gensim KeyedVectors. Needs the extra `gensim`."""
        from bilex.io.keyed import from_keyed

        return cls._of(from_keyed(keyed_vectors), None)

    def to_gensim(self) -> Any:
        """Gensim KeyedVectors with the same words and rows. Needs the extra `gensim`."""
        from bilex.io.keyed import to_keyed

        return to_keyed(self.words, self.rows)

    @property
    def dim(self) -> int:
        """Numbers for each word."""
        return int(self.rows.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """Row of each word; where a word is there twice, the first."""
        return {word: i for i, word in reversed(list(enumerate(self.words)))}

    def vector(self, word: str) -> NDArray[np.float32]:
        """The row of a word, or what the subwords make of it when it is not in the table."""
        row = self.index.get(word)
        if row is not None:
            vector: NDArray[np.float32] = self.rows[row]
            return vector
        made = self.subwords(word) if self.subwords is not None else None
        if made is None or not made.any():
            advice = "check letter case, read more words, or use a fastText .bin, which has vectors for any word"
            raise TableError(f"{word!r} is not among the {len(self):,} words of {self.origin or 'the table'}; {advice}")
        return made

    def head(self, n: int) -> EmbeddingTable:
        """The first n words; their rows are shared, not copied."""
        return replace(self, words=self.words[:n], rows=self.rows[:n])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    @classmethod
    def _of(cls, contents: Contents, origin: Path | None) -> Self:
        return cls(contents.words, contents.rows, contents.report, contents.subwords, origin)
