"""Each way in which a text table can be wrong is an error that names the line, or a counted repair."""

import gzip
import re

import numpy as np
import pytest

from bilex.errors import TableError
from bilex.io import text
from bilex.io.text import read_text

GOOD = b"2 3\nthe 1 2 3\nof 4 5 6\n"


@pytest.fixture
def read(tmp_path):
    def read(data, **settings):
        path = tmp_path / "table.vec"
        path.write_bytes(data)
        return read_text(path, **settings)

    return read


def table(contents):
    return {word: row.tolist() for word, row in zip(contents.words, contents.rows, strict=True)}


def repairs(contents):
    return {
        repair.kind: [(example.line, example.detail) for example in repair.examples]
        for repair in contents.report.repairs
    }


def test_reads_header_words_and_rows(read):
    contents = read(GOOD)
    assert table(contents) == {"the": [1, 2, 3], "of": [4, 5, 6]}
    assert (contents.format, contents.header.words, contents.header.width) == ("vec", 2, 3)
    assert contents.rows.dtype == np.float32
    assert contents.rows.flags.c_contiguous
    assert contents.rows.flags.writeable
    assert (contents.report.lines, contents.report.kept, contents.report.summary()) == (2, 2, [])


@pytest.mark.parametrize(
    "data",
    [
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\n", b" \n"),
        GOOD.replace(b"\n", b" \r\n"),
        GOOD.replace(b" ", b"\t"),
        GOOD.replace(b"the ", b"the\t").replace(b"of ", b"of\t"),
        b"\xef\xbb\xbf" + GOOD,
        GOOD.removesuffix(b"\n"),
        GOOD + b"\n\n",
        GOOD.replace(b"of", b"\n  \nof"),
        GOOD.replace(b"the ", b"the  "),
        gzip.compress(GOOD),
        gzip.compress(GOOD[:9]) + gzip.compress(GOOD[9:]),
    ],
)
def test_harmless_differences_change_nothing(read, data):
    contents = read(data)
    assert table(contents) == {"the": [1, 2, 3], "of": [4, 5, 6]}
    assert contents.report.summary() == []


def test_byte_order_mark_is_noticed_with_and_without_header(read):
    assert read(b"\xef\xbb\xbf" + GOOD).bom
    contents = read(b"\xef\xbb\xbfthe 1 2 3\n")
    assert (contents.words, contents.bom) == (["the"], True)


def test_no_header_is_needed(read):
    contents = read(b"the 0.1 0.2\nof 0.3 0.4\n")
    assert (contents.words, contents.format, contents.header) == (["the", "of"], "glove", None)


@pytest.mark.parametrize("first", [b"word 0.1 0.2", b"3 0.5", b"3.0 1", b"-3 1", b"3 1e0", b"1 2 3"])
def test_first_line_with_a_vector_is_not_a_header(read, first):
    word, *numbers = first.split()
    contents = read(first + b"\n" + b"a" + b" 0.5" * len(numbers) + b"\n")
    assert table(contents)[word.decode()] == pytest.approx([float(number) for number in numbers])


def test_one_dimension(read):
    assert table(read(b"3 1\na 0.5\nb 2\nc 3\n")) == {"a": [0.5], "b": [2], "c": [3]}


def test_format_settles_what_the_first_line_is(read):
    assert read(b"3 1\n5 2\n", header=False).words == ["3", "5"]
    with pytest.raises(TableError, match=r"line 1: needed a header.*format='glove'"):
        read(b"the 1 2\n", header=True)


ODD_WORDS = ['"', '""', "'", "nan", "NaN", "NA", "null", "None", "inf", "#", "#x", ",", "1", "-1.5", "\\", "a\tb", "🙂"]
ODD_WORDS += ["a\u00a0b", "\u00a0", "\u3000", "\u2028", "\x1c", "\x85", "a\rb", "\r", "\ufeff", "\ufeffx", "\x00", "é"]


@pytest.mark.parametrize("chunk", [20, 1 << 20])
def test_odd_words_survive(read, monkeypatch, chunk):
    monkeypatch.setattr(text, "CHUNK_BYTES", chunk)
    lines = "".join(f"{word} {i}.5 1 1\n" for i, word in enumerate(ODD_WORDS))
    contents = read(f"{len(ODD_WORDS)} 3\n{lines}".encode())
    assert contents.words == ODD_WORDS
    assert contents.rows[:, 0].tolist() == [i + 0.5 for i in range(len(ODD_WORDS))]


def test_words_with_spaces_are_the_part_before_the_numbers(read):
    contents = read(b"a 1 2\n. . . 3 4\nat name@domain.com 5 6\n")
    assert table(contents) == {"a": [1, 2], ". . .": [3, 4], "at name@domain.com": [5, 6]}
    assert contents.report.summary() == []


@pytest.mark.parametrize(
    ("line", "kind", "detail"),
    [
        (b"bad 1 2", "wrong_width", "2 numbers, needed 3"),
        (b"bad", "wrong_width", "0 numbers, needed 3"),
        (b"bad 1 2 3 4", "wrong_width", "4 numbers, needed 3"),
        (b"bad 1 2 3 4 5", "wrong_width", "5 numbers, needed 3"),
        (b"bad 1 x 3", "not_a_number", "'x' in the vector of 'bad'"),
        (b"bad 1 2,5 3", "not_a_number", "'2,5' in the vector of 'bad'"),
        (b"bad 1  3", "not_a_number", "'' in the vector of 'bad'"),
        (b"bad 1 \xff 3", "not_a_number", r"'\xff' in the vector of 'bad'"),
        (b"bad 1 1_0 3", "not_a_number", "'1_0' in the vector of 'bad'"),
        (b"bad 1 nan 3", "not_finite", "the vector of 'bad'"),
        (b"bad 1 -inf 3", "not_finite", "the vector of 'bad'"),
        (b"bad 1 1e60 3", "not_finite", "the vector of 'bad'"),
        (b"bad 0 0.0 -0", "zero", "the vector of 'bad'"),
        (b"the 7 8 9", "duplicate", "'the', first on line 2"),
        (b" 1 2 3", "empty_word", "3 numbers and no word before them"),
        (b"  1 2 3", "empty_word", "3 numbers and no word before them"),
        (b"b\xe9b\xe9 1 2 3", "undecodable", r"'b\xe9b\xe9' is not utf-8"),
    ],
)
def test_a_line_without_use_is_left_out_whole_and_counted(read, line, kind, detail):
    data = b"3 3\nthe 1 2 3\n" + line + b"\nof 4 5 6\n"
    contents = read(data)
    assert table(contents) == {"the": [1, 2, 3], "of": [4, 5, 6]}
    assert repairs(contents) == {kind: [(3, detail)]}
    assert (contents.report.lines, contents.report.kept) == (3, 2)
    with pytest.raises(TableError, match=rf"table\.vec, line 3: {kind}: {re.escape(detail)}; correct the file"):
        read(data, strict=True)


def test_line_numbers_count_on_through_chunks_and_blank_lines(read, monkeypatch):
    monkeypatch.setattr(text, "CHUNK_BYTES", 16)
    data = b"9 2\na 1 1\n\nb 2 2\nc 3\nd 4 4\n\r\ne x 5\nf 6 6\ng 0 0\na 7 7\nh 8 8\n"
    contents = read(data)
    assert table(contents) == {"a": [1, 1], "b": [2, 2], "d": [4, 4], "f": [6, 6], "h": [8, 8]}
    lines = {kind: [line for line, _ in examples] for kind, examples in repairs(contents).items()}
    assert lines == {"wrong_width": [5], "not_a_number": [8], "zero": [10], "duplicate": [11]}


def test_first_usable_occurrence_of_a_word_wins(read):
    assert table(read(b"a 0 0\na 1 2\na 3 4\n")) == {"a": [1, 2]}


@pytest.mark.parametrize("claimed", [1, 7, 10**15])
def test_header_that_lies_on_the_count_is_reported_and_never_allocated(read, claimed):
    contents = read(b"%d 3\nthe 1 2 3\nof 4 5 6\n" % claimed)
    assert contents.words == ["the", "of"]
    assert contents.report.count("header") == 1
    assert f"it says {claimed:,}, the file has 2" in contents.report.summary()[0]


def test_header_that_lies_on_the_width_is_an_error(read):
    with pytest.raises(
        TableError, match=r"line 1: the header says 300 numbers for each word, the lines have 3; correct"
    ):
        read(b"2 300\nthe 1 2 3\nof 4 5 6\n")


def test_rows_that_are_too_wide(read):
    with pytest.raises(TableError, match="each vector has 65,537 numbers; needed at most"):
        read(b"a" + b" 1" * 65_537 + b"\n")


def test_max_words_stops_early(read):
    data = b"9 2\na 1 1\nbad 1\na 2 2\nb 3 3\nc x 4\nd"
    contents = read(data, max_words=2)
    assert contents.words == ["a", "b"]
    assert contents.report.lines == 4
    assert set(repairs(contents)) == {"wrong_width", "duplicate"}
    assert read(b"9 2\na 1 1\nbad", max_words=1, strict=True).words == ["a"]
    with pytest.raises(TableError, match="`max_words` must be at least 1"):
        read(data, max_words=0)


def test_max_words_does_not_read_the_rest(read, monkeypatch):
    monkeypatch.setattr(text, "CHUNK_BYTES", 32)
    whole = gzip.compress(b"".join(b"w%d 1 2\n" % i for i in range(10_000)))
    assert len(read(whole[: len(whole) // 2], max_words=5).words) == 5


@pytest.mark.parametrize("ending", [b"of 4 5", b"of 4 5 -", b"of", b"\xd0"])
def test_text_cut_short_is_an_error(read, ending):
    with pytest.raises(TableError, match=r"table\.vec: ends in the middle of line 3 \(.*\); download it again"):
        read(b"2 3\nthe 1 2 3\n" + ending)


def test_gzip_cut_short_is_an_error(read):
    with pytest.raises(TableError, match=r"table\.vec: the compressed data end too early.*download it again"):
        read(gzip.compress(GOOD)[:-5])


def test_damaged_gzip_is_an_error(read):
    data = bytearray(gzip.compress(GOOD))
    data[-6] ^= 255
    with pytest.raises(TableError, match=r"damaged.*download it again"):
        read(bytes(data))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (gzip.compress(b""), "the file is empty"),
        (b"3 300\n", "nothing but a header"),
        (b"\n\n", "nothing but a header or blank lines"),
        (b"just a letter\nto my friend\n", "line 1: 'just a letter' is not a word with numbers"),
        (b"a 0 0\nb 0 0\n", "no usable row .2 lines left out: a vector of zeros"),
    ],
)
def test_file_without_a_table_is_an_error(read, data, message):
    with pytest.raises(TableError, match=message):
        read(data)


def test_more_than_one_percent_bad_lines_is_an_error(read):
    good = b"".join(b"w%d 1 2\n" % i for i in range(1000))
    assert read(good + b"bad 1\n" * 10).report.count("wrong_width") == 10
    with pytest.raises(
        TableError, match=r"11 of 1,011 lines cannot be used; needed fewer than 1 %.*line 1001: 1 numbers"
    ):
        read(good + b"bad 1\n" * 11)
    assert read(good + b"w1 1 2\n" * 50).report.count("duplicate") == 50


def test_wrong_encoding_is_an_error_that_names_the_option(read):
    data = "".join(f"é{i} 1 2\n" for i in range(20)).encode("latin-1")
    with pytest.raises(TableError, match="`encoding='latin-1'`"):
        read(data)
    assert read(data, encoding="latin-1").words[0] == "é0"
    assert read(data, encoding="ISO-8859-1").report.summary() == []


@pytest.mark.parametrize("encoding", ["cp1251", "gb18030", "utf-8-sig"])
def test_other_encodings(read, encoding):
    word = {"cp1251": "слово", "gb18030": "词语", "utf-8-sig": "mot"}[encoding]
    assert read(f"{word} 1 2\nb 3 4\n".encode(encoding), encoding=encoding).words == [word, "b"]


def test_encoding_that_cannot_be_read(read):
    with pytest.raises(TableError, match="unknown encoding 'klingon'"):
        read(GOOD, encoding="klingon")
    with pytest.raises(TableError, match="iconv -f utf-16 -t utf-8"):
        read(GOOD, encoding="utf-16")


def test_line_without_end_is_an_error(read, monkeypatch):
    monkeypatch.setattr(text, "CHUNK_BYTES", 1 << 10)
    monkeypatch.setattr(text, "MAX_LINE_BYTES", 1 << 12)
    with pytest.raises(TableError, match="line 1: longer than"):
        read(b"x" * (1 << 14))


def test_a_header_is_believed_where_most_lines_are_no_table(tmp_path):
    """The lines that fit it are read, and the others counted or, if they are too many, refused for what they are."""
    path = tmp_path / "t.vec"
    path.write_bytes(b"5 2\na 1 2\nno\nno\nb 3 4\nno\n")
    contents = read_text(path)
    assert (contents.words, contents.report.count("wrong_width")) == (["a", "b"], 3)
