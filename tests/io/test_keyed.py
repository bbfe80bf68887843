import importlib
import warnings

import numpy as np
import pytest

from bilex.errors import MissingExtraError, TableError
from bilex.io.keyed import import_gensim
from bilex.io.open import read_contents
from bilex.table import EmbeddingTable

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    models = pytest.importorskip("gensim.models")
    fasttext = importlib.import_module("gensim.models.fasttext")


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


def test_fasttext_cut_short_is_an_error(fasttext_bin, tmp_path):
    (tmp_path / "cut.bin").write_bytes(fasttext_bin[0].read_bytes()[:400])
    with pytest.raises(TableError, match=r"cut\.bin: gensim cannot read this fastText \.bin .*; download it again"):
        read_contents(tmp_path / "cut.bin")


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
