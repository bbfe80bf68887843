"""Write a table in any format, given by the suffix. The write is atomic."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from bilex.errors import TableError
from bilex.io.arrays import write_npz
from bilex.io.native import write_native
from bilex.io.text_writer import check_text_words, write_text
from bilex.io.word2vec import write_word2vec
from bilex.storage.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

SUFFIXES = {".vec": "vec", ".txt": "glove", ".bin": "word2vec", ".npz": "npz", ".safetensors": "safetensors"}
COMPRESSIBLE = ("vec", "glove", "word2vec")
HALF_PRECISION = ("npz", "safetensors")


def write_contents(
    path: Path,
    words: list[str],
    rows: NDArray[np.float32],
    *,
    format: str | None = None,  # noqa: A002 (the name the user knows)
    dtype: str = "float32",
) -> None:
    """Write a table in `format` (default: by the suffix of `path`). A further suffix `.gz` compresses text and .bin."""
    name = choose_format(path, format)
    check_words(path, words, name)
    stored = convert(path, words, rows, name, dtype)
    with open_atomically(path, compress=path.suffix == ".gz") as file:
        match name:
            case "vec" | "glove":
                write_text(file, words, stored, header=name == "vec")
            case "word2vec":
                write_word2vec(file, words, stored)
            case "npz":
                write_npz(file, words, stored)
            case _:
                write_native(file, words, stored)


def choose_format(path: Path, name: str | None) -> str:
    """The format to write: the given name, or by the suffix of the path."""
    suffixes = path.suffixes[-2:]
    compressed = suffixes[-1:] == [".gz"]
    found = name or SUFFIXES.get((suffixes[:-1] if compressed else suffixes)[-1] if len(suffixes) > compressed else "")
    if found is None or found not in SUFFIXES.values() or (compressed and found not in COMPRESSIBLE):
        known = ", ".join(SUFFIXES)
        raise TableError(
            f"{path}: do not know how to write this; needed a name that ends in {known}, .vec.gz, .txt.gz or .bin.gz"
        )
    return found


def check_words(path: Path, words: list[str], name: str) -> None:
    """Refuse words that the format cannot hold. They would be read back differently."""
    for i, word in enumerate(words):
        if "\n" in word or not word:
            raise TableError(
                f"{path}: row {i + 1}: the word {word!r} is empty or has a newline; remove it and write again"
            )
        if name == "word2vec" and " " in word:
            raise TableError(
                f"{path}: row {i + 1}: the word {word!r} has a space, which ends a word in this format; "
                "write .safetensors or .vec"
            )
    try:
        "".join(words).encode()
    except UnicodeEncodeError as error:
        raise TableError(f"{path}: a word is not valid Unicode ({error}); remove it and write again") from None
    if name in ("vec", "glove"):
        check_text_words(path, words, header=name == "vec")


def convert(path: Path, words: list[str], rows: NDArray[np.float32], name: str, dtype: str) -> NDArray[Any]:
    """The rows in the requested dtype. TableError if a row is not finite in it."""
    if dtype not in ("float32", "float16"):
        raise TableError(f"{path}: unknown dtype {dtype!r}; needed float32 or float16")
    if dtype == "float16" and name not in HALF_PRECISION:
        raise TableError(f"{path}: this format holds float32 only; write .safetensors or .npz for float16")
    with np.errstate(over="ignore"):
        stored: NDArray[Any] = rows.astype(dtype, copy=False)
    finite = np.isfinite(stored).all(axis=1)
    if not finite.all():
        first = int(np.argmin(finite))
        raise TableError(
            f"{path}: row {first + 1} ({words[first]!r}) is not finite in {dtype}; remove it and write again"
        )
    return stored


@contextmanager
def open_atomically(path: Path, *, compress: bool = False) -> Iterator[IO[bytes]]:
    """An open temporary file that is renamed to `path` at the end. On any error the old file remains."""
    try:
        with atomic_write(path) as temporary:
            if compress:
                with temporary.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
                    yield cast("IO[bytes]", file)
            else:
                with temporary.open("wb") as file:
                    yield file
    except OSError as error:
        advice = "make the folder first" if not path.parent.is_dir() else "free some space or choose another place"
        raise TableError(
            f"{path}: cannot be written ({error.strerror or error}); nothing was changed; {advice}, and try again"
        ) from error
