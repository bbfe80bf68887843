"""Writing text tables: each number in the shortest form that reads back as the same float32."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from bilex.errors import TableError
from bilex.io.lines import trailing_numbers

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

BLOCK_ROWS = 1 << 12
"""Rows that are made text at once."""
BATCH_ROWS = 1 << 8
"""Rows that one thread takes of them."""


def write_text(file: IO[bytes], words: list[str], rows: NDArray[np.float32], *, header: bool) -> None:
    """Write `word number number ...` lines, block by block; with `header` the counts come first."""
    import polars as pl

    if header:
        file.write(b"%d %d\n" % rows.shape)
    for start in range(0, len(words), BLOCK_ROWS):
        frame = pl.DataFrame(rows[start : start + BLOCK_ROWS], orient="row")
        frame.insert_column(0, pl.Series("word", words[start : start + BLOCK_ROWS], pl.String))
        text = frame.write_csv(include_header=False, separator=" ", quote_style="never", batch_size=BATCH_ROWS)
        file.write(text.encode())


def check_text_words(path: Path, words: list[str], *, header: bool) -> None:
    """Refuse words that would be read back as something else."""
    for i, word in enumerate(words):
        if " " in word and (word != word.strip(" ") or trailing_numbers(word.encode().split(b" "))):
            raise TableError(
                f"{path}: row {i + 1}: the word {word!r} begins or ends with a space or ends in a number, "
                "and would be read back differently; write .safetensors"
            )
    if not header and words[0].startswith("\ufeff"):
        raise TableError(
            f"{path}: row 1: the word {words[0]!r} begins with a byte order mark; write .vec or .safetensors"
        )
