"""Tables as numpy arrays: `.npz` with words and rows together, `.npy` with the words in a file beside it."""

from __future__ import annotations

import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from bilex.errors import TableError
from bilex.io.contents import Contents
from bilex.io.gather import Gatherer, Parsed
from bilex.io.report import Fault
from bilex.io.stream import reading

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

WORD_SUFFIXES = (".words", ".txt", ".vocab")


def read_npz(path: Path, *, max_words: int | None = None, strict: bool = False) -> Contents:
    """Read an archive with `words` and either `rows` or `vectors`."""
    arrays = load(path)
    name = "rows" if "rows" in arrays else "vectors"
    if "words" not in arrays or name not in arrays:
        found = ", ".join(arrays) or "nothing"
        raise TableError(f"{path}: has the arrays {found}; needed 'words' and 'rows' (or 'vectors')")
    return screen(path, "npz", words_of(path, arrays["words"]), arrays[name], max_words, strict)


def read_npy(
    path: Path,
    *,
    words: Path | None = None,
    max_words: int | None = None,
    encoding: str = "utf-8",
    strict: bool = False,
) -> Contents:
    """Read a matrix and its words, one on each line of the file `words` (default: NAME.words, .txt or .vocab)."""
    words = words or find_words(path)
    with reading(words):
        raw = words.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    try:
        lines = raw.removesuffix(b"\n").decode(encoding).split("\n")
    except (UnicodeDecodeError, LookupError) as error:
        raise TableError(f"{words}: not {encoding} ({error}); give the encoding the words are in") from None
    return screen(path, "npy", lines, load(path)["rows"], max_words, strict)


def write_npz(file: IO[bytes], words: list[str], rows: NDArray[Any]) -> None:
    """Write `rows` and `words`, the latter as the bytes of newline-joined UTF-8: no padding, no pickle."""
    np.savez(file, rows=rows, words=np.frombuffer("\n".join(words).encode(), np.uint8))


def screen(
    path: Path, name: str, words: list[str], rows: NDArray[Any], max_words: int | None, strict: bool
) -> Contents:
    """Check that words and rows fit each other, and leave out rows that have no use."""
    if rows.ndim != 2 or not np.issubdtype(rows.dtype, np.floating):
        raise TableError(
            f"{path}: rows are {rows.dtype} of shape {rows.shape}; needed a matrix of floating-point numbers"
        )
    if len(words) != len(rows):
        raise TableError(f"{path}: {len(words):,} words and {len(rows):,} rows; needed one word for each row")
    gatherer = Gatherer(path, unit="row", max_words=max_words, strict=strict)
    with np.errstate(over="ignore"):  # what is too large for float32 becomes infinite, and is counted as such
        single = np.ascontiguousarray(rows, dtype=np.float32)
    named = [i for i, word in enumerate(words) if word]
    faults = [Fault("empty_word", i + 1, "a row and no word") for i, word in enumerate(words) if not word]
    single = single if not faults else single[named]
    gatherer.add(Parsed([words[i] for i in named], single, [i + 1 for i in named], faults))
    kept, matrix, report = gatherer.finish()
    return Contents(name, kept, matrix, report)


def load(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of a file by name (`rows` for a plain .npy); pickled objects are refused."""
    try:
        with reading(path):
            loaded = np.load(path, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"rows": loaded}
            with loaded:
                return {name: loaded[name] for name in loaded.files}
    except (ValueError, KeyError, RuntimeError, MemoryError, zipfile.BadZipFile) as error:
        raise TableError(f"{path}: not a readable numpy file ({error}); write it again without objects") from None


def words_of(path: Path, array: NDArray[Any]) -> list[str]:
    """Words from an array of strings, or from the bytes of newline-joined UTF-8."""
    if array.ndim == 1 and array.dtype.kind == "U":
        return [str(word) for word in array.tolist()]
    if array.ndim == 1 and array.dtype == np.uint8:
        try:
            return array.tobytes().decode().split("\n")
        except UnicodeDecodeError as error:
            raise TableError(f"{path}: 'words' is not UTF-8 ({error}); write it again") from None
    raise TableError(
        f"{path}: 'words' is {array.dtype} of shape {array.shape}; needed strings, or UTF-8 bytes as uint8"
    )


def find_words(path: Path) -> Path:
    """The file of words beside a matrix."""
    for suffix in WORD_SUFFIXES:
        if (words := path.with_suffix(suffix)).is_file():
            return words
    names = ", ".join(path.with_suffix(suffix).name for suffix in WORD_SUFFIXES)
    raise TableError(f"{path}: a matrix without words; needed one of {names} beside it, or name the file: words=...")
