"""Conversion from and to gensim, which is also used to read fastText .bin files. Needs the extra `gensim`."""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bilex.errors import MissingExtraError, TableError
from bilex.io.arrays import contents_from_arrays
from bilex.io.fasttext import check_fasttext
from bilex.io.stream import read_errors_as_table_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bilex.io.contents import Contents


def read_fasttext(path: Path, *, max_words: int | None = None, strict: bool = False) -> Contents:
    """Read a fastText .bin with its subwords, so that words outside the vocabulary have vectors too."""
    fasttext = import_gensim("gensim.models.fasttext", "reading a fastText .bin")
    check_fasttext(path)
    try:
        with read_errors_as_table_errors(path):
            keyed = fasttext.load_facebook_vectors(str(path))
    except TableError:
        raise
    except Exception as error:  # gensim raises AssertionError, struct.error, numpy and Unicode errors
        advice = "download it again, or read the .vec file that comes with it"
        raise TableError(f"{path}: gensim cannot read this fastText .bin ({error!r}); {advice}") from error
    return from_keyed(keyed, path, "fasttext", max_words=max_words, strict=strict)


def from_keyed(
    keyed: Any, path: Path | None = None, name: str = "gensim", *, max_words: int | None = None, strict: bool = False
) -> Contents:
    """Contents of gensim KeyedVectors, or of a model that has them. Subwords are kept if there are any."""
    keyed = getattr(keyed, "wv", keyed)
    models = import_gensim("gensim.models.fasttext", "taking vectors from gensim")
    words = [str(word) for word in keyed.index_to_key]
    contents = contents_from_arrays(path or Path("gensim KeyedVectors"), name, words, keyed.vectors, max_words, strict)
    subwords = KeyedSubwords(keyed) if isinstance(keyed, models.FastTextKeyedVectors) else None
    return replace(contents, subwords=subwords)


def to_keyed(words: list[str], rows: NDArray[np.float32]) -> Any:
    """Gensim KeyedVectors with a copy of the rows."""
    models = import_gensim("gensim.models", "handing vectors to gensim")
    keyed = models.KeyedVectors(rows.shape[1])
    keyed.add_vectors(words, rows)
    return keyed


@dataclass(frozen=True)
class KeyedSubwords:
    """Vectors from gensim's FastTextKeyedVectors: the mean over the character n-grams of a word."""

    keyed: Any

    def __call__(self, word: str) -> NDArray[np.float32]:
        """The vector, (d,)."""
        try:
            vector = np.array(self.keyed.get_vector(word), np.float32)
        except KeyError:  # no n-gram of the word is known
            return np.zeros(self.keyed.vector_size, np.float32)
        if not np.isfinite(vector).all():
            raise TableError(f"the subwords of {word!r} have numbers that are not finite: damaged; download them again")
        return vector


def import_gensim(module: str, purpose: str) -> Any:
    """Import a module of gensim, without the deprecation warnings of gensim's own imports."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError("gensim", "gensim", purpose) from None
