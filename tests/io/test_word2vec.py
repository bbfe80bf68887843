import gzip
import io
import warnings

import numpy as np
import pytest

from bilex.errors import TableError
from bilex.io import word2vec
from bilex.io.open import read_contents
from bilex.io.word2vec import read_word2vec, write_word2vec

WORDS = ["the", "of", "слово", "a\u00a0b", '"']
ROWS = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)


def encoded(words=WORDS, rows=ROWS, *, newline=b"\n", claimed=None):
    records = (
        (word if isinstance(word, bytes) else word.encode()) + b" " + row.tobytes() + newline
        for word, row in zip(words, rows, strict=True)
    )
    return b"%d %d\n" % (claimed or len(words), rows.shape[1]) + b"".join(records)


@pytest.fixture
def read(tmp_path):
    def read(data, **settings):
        path = tmp_path / "table.bin"
        path.write_bytes(data)
        return read_word2vec(path, **settings)

    return read


@pytest.mark.parametrize("newline", [b"\n", b""])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("chunk", [16, 1 << 20])
def test_reads_with_and_without_newlines(read, monkeypatch, newline, pack, chunk):
    monkeypatch.setattr(word2vec, "CHUNK_BYTES", chunk)
    contents = read(pack(encoded(newline=newline)))
    assert contents.words == WORDS
    assert np.array_equal(contents.rows, ROWS)
    assert contents.rows.flags.writeable
    assert contents.report.summary() == []


def test_reads_what_it_writes(read):
    file = io.BytesIO()
    write_word2vec(file, WORDS, ROWS)
    assert file.getvalue() == encoded()


def test_reads_what_gensim_writes_and_the_other_way_round(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        models = pytest.importorskip("gensim.models")
    keyed = models.KeyedVectors(7)
    keyed.add_vectors(WORDS, ROWS)
    keyed.save_word2vec_format(str(tmp_path / "gensim.bin"), binary=True)
    contents = read_contents(tmp_path / "gensim.bin")
    assert contents.words == WORDS
    assert np.array_equal(contents.rows, ROWS)
    with (tmp_path / "ours.bin").open("wb") as file:
        write_word2vec(file, WORDS, ROWS)
    again = models.KeyedVectors.load_word2vec_format(str(tmp_path / "ours.bin"), binary=True)
    assert again.index_to_key == WORDS
    assert np.array_equal(again.vectors, ROWS)


def test_rows_without_use_are_left_out_and_counted(read):
    rows = np.vstack([ROWS, ROWS])
    rows[1], rows[2, 3] = 0, np.nan
    words = [b"a", b"zero", b"nan", b"\xff", b"", b"a", b"b", b"c", b"d", b"e"]
    contents = read(encoded(words, rows))
    assert contents.words == ["a", "b", "c", "d", "e"]
    assert np.array_equal(contents.rows, rows[[0, 6, 7, 8, 9]])
    lines = {repair.kind: repair.examples[0].line for repair in contents.report.repairs}
    assert lines == {"zero": 2, "not_finite": 3, "undecodable": 4, "empty_word": 5, "duplicate": 6}
    with pytest.raises(TableError, match=r"table\.bin, row 2: zero: the vector of 'zero'"):
        read(encoded(words, rows), strict=True)


@pytest.mark.parametrize("claimed", [2, 10**12])
def test_header_that_lies_on_the_count_is_reported(read, claimed):
    contents = read(encoded(claimed=claimed))
    assert contents.words == WORDS
    assert contents.report.count("header") == 1


def test_max_words(read):
    contents = read(encoded()[:-20], max_words=2)
    assert contents.words == WORDS[:2]
    assert contents.report.summary() == []


@pytest.mark.parametrize("missing", [2, 10, 29])
def test_file_cut_short_is_an_error(read, missing):
    with pytest.raises(TableError, match="ends in the middle of row 5; download it again"):
        read(encoded()[:-missing])


def test_other_binary_data_are_an_error(read):
    with pytest.raises(TableError, match="needed a word2vec header"):
        read(b"\x01\x02\x03")
    with pytest.raises(TableError, match="row 1: no end of the word within 64 KB"):
        read(b"5 2\n" + b"x" * (1 << 17))
    with pytest.raises(TableError, match="no usable row"):
        read(b"5 2\n")


def test_encoding(read):
    assert read(encoded([b"\xe9", *WORDS[1:2]], ROWS[:2]), encoding="latin-1").words == ["é", "of"]
