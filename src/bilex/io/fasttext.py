"""Check of a fastText .bin before gensim reads it. gensim would loop forever if the file ended within its words.

Format: magic number and version; 12 settings and a threshold; numbers of entries, words, labels, tokens and pruned
n-grams; for each entry the word, a zero byte, its count and its type; the pruned n-grams; then two matrices, each with
a flag (quantized or not), the number of rows, the number of columns and the values.
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
    """Refuse a model that is truncated or has an impossible header."""
    with read_errors_as_table_errors(path), path.open("rb") as file:
        if path.stat().st_size < SETTINGS.size:
            raise _damaged(path, "it ends within its header")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            _check(_Cursor(path, data))


def _check(cursor: _Cursor) -> None:
    magic, _, dim, *rest, _ = cursor.take(SETTINGS, "header")
    bucket, minn, maxn = rest[7:10]
    if magic != FASTTEXT_MAGIC:
        raise TableError(f"{cursor.path}: not a fastText .bin; leave out the format, and it is detected")
    check_dim(cursor.path, dim)
    if dim < 1 or bucket < 0 or not 0 <= minn <= MAX_NGRAM_LENGTH or not 0 <= maxn <= MAX_NGRAM_LENGTH:
        raise _damaged(cursor.path, f"dimension {dim}, {bucket:,} buckets, n-grams of {minn} to {maxn} letters")
    entries, words, labels, _, pruned = cursor.take(COUNTS, "header")
    if min(entries, words, labels) < 0 or entries != words + labels:
        raise _damaged(cursor.path, f"{entries:,} entries for {words:,} words and {labels:,} labels")
    cursor.skip_words(entries)
    cursor.skip(max(0, pruned) * PRUNED.size, "list of pruned n-grams")
    for what in ("vectors", "output vectors"):
        quantised, rows, columns = cursor.take(MATRIX, what)
        if quantised:
            raise TableError(f"{cursor.path}: a quantised model, which cannot be read; use the .bin it was made from")
        if rows < 0 or columns < 0:
            raise _damaged(cursor.path, f"{what} of {rows:,} rows and {columns:,} columns")
        cursor.skip(rows * columns * FLOAT_BYTES, what)
        if what == "vectors":  # the output vectors are not read
            check_memory(cursor.path, rows * columns * FLOAT_BYTES, "its vectors")


def _damaged(path: Path, found: str) -> TableError:
    return TableError(f"{path}: a damaged fastText .bin ({found}); download it again")


@dataclass
class _Cursor:
    """A read position in a file that never moves beyond the end."""

    path: Path
    data: mmap.mmap
    place: int = 0

    def take(self, form: Struct, what: str) -> tuple[Any, ...]:
        """Read the next values."""
        start = self.place
        self.skip(form.size, what)
        return form.unpack_from(self.data, start)

    def skip(self, size: int, what: str) -> None:
        """Skip `size` bytes. TableError if the file ends before."""
        if size > len(self.data) - self.place:
            missing = size - (len(self.data) - self.place)
            raise _damaged(self.path, f"cut short within its {what}, {missing:,} bytes are missing")
        self.place += size

    def skip_words(self, count: int) -> None:
        """Skip `count` words, each with its count and type."""
        data, place, entry_tail = self.data, self.place, 1 + AFTER_WORD.size
        for number in range(1, count + 1):
            end = data.find(b"\0", place, place + MAX_WORD_BYTES)
            if end < 0 or end + entry_tail > len(data):
                within = (
                    f"no end of word {number:,} within 64 KB" if place + MAX_WORD_BYTES < len(data) else "cut short"
                )
                raise _damaged(self.path, f"{within} within its words, of which it should have {count:,}")
            place = end + entry_tail
        self.place = place
