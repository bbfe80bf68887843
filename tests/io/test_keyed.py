import importlib
import struct
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bilex.errors import MissingExtraError, TableError
from bilex.io import size
from bilex.io.keyed import import_gensim
from bilex.io.open import read_contents
from bilex.table import EmbeddingTable

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    models = pytest.importorskip("gensim.models")
    fasttext = importlib.import_module("gensim.models.fasttext")


quiet = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def fasttext_bin(tmp_path_factory):
    sentences = [["the", "black", "cat", "sat"], ["the", "white", "dog", "ran"]] * 5
    model = fasttext.FastText(sentences, vector_size=8, min_count=1, bucket=200, epochs=1, workers=1, seed=1)
    path = tmp_path_factory.mktemp("fasttext") / "tiny.bin"
    fasttext.save_facebook_model(model, str(path))
    return path, model.wv


def test_fasttext_has_rows_and_subwords(fasttext_bin):
    path, keyed = fasttext_bin
    table = EmbeddingTable.read(path)
    assert read_contents(path).format == "fasttext"
    assert table.words == keyed.index_to_key
    assert np.allclose(table.rows, keyed.vectors, atol=1e-6)
    assert "blackest" not in table
    assert np.allclose(table.vector("blackest"), keyed.get_vector("blackest"), atol=1e-6)
    assert table.vector("blackest").dtype == np.float32
    assert len(EmbeddingTable.read(path, max_words=3)) == 3


def test_subwords_with_numbers_that_are_not_finite(fasttext_bin, tmp_path):
    """Where no word of the table has them; a word that has is left out."""
    (file, keyed), path = fasttext_bin, tmp_path / "t.bin"
    used = set(np.concatenate(list(keyed.buckets_word)).tolist())
    bucket = next(b for b in fasttext.ft_ngram_hashes("blackest", keyed.min_n, keyed.max_n, 200) if b not in used)
    whole, words = file.read_bytes(), len(keyed)
    at = whole.index(struct.pack("<?2q", False, words + 200, 8)) + 17 + (words + bucket) * 32
    path.write_bytes(whole[:at] + np.float32(np.nan).tobytes() + whole[at + 4 :])
    table = EmbeddingTable.read(path)
    assert len(table) == words
    assert np.isfinite(table.vector("unseen")).all()
    with pytest.raises(TableError, match=r"the subwords of 'blackest' have numbers that are not finite.*; download"):
        table.vector("blackest")


def test_fasttext_cut_short_is_an_error(fasttext_bin, tmp_path):
    """Wherever it is cut: within the words, gensim would read for ever."""
    whole, cut = fasttext_bin[0].read_bytes(), tmp_path / "cut.bin"
    last = whole.rindex(b"dog") + 400
    for end in [*range(4, last), *range(last, len(whole), 97), len(whole) - 1]:
        cut.write_bytes(whole[:end])
        with pytest.raises(TableError, match=r"cut\.bin: a damaged fastText \.bin .*; download it again"):
            read_contents(cut)


def test_fasttext_that_says_what_cannot_be_true(fasttext_bin, tmp_path, monkeypatch):
    whole, path = fasttext_bin[0].read_bytes(), tmp_path / "wrong.bin"
    words = struct.unpack_from("<i", whole, 64)[0]
    matrix = whole.index(struct.pack("<?2q", False, words + 200, 8))
    for place, form, value, message in (
        (8, "<i", 1 << 30, "each vector has 1,073,741,824 numbers; needed at most"),
        (8, "<i", -1, "dimension -1"),
        (40, "<i", -5, "-5 buckets"),
        (48, "<i", 1 << 20, "n-grams of 3 to 1048576 letters"),
        (64, "<i", -1, "-1 entries"),
        (64, "<i", words + 1, f"{words + 1} entries for {words} words and 0 labels"),
        (64, "<3i", (1 << 30, 1 << 30, 0), "within its words, of which it should have 1,073,741,824"),
        (84, "<q", 1 << 60, "cut short within its list of pruned n-grams"),
        (matrix, "<?", True, "a quantised model"),
        (matrix + 1, "<q", 1 << 40, "cut short within its vectors"),
        (matrix + 9, "<q", -8, "vectors of .* rows and -8 columns"),
    ):
        data = bytearray(whole)
        struct.pack_into(form, data, place, *(value if isinstance(value, tuple) else (value,)))
        path.write_bytes(data)
        with pytest.raises(TableError, match=message):
            read_contents(path)
    path.write_bytes(whole[:92] + b"x" * (1 << 17))
    with pytest.raises(TableError, match="no end of word 1 within 64 KB"):
        read_contents(path)
    path.write_bytes(whole)
    monkeypatch.setattr(size, "free_memory", lambda: 1000)
    with pytest.raises(TableError, match=r"its vectors take .* in memory, and .* are free; read fewer words"):
        read_contents(path)


@pytest.mark.filterwarnings("ignore")  # those of gensim about odd settings
@quiet
@given(data=st.data())
def test_fasttext_damaged_anywhere(fasttext_bin, tmp_path, data):
    whole = bytearray(fasttext_bin[0].read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(4, 1200))] = data.draw(st.integers(0, 255))
    (tmp_path / "damaged.bin").write_bytes(whole)
    try:
        contents = read_contents(tmp_path / "damaged.bin")
    except TableError:
        return
    assert len(contents.words) == len(contents.rows)


def test_there_and_back():
    table = EmbeddingTable(["a", "b"], np.array([[1, 2], [3, 4]], np.float32))
    keyed = table.to_gensim()
    assert keyed["b"].tolist() == [3, 4]
    again = EmbeddingTable.from_gensim(keyed)
    assert again.words == table.words
    assert np.array_equal(again.rows, table.rows)
    assert again.subwords is None


def test_subwords_come_along(fasttext_bin):
    table = EmbeddingTable.from_gensim(fasttext_bin[1])
    assert np.array_equal(table.vector("blackest"), fasttext_bin[1].get_vector("blackest"))


def test_without_gensim_the_extra_is_named(monkeypatch):
    def refuse(name, *_):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(
        MissingExtraError, match=r"reading a fastText .bin needs the package gensim: pip install 'bilex\[gensim\]'"
    ):
        import_gensim("gensim.models", "reading a fastText .bin")
