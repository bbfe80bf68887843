"""fastText's .bin, looked through before gensim reads it: that would go on for ever where a file ends within its words.

magic, version; 12 settings and a threshold; counts of entries, words, labels, tokens and pruned n-grams; of each entry
the word, a zero byte, its count and kind; the pruned n-grams; then twice a flag, rows, columns and the matrix.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Any

from bilex.errors import TableError
from bilex.io.detect import FASTTEXT_MAGIC
from bilex.io.size import MAX_WORD_BYTES, check_dim, check_memory
from bilex.io.stream import read_errors_as_table_errors

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = Struct("<4si12id")
COUNTS = Struct("<3i2q")
AFTER_WORD = Struct("<qb")
PRUNED = Struct("<2i")
MATRIX = Struct("<?2q")
MAX_NGRAM_LENGTH = 256
FLOAT_BYTES = 4


def check_fasttext(path: Path) -> None:
    """Refuse a model that is cut short or says what cannot be true."""
    with read_errors_as_table_errors(path), path.open("rb") as file:
        if path.stat().st_size < SETTINGS.size:
            raise _damaged(path, "it ends within its header")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            _check(_Cursor(path, data))


def _check(walk: _Cursor) -> None:
    magic, _, dim, *rest, _ = walk.take(SETTINGS, "header")
    bucket, minn, maxn = rest[7:10]
    if magic != FASTTEXT_MAGIC:
        raise TableError(f"{walk.path}: no fastText .bin; leave out the format, and it is found out")
    check_dim(walk.path, dim)
    if dim < 1 or bucket < 0 or not 0 <= minn <= MAX_NGRAM_LENGTH or not 0 <= maxn <= MAX_NGRAM_LENGTH:
        raise _damaged(walk.path, f"dimension {dim}, {bucket:,} buckets, n-grams of {minn} to {maxn} letters")
    entries, words, labels, _, pruned = walk.take(COUNTS, "header")
    if min(entries, words, labels) < 0 or entries != words + labels:
        raise _damaged(walk.path, f"{entries:,} entries for {words:,} words and {labels:,} labels")
    walk.skip_words(entries)
    walk.skip(max(0, pruned) * PRUNED.size, "list of pruned n-grams")
    for what in ("vectors", "output vectors"):
        quantised, rows, columns = walk.take(MATRIX, what)
        if quantised:
            raise TableError(f"{walk.path}: a quantised model, which cannot be read; use the .bin it was made from")
        if rows < 0 or columns < 0:
            raise _damaged(walk.path, f"{what} of {rows:,} rows and {columns:,} columns")
        walk.skip(rows * columns * FLOAT_BYTES, what)
        if what == "vectors":  # the others are not read
            check_memory(walk.path, rows * columns * FLOAT_BYTES, "its vectors")


def _damaged(path: Path, found: str) -> TableError:
    return TableError(f"{path}: a damaged fastText .bin ({found}); download it again")


@dataclass
class _Cursor:
    """A place in a file that moves on, and never beyond its end."""

    path: Path
    data: mmap.mmap
    place: int = 0

    def take(self, form: Struct, what: str) -> tuple[Any, ...]:
        """The next values."""
        start = self.place
        self.skip(form.size, what)
        return form.unpack_from(self.data, start)

    def skip(self, size: int, what: str) -> None:
        """Move on by so many bytes, which must be there."""
        if size > len(self.data) - self.place:
            missing = size - (len(self.data) - self.place)
            raise _damaged(self.path, f"cut short within its {what}, {missing:,} bytes are missing")
        self.place += size

    def skip_words(self, count: int) -> None:
        """Move on behind so many words with their counts."""
        data, place, behind = self.data, self.place, 1 + AFTER_WORD.size
        for number in range(1, count + 1):
            end = data.find(b"\0", place, place + MAX_WORD_BYTES)
            if end < 0 or end + behind > len(data):
                within = (
                    f"no end of word {number:,} within 64 KB" if place + MAX_WORD_BYTES < len(data) else "cut short"
                )
                raise _damaged(self.path, f"{within} within its words, of which it should have {count:,}")
            place = end + behind
        self.place = place
