import numpy as np
import pytest

from bilex.errors import TableError
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
        TableError, match=r"needed one of t\.words, t\.txt, t\.vocab beside it, or name the file: words="
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
