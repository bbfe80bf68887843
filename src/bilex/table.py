"""A table of word vectors, the basic data type of bilex."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bilex.candidates import asked_for, look_up, nearest_words
from bilex.errors import TableError, UnknownWordError
from bilex.io.in_memory import is_gensim, table_contents
from bilex.io.report import ReadReport
from bilex.page.display import MAX_SHOWN_ROWS, Displayed, format_count, format_list, more_rows_note
from bilex.text.words import describe_value, quote, truncate, word_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike, NDArray
    from torch import Tensor

    from bilex.candidates import Candidate
    from bilex.io.contents import Contents, Subwords
    from bilex.io.in_memory import TableLike
    from bilex.page.tables import Table

__all__ = ["EmbeddingTable", "ReadReport"]


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingTable(Displayed):
    """Words in order of frequency and their vectors; row i is the vector of word i.

    rows: (n, d) float32, row-major. report: what was repaired while reading. subwords: computes vectors for words that
    are not in the table. origin: the file that it was read from.

    `table["dog"]` is the vector of a word, `table[["dog", "cat"]]` the vectors of several, (q, d). `len(table)` is the
    number of words; `"dog" in table` and `for word in table` work too.
    """

    words: list[str]
    rows: NDArray[np.float32]
    report: ReadReport = field(default=ReadReport())
    subwords: Subwords | None = None
    origin: Path | None = None

    def __post_init__(self) -> None:
        if isinstance(self.words, str):
            raise TableError(f"words are the string {quote(self.words)}; needed a list of words, one for each row")
        found = f"{self.rows.dtype} of shape {self.rows.shape}"
        if self.rows.ndim != 2 or self.rows.dtype != np.float32 or 0 in self.rows.shape:
            raise TableError(f"rows are {found}; needed a float32 matrix with at least one row")
        if not self.rows.flags.c_contiguous:
            raise TableError(f"rows are {found} and not row-major; pass np.ascontiguousarray(rows)")
        if len(self.words) != len(self.rows):
            raise TableError(f"{len(self.words):,} words and {len(self.rows):,} rows; needed one word for each row")

    @classmethod
    def of(cls, given: TableLike) -> EmbeddingTable:
        """A table from any source of word vectors; all functions that take a table accept the same sources.

        An EmbeddingTable is returned unchanged. A path is read. KeyedVectors and models of gensim, (words, rows) and
        dicts from words to vectors are accepted; their order should be that of frequency. Rows that cannot be used are
        left out and counted in `report`.
        """
        if isinstance(given, EmbeddingTable):
            return given
        return cls.read(given) if isinstance(given, str | PathLike) else cls._of(table_contents(given), None)

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
        """Read a table in any format of `docs/reference/formats.md`. The format is detected from the content.

        Lines that cannot be used are left out and counted in `report`; with `strict`, the first one is an error.
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
        """Write by suffix: .vec, .txt (no header), .bin (word2vec) or .gz of these, .npz, .safetensors.

        Subwords are not written. `dtype="float16"` halves the size of .npz and .safetensors.
        """
        from bilex.io.write import write_contents

        write_contents(Path(path), self.words, self.rows, format=format, dtype=dtype)

    @classmethod
    def from_gensim(cls, keyed_vectors: Any) -> Self:
        """A table from gensim KeyedVectors, with their subwords if any. Needs the extra `gensim`."""
        if not is_gensim(keyed_vectors):
            raise TableError(
                f"found {describe_value(keyed_vectors)}; needed KeyedVectors of gensim, or a model with them"
            )
        from bilex.io.keyed import from_keyed

        return cls._of(from_keyed(keyed_vectors), None)

    def to_gensim(self) -> Any:
        """Gensim KeyedVectors with the same words and rows. Needs the extra `gensim`."""
        from bilex.io.keyed import to_keyed

        return to_keyed(self.words, self.rows)

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return int(self.rows.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """Row of each word; the first row, if a word occurs twice."""
        return {word: i for i, word in reversed(list(enumerate(self.words)))}

    def vector(self, word: str) -> NDArray[np.float32]:
        """The vector of a word; if it is not in the table, the vector from its subwords."""
        row = self.index.get(word)
        if row is not None:
            vector: NDArray[np.float32] = self.rows[row]
            return vector
        from_subwords = self.subwords(word) if self.subwords is not None else None
        if from_subwords is None or not from_subwords.any():
            advice = "check letter case, read more words, or use a fastText .bin, which has vectors for any word"
            place = self.origin or "the table"
            raise UnknownWordError(f"{word!r} is not among the {len(self):,} words of {place}; {advice}")
        return from_subwords

    def most_similar(self, word: str | ArrayLike, n: int = 10, *, topn: int | None = None) -> list[Candidate]:
        """The n words nearest to a word or to a vector (d,), by cosine, best first; a word is not its own neighbour.

        `topn` is gensim's name for n.
        """
        n = asked_for(n, topn)
        vector, row = look_up(self, word)
        return nearest_words(vector, self._unit_rows, self.words, n, apart_from=row)

    def head(self, n: int) -> EmbeddingTable:
        """A table of the first n words; the rows are shared, not copied."""
        return replace(self, words=self.words[:n], rows=self.rows[:n])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __getitem__(self, words: str | Iterable[str]) -> NDArray[np.float32]:
        """The vector of a word, (d,), or of several words, (q, d), as in `vector`."""
        if isinstance(words, str):
            return self.vector(words)
        return np.array([self.vector(word) for word in word_list(words)], np.float32).reshape(-1, self.dim)

    @cached_property
    def _unit_rows(self) -> Tensor:
        import torch

        from bilex.normalize import unit

        return unit(torch.from_numpy(self.rows))

    def _line(self) -> str:
        origin = f" from {quote(self.origin.name)}" if self.origin is not None else ""
        words = format_list([quote(word) for word in self.words[:MAX_SHOWN_ROWS]], len(self))
        return f"{format_count(len(self), 'word')} of {format_count(self.dim, 'dimension')}{origin}: {words}"

    def _preview(self) -> Table:
        from bilex.page.tables import Table, row

        shown = zip(self.words[:MAX_SHOWN_ROWS], self.rows[:MAX_SHOWN_ROWS, :MAX_SHOWN_ROWS].tolist(), strict=True)
        rows = tuple(
            row(truncate(word), format_list([f"{x:.4g}" for x in vector], self.dim, most=MAX_SHOWN_ROWS))
            for word, vector in shown
        )
        return Table("table", "Word vectors", ("word", "vector"), rows, more_rows_note(len(self), "word"))

    @classmethod
    def _of(cls, contents: Contents, origin: Path | None) -> Self:
        return cls(contents.words, contents.rows, contents.report, contents.subwords, origin)
