import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from bilex.errors import TableError
from bilex.io import arrays, npy, size
from bilex.io.open import read_contents

ROWS = np.random.default_rng(2).normal(size=(3, 4)).astype(np.float32)
JOINED = np.frombuffer(b"un\ndeux\ntrois", np.uint8)
WORDS = ["un", "deux", "trois"]


@pytest.mark.parametrize("words", [np.array(WORDS), JOINED], ids=["strings", "bytes"])
@pytest.mark.parametrize("name", ["rows", "vectors"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4"])
def test_npz(tmp_path, words, name, dtype):
    np.savez_compressed(tmp_path / "t.npz", words=words, **{name: ROWS.astype(dtype)})
    contents = read_contents(tmp_path / "t.npz")
    assert contents.words == WORDS
    assert contents.rows.dtype == np.float32
    assert contents.rows.flags.writeable
    assert np.array_equal(contents.rows, ROWS.astype(dtype).astype(np.float32))


@pytest.mark.parametrize("suffix", [".words", ".txt", ".vocab"])
def test_npy_with_words_beside_it(tmp_path, suffix):
    np.save(tmp_path / "t.npy", np.asfortranarray(ROWS))
    (tmp_path / f"t{suffix}").write_bytes("\ufeffun\r\ndeux\r\ntrois\r\n".encode())
    contents = read_contents(tmp_path / "t.npy")
    assert contents.words == WORDS
    assert contents.rows.flags.c_contiguous


def test_npy_with_words_named(tmp_path):
    np.save(tmp_path / "t.npy", ROWS)
    with pytest.raises(
        TableError, match=r"needed one of t\.words, t\.txt, t\.vocab beside it, or name the file: `words="
    ):
        read_contents(tmp_path / "t.npy")
    (tmp_path / "other").write_bytes("un\ndeux\nété".encode("latin-1"))
    with pytest.raises(TableError, match="not utf-8"):
        read_contents(tmp_path / "t.npy", words=tmp_path / "other")
    assert read_contents(tmp_path / "t.npy", words=tmp_path / "other", encoding="latin-1").words[2] == "été"


def test_rows_without_use_are_left_out_and_counted(tmp_path):
    rows = np.vstack([ROWS, ROWS]).astype(np.float64)
    rows[1], rows[2, 0], rows[4, 0] = 0, np.inf, 1e60
    np.savez(tmp_path / "t.npz", words=np.array(["a", "b", "c", "a", "d", "e"]), rows=rows)
    contents = read_contents(tmp_path / "t.npz")
    assert contents.words == ["a", "e"]
    assert np.array_equal(contents.rows, rows[[0, 5]].astype(np.float32))
    lines = {r.kind: [e.line for e in r.examples] for r in contents.report.repairs}
    assert lines == {"zero": [2], "not_finite": [3, 5], "duplicate": [4]}


def test_rows_are_counted_from_block_to_block(monkeypatch, tmp_path):
    monkeypatch.setattr(arrays, "BLOCK_ROWS", 2)
    rows = np.ones((7, 3), np.float32)
    rows[[3, 5]] = 0
    contents = arrays.contents_from_arrays(tmp_path / "t.npz", "npz", list("abcdefg"), rows, None, False)
    assert contents.words == list("abceg")
    assert [(r.kind, e.line) for r in contents.report.repairs for e in r.examples] == [("zero", 4), ("zero", 6)]


def test_signalling_nans_are_left_out_like_others(tmp_path):
    rows = np.ones((3, 2))
    rows.view(np.uint64)[1, 0] = 0x7FF0000000000001
    path = tmp_path / "t.npz"
    np.savez(path, words=np.array(["a", "b", "c"]), rows=rows)
    found = read_contents(path)
    assert (found.words, found.report.count("not_finite")) == (["a", "c"], 1)


def test_empty_words_and_max_words(tmp_path):
    np.savez(tmp_path / "t.npz", words=np.array(["", "a", "b"]), rows=ROWS)
    contents = read_contents(tmp_path / "t.npz", max_words=1)
    assert (contents.words, contents.report.count("empty_word")) == (["a"], 1)
    assert np.array_equal(contents.rows, ROWS[1:2])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"words": np.array(WORDS)}, "has the arrays words; needed 'words' and 'rows'"),
        ({"words": np.array(WORDS[:2]), "rows": ROWS}, "2 words and 3 rows; needed one word for each row"),
        ({"words": np.array(WORDS), "rows": ROWS[0]}, "needed a matrix"),
        (
            {"words": np.array(WORDS), "rows": np.ones((3, 4), int)},
            "int64 of shape .3, 4.; needed a matrix of floating",
        ),
        ({"words": np.array([1, 2, 3]), "rows": ROWS}, "needed strings, or UTF-8 bytes"),
        ({"words": np.frombuffer(b"\xff", np.uint8), "rows": ROWS[:1]}, "not UTF-8"),
        ({"words": np.array(WORDS, object), "rows": ROWS}, "not a readable numpy file .Object arrays"),
    ],
)
def test_other_arrays_are_an_error(tmp_path, arrays, message):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(TableError, match=message):
        read_contents(tmp_path / "t.npz")


def test_npy_cut_short_is_an_error(tmp_path):
    np.save(tmp_path / "t.npy", ROWS)
    (tmp_path / "t.words").write_text("un\ndeux\ntrois\n")
    (tmp_path / "t.npy").write_bytes((tmp_path / "t.npy").read_bytes()[:-4])
    with pytest.raises(TableError, match="not a readable numpy file"):
        read_contents(tmp_path / "t.npy")


def member(array, **changes):
    """The bytes of an array as a member of an archive, with another header if its fields are given."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=True)
    if not changes:
        return file.getvalue()
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape} | changes
    start = io.BytesIO()
    np.lib.format.write_array_header_1_0(start, header)
    return start.getvalue() + array.tobytes()


def write_archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return path


def test_only_what_is_needed_is_read(tmp_path):
    """Not pickled objects, not what is damaged, and nothing of a size."""
    others = {"objects": member(np.array([{}, []], object)), "huge": bytes(32 << 20), "damaged": b"\x93NUMPY\x01"}
    path = write_archive(tmp_path / "t.npz", words=member(JOINED), rows=member(ROWS), **others)
    tracemalloc.start()
    contents = read_contents(path)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()
    assert contents.words == WORDS
    assert np.array_equal(contents.rows, ROWS)


@pytest.mark.parametrize("kind", ["strings", "bytes"])
def test_nothing_is_read_behind_the_last_row_that_is_wanted(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(npy, "BLOCK_BYTES", 1)
    words, rows = ([*WORDS, *map(str, range(5000))], np.vstack([ROWS, np.ones((5000, 4), np.float32)]))
    stored = np.array(words) if kind == "strings" else np.frombuffer("\n".join(words).encode(), np.uint8)
    np.savez(tmp_path / "t.npz", words=stored, rows=rows)
    whole = (tmp_path / "t.npz").read_bytes()
    last = whole.index(rows.tobytes()) + rows.nbytes - 1
    (tmp_path / "t.npz").write_bytes(whole[:last] + b"@" + whole[last + 1 :])
    contents = read_contents(tmp_path / "t.npz", max_words=1)
    assert (contents.words, contents.rows.tolist()) == (["un"], ROWS[:1].tolist())
    with pytest.raises(TableError, match="Bad CRC-32"):
        read_contents(tmp_path / "t.npz")


def test_blocks_are_the_whole(tmp_path, monkeypatch):
    rows = np.random.default_rng(3).normal(size=(90, 5))
    words = [f"wört{i}" for i in range(90)]
    for order in "CF":
        np.savez(tmp_path / "t.npz", words=np.array(words), rows=np.asarray(rows, order=order))
        for block in (1, 100, 777, 1 << 20):
            monkeypatch.setattr(npy, "BLOCK_BYTES", block)
            contents = read_contents(tmp_path / "t.npz")
            assert contents.words == words
            assert np.array_equal(contents.rows, rows.astype(np.float32))


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    zeros = np.zeros((1 << 18, 4), np.float32)
    path = write_archive(tmp_path / "t.npz", words=member(JOINED), rows=member(zeros))
    monkeypatch.setattr(arrays, "MAX_UNPACKED_BYTES", 1 << 20)
    with pytest.raises(TableError, match=r"bytes unpack to 4,194,\d+, more than 100 times as many, as no vectors do"):
        read_contents(path)
    assert read_contents(write_archive(path, words=member(JOINED), rows=member(np.ones((3, 4))))).words == WORDS


def test_more_than_the_memory_holds_is_refused(tmp_path, monkeypatch):
    np.savez(tmp_path / "t.npz", words=JOINED, rows=ROWS)
    monkeypatch.setattr(size, "free_memory", lambda: 40)
    with pytest.raises(TableError, match=r"its vectors take .* in memory, and .* are free; read fewer words"):
        read_contents(tmp_path / "t.npz")
    assert read_contents(tmp_path / "t.npz", max_words=2).words == WORDS[:2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (10**12, 4)}, "'rows' should have 16,000,000,000,000 bytes and has 48: it is cut short"),
        ({"shape": (3, 10**12)}, "should have 12,000,000,000,000 bytes"),
        ({"shape": (10**12, 0)}, "needed a matrix"),
        ({"shape": (-3, 4)}, "has the shape"),
        ({"shape": (1, 10**5), "descr": "<f2"}, "should have 200,000 bytes"),
        ({"descr": "|O"}, "Object arrays are never loaded"),
        ({"descr": "<q9"}, "the header of 'rows' is damaged"),
    ],
)
def test_sizes_are_not_believed(tmp_path, changes, message):
    path = write_archive(tmp_path / "t.npz", words=member(JOINED), rows=member(ROWS, **changes))
    with pytest.raises(TableError, match=f"{path}: .*{message}"):
        read_contents(path)


def test_rows_that_are_too_wide(tmp_path):
    np.savez(tmp_path / "t.npz", words=JOINED[:2], rows=np.zeros((1, 1 << 17), np.float16))
    with pytest.raises(TableError, match="each vector has 131,072 numbers; needed at most"):
        read_contents(tmp_path / "t.npz")


@pytest.mark.parametrize("word", ["a\nb", "a\0b", "\ud800", "x\udfff"])
def test_words_that_no_text_can_hold(tmp_path, word):
    np.savez(tmp_path / "t.npz", words=np.array(["un", word, "trois"]), rows=ROWS)
    with pytest.raises(TableError, match=r"row 2: the word .* has a line end, a zero byte or half of a character"):
        read_contents(tmp_path / "t.npz")


@pytest.mark.parametrize("order", "<>")
def test_words_that_are_no_characters(tmp_path, order):
    """Numpy would make strings of them that Python cannot have."""
    for number in (0x110000, 0x73700000):
        numbers = np.array([97, 98, number], f"{order}u4")
        path = write_archive(tmp_path / "t.npz", words=member(numbers, descr=f"{order}U1"), rows=member(ROWS))
        with pytest.raises(TableError, match="'words' is not Unicode"):
            read_contents(path)
    good = np.array([97, 98, 0x10FFFF], f"{order}u4")
    write_archive(tmp_path / "t.npz", words=member(good, descr=f"{order}U1"), rows=member(ROWS))
    assert read_contents(tmp_path / "t.npz").words == ["a", "b", "\U0010ffff"]


@pytest.mark.parametrize(("text", "found"), [(b"un\ndeux", "2"), (b"un\ndeux\ntrois\nx\ny", "more than 3")])
def test_words_and_rows_that_are_not_as_many(tmp_path, text, found):
    np.savez(tmp_path / "t.npz", words=np.frombuffer(text, np.uint8), rows=ROWS)
    with pytest.raises(TableError, match=f"{found} words and 3 rows; needed one word for each row"):
        read_contents(tmp_path / "t.npz")


def test_a_word_without_end(tmp_path):
    np.savez(tmp_path / "t.npz", words=np.full(1 << 17, 65, np.uint8), rows=ROWS)
    with pytest.raises(TableError, match="a word of more than 64 KB"):
        read_contents(tmp_path / "t.npz")
