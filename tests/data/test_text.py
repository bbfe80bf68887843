import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilex.data.text import ContentError, Decoder, LineCounter, check_table, first_words, write_head


@pytest.fixture(params=[False, True], ids=["plain", "gzipped"])
def gzipped(request):
    return request.param


@pytest.fixture
def file(tmp_path, gzipped):
    def write(text):
        path = tmp_path / "table"
        path.write_bytes(gzip.compress(text, mtime=0) if gzipped else text)
        return path

    return write


@given(st.binary(max_size=300), st.integers(1, 50), st.booleans(), st.integers(0, 300))
def test_pieces_of_any_size(text, size, gzipped, border):
    data = gzip.compress(text[:border]) + gzip.compress(text[border:]) if gzipped else text
    decoder, lines = Decoder(gzipped=gzipped), LineCounter(gzipped=gzipped)
    plain = b""
    for i in range(0, len(data), size):
        plain += decoder.feed(data[i : i + size])
        lines.feed(data[i : i + size])
    assert plain == text
    assert lines.count == text.count(b"\n")
    assert decoder.finished
    assert lines.finished


def test_a_good_table(file, vec, gzipped):
    assert check_table(file(vec), gzipped=gzipped) == 200


@pytest.mark.parametrize("cut", [1, 10, 2000])
def test_a_table_that_is_cut_short(file, vec, gzipped, cut):
    with pytest.raises(ContentError, match="it is cut short: the header says 200 words, there are 1"):
        check_table(file(vec[:-cut]), gzipped=gzipped)


def test_gzip_data_that_are_cut_short(tmp_path, zipped):
    path = tmp_path / "x.gz"
    path.write_bytes(zipped[:-1])
    with pytest.raises(ContentError, match="cut short"):
        check_table(path, gzipped=True)


def test_gzip_data_that_are_damaged(tmp_path, zipped):
    path = tmp_path / "x.gz"
    path.write_bytes(zipped[:-8] + b"\0\0\0\0" + zipped[-4:])
    with pytest.raises(ContentError, match="the compressed data are damaged"):
        check_table(path, gzipped=True)


@pytest.mark.parametrize("text", [b"", b"\n", b"<html>\n", b"the 0.1 0.2\n", b"x" * 5000])
def test_a_table_without_a_header(file, gzipped, text):
    with pytest.raises(ContentError, match="needed a header"):
        check_table(file(text), gzipped=gzipped)


@pytest.mark.parametrize("count", [1, 2, 150, 200])
def test_the_first_words(file, vec, gzipped, tmp_path, count):
    path = file(vec)
    assert first_words(path, count, gzipped=gzipped) == count
    write_head(path, tmp_path / "head", count, gzipped=gzipped)
    lines = vec.splitlines(keepends=True)
    assert (tmp_path / "head").read_bytes() == b"%d 3\n" % count + b"".join(lines[1 : count + 1])


def test_first_words_over_many_chunks(file, vec, gzipped, tmp_path, monkeypatch):
    monkeypatch.setattr("bilex.data.text.CHUNK_BYTES", 7)
    write_head(file(vec), tmp_path / "head", 123, gzipped=gzipped)
    assert (tmp_path / "head").read_bytes().split(b"\n", 1)[1] == b"".join(vec.splitlines(keepends=True)[1:124])


def test_fewer_words_than_asked_for(file, vec, gzipped):
    assert first_words(file(vec), 300, gzipped=gzipped) == 200


def test_fewer_words_than_the_header_says(file, vec, gzipped):
    path = file(b"".join(vec.splitlines(keepends=True)[:100]))
    assert first_words(path, 99, gzipped=gzipped) == 99
    with pytest.raises(ContentError, match="cut short"):
        first_words(path, 100, gzipped=gzipped)
