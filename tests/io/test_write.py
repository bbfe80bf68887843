"""What is written reads back the same, or is refused; and a failure leaves everything as it was."""

import errno
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bilex.errors
from bilex.errors import TableError
from bilex.io import text_writer
from bilex.io.open import read_contents
from bilex.io.write import write_contents

NAMES = ["t.vec", "t.vec.gz", "t.txt", "t.txt.gz", "t.bin", "t.bin.gz", "t.npz", "t.safetensors"]
WORDS = ["the", '"', "nan", "a\u00a0b", "#", "1", "слово", "🙂", "a\tb"]
ROWS = np.random.default_rng(4).normal(size=(9, 5)).astype(np.float32)


@pytest.mark.parametrize("name", NAMES)
def test_reads_back_exactly(tmp_path, name):
    write_contents(tmp_path / name, WORDS, ROWS)
    contents = read_contents(tmp_path / name)
    assert contents.words == WORDS
    assert contents.rows.tobytes() == ROWS.tobytes()
    assert contents.report.summary() == []
    assert [path.name for path in tmp_path.iterdir()] == [name]


any_row = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3).filter(any)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(any_row, min_size=1, max_size=8), header=st.booleans())
def test_every_float32_reads_back_exactly_from_text(tmp_path, rows, header):
    matrix = np.array(rows, np.float32)
    path = tmp_path / ("t.vec" if header else "t.txt")
    write_contents(path, [f"w{i}" for i in range(len(rows))], matrix)
    assert read_contents(path).rows.tobytes() == matrix.tobytes()


def test_header_only_where_it_belongs(tmp_path):
    write_contents(tmp_path / "t.vec", ["a"], np.array([[1.5, -2]], np.float32))
    write_contents(tmp_path / "t.txt", ["a"], np.array([[1.5, -2]], np.float32))
    assert (tmp_path / "t.vec").read_bytes() == b"1 2\na 1.5 -2.0\n"
    assert (tmp_path / "t.txt").read_bytes() == b"a 1.5 -2.0\n"


def test_more_rows_than_a_block(tmp_path):
    rows = np.random.default_rng(5).normal(size=(9000, 2)).astype(np.float32)
    words = [f"w{i}" for i in range(9000)]
    for name in ("t.vec", "t.bin", "t.safetensors"):
        write_contents(tmp_path / name, words, rows)
        contents = read_contents(tmp_path / name)
        assert contents.words == words
        assert np.array_equal(contents.rows, rows)


def test_format_overrides_the_suffix(tmp_path):
    write_contents(tmp_path / "t.dat", WORDS, ROWS, format="npz")
    assert read_contents(tmp_path / "t.dat").format == "npz"


def test_gzip_is_the_same_each_time(tmp_path):
    write_contents(tmp_path / "a.vec.gz", WORDS, ROWS)
    write_contents(tmp_path / "b.vec.gz", WORDS, ROWS)
    assert (tmp_path / "a.vec.gz").read_bytes() == (tmp_path / "b.vec.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.vec.gz").read_bytes()).startswith(b"9 5\nthe ")


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.gz", "t.npz.gz", "t.safetensors.gz", ".vec"])
def test_unknown_suffix_is_an_error(tmp_path, name):
    with pytest.raises(TableError, match=r"needed a name that ends in \.vec, \.txt, \.bin, \.npz, \.safetensors"):
        write_contents(tmp_path / name, WORDS, ROWS)


@pytest.mark.parametrize("name", ["t.vec", "t.txt"])
def test_words_with_spaces_in_text(tmp_path, name):
    words = ["at name@domain.com", ". . .", *WORDS[2:]]
    write_contents(tmp_path / name, words, ROWS)
    assert read_contents(tmp_path / name).words == words


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("a\nb", NAMES),
        ("", NAMES),
        ("\ud800", NAMES),
        ("a b", ["t.bin"]),
        (" a", ["t.vec", "t.txt"]),
        ("a ", ["t.vec", "t.txt"]),
        ("Windows 95", ["t.vec", "t.txt"]),
        ("\ufeffa", ["t.txt"]),
    ],
)
def test_words_that_would_read_back_differently_are_refused(tmp_path, word, names):
    for name in names:
        with pytest.raises(TableError, match=r"t\."):
            write_contents(tmp_path / name, [word], ROWS[:1])
    for name in set(NAMES[6:]) - set(names):
        write_contents(tmp_path / name, [word], ROWS[:1])
        assert read_contents(tmp_path / name).words == [word]


def test_rows_that_are_not_finite_are_refused(tmp_path):
    rows = np.array([[1, 2], [np.nan, 3]], np.float32)
    with pytest.raises(TableError, match=r"row 2 .'b'. is not finite in float32"):
        write_contents(tmp_path / "t.vec", ["a", "b"], rows)
    with pytest.raises(TableError, match=r"row 1 .'a'. is not finite in float16"):
        write_contents(tmp_path / "t.npz", ["a"], np.array([[1e6, 1]], np.float32), dtype="float16")


def test_half_precision_where_the_format_has_it(tmp_path):
    write_contents(tmp_path / "t.npz", WORDS, ROWS, dtype="float16")
    assert np.array_equal(read_contents(tmp_path / "t.npz").rows, ROWS.astype(np.float16))
    with pytest.raises(TableError, match=r"holds float32 only; write \.safetensors or \.npz"):
        write_contents(tmp_path / "t.vec", WORDS, ROWS, dtype="float16")
    with pytest.raises(TableError, match="unknown dtype 'int8'"):
        write_contents(tmp_path / "t.npz", WORDS, ROWS, dtype="int8")


def test_folder_that_does_not_exist(tmp_path):
    with pytest.raises(TableError, match="make the folder first"):
        write_contents(tmp_path / "absent" / "t.vec", WORDS, ROWS)


def test_lines_stay_in_order_whoever_writes_them(tmp_path, monkeypatch):
    write_contents(tmp_path / "at_once.vec", WORDS, ROWS)
    monkeypatch.setattr(text_writer, "BLOCK_ROWS", 5)
    monkeypatch.setattr(text_writer, "BATCH_ROWS", 2)
    write_contents(tmp_path / "in_parts.vec", WORDS, ROWS)
    assert (tmp_path / "in_parts.vec").read_bytes() == (tmp_path / "at_once.vec").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_full_disk_leaves_the_old_file(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_bytes(b"old")
    opened = Path.open

    def open_full(self, mode="r", *args, **kwargs):
        return FullDisk(opened(self, mode, *args, **kwargs)) if "w" in mode else opened(self, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", open_full)
    with pytest.raises(
        TableError, match=r"cannot be written .No space left on device.; nothing was changed; free some"
    ):
        write_contents(path, WORDS, ROWS)
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


class FullDisk:
    """A file that takes ten bytes and no more."""

    def __init__(self, file):
        self._file, self._left = file, 10

    def write(self, data):
        self._left -= memoryview(data).nbytes
        if self._left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()


LIMITED = """
import resource, signal, sys
import numpy as np
from pathlib import Path
from bilex.errors import TableError
from bilex.io.write import write_contents

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_contents(Path(sys.argv[1]), [f"w{i}" for i in range(5000)], np.ones((5000, 20), np.float32))
except TableError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on the size of files")
@pytest.mark.parametrize("name", ["t.vec", "t.bin", "t.npz", "t.safetensors"])
def test_limit_of_the_system_leaves_the_old_file(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"old")
    source = Path(bilex.errors.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)],
        env={"PYTHONPATH": str(source), "PATH": "", "POLARS_MAX_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cannot be written (File too large); nothing was changed" in done.stdout
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
