"""Read a table of any format: detect the format and call its reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bilex.errors import TableError
from bilex.io.detect import detect
from bilex.io.stream import require_seekable_file

if TYPE_CHECKING:
    from pathlib import Path

    from bilex.io.contents import Contents

FORMATS = ("text", "vec", "glove", "word2vec", "fasttext", "npz", "npy", "safetensors")


def read_contents(
    path: Path,
    *,
    max_words: int | None = None,
    format: str | None = None,  # noqa: A002 (the name the user knows)
    words: Path | None = None,
    encoding: str = "utf-8",
    strict: bool = False,
) -> Contents:
    """Read a table of any format.

    format: skip detection; `vec` is text with a header, `glove` text without, `text` either. words: the file with the
    words of a .npy.
    """
    if format is not None and format not in FORMATS:
        raise TableError(f"{path}: unknown format {format!r}; needed one of {', '.join(FORMATS)}")
    require_seekable_file(path)
    name = format or detect(path)
    match name:
        case "text" | "vec" | "glove":
            from bilex.io.text import read_text

            header = {"text": None, "vec": True, "glove": False}[name]
            return read_text(path, header=header, max_words=max_words, encoding=encoding, strict=strict)
        case "word2vec":
            from bilex.io.word2vec import read_word2vec

            return read_word2vec(path, max_words=max_words, encoding=encoding, strict=strict)
        case "fasttext":
            from bilex.io.keyed import read_fasttext

            return read_fasttext(path, max_words=max_words, strict=strict)
        case "npz":
            from bilex.io.arrays import read_npz

            return read_npz(path, max_words=max_words, strict=strict)
        case "npy":
            from bilex.io.arrays import read_npy

            return read_npy(path, words=words, max_words=max_words, encoding=encoding, strict=strict)
        case _:
            from bilex.io.native import read_native

            return read_native(path, max_words=max_words)
