"""Write text tables. Each number is written in the shortest form that reads back as the same float32."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from bilex.errors import TableError
from bilex.io.lines import trailing_numbers

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

BLOCK_ROWS = 1 << 12
"""Rows that are formatted together."""
BATCH_ROWS = 1 << 8
"""Rows of a block that one thread formats."""


def write_text(file: IO[bytes], words: list[str], rows: NDArray[np.float32], *, header: bool) -> None:
    """Write lines of `word number number ...`, block by block. header: write the counts first."""
    import polars as pl

    if header:
        file.write(b"%d %d\n" % rows.shape)
    for start in range(0, len(words), BLOCK_ROWS):
        frame = pl.DataFrame(rows[start : start + BLOCK_ROWS], orient="row")
        frame.insert_column(0, pl.Series("word", words[start : start + BLOCK_ROWS], pl.String))
        text = frame.write_csv(include_header=False, separator=" ", quote_style="never", batch_size=BATCH_ROWS)
        file.write(text.encode())


def check_text_words(path: Path, words: list[str], *, header: bool) -> None:
    """Refuse words that would be read back differently."""
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
