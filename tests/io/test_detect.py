import bz2
import gzip
import io
import os
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bilex.errors import TableError
from bilex.io.detect import detect
from bilex.io.open import read_contents


def word2vec(*, dim=4, n=3):
    rows = np.random.default_rng(0).normal(size=(n, dim)).astype("<f4")
    return b"%d %d\n" % (n, dim) + b"".join(b"w%d %b\n" % (i, row.tobytes()) for i, row in enumerate(rows))


def npz():
    buffer = io.BytesIO()
    np.savez(buffer, words=np.array(["a"]), rows=np.ones((1, 2)))
    return buffer.getvalue()


def npy():
    buffer = io.BytesIO()
    np.save(buffer, np.ones((1, 2)))
    return buffer.getvalue()


def archive(name):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(name, "1 2\na 1 2\n")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"1 2\na 1 2\n", "text"),
        (b"the 0.1 0.2\n", "text"),
        (b"2 3\nthe 1 2 x\nof 1 2 3\n", "text"),
        (b"2 300\nthe 1 2 3\nof 1 2 3\n", "text"),
        (b"1 2\r\na 1 2 \r\n", "text"),
        (gzip.compress(b"the 0.1 0.2\n"), "text"),
        (b"", "text"),
        (word2vec(), "word2vec"),
        (word2vec(dim=1), "word2vec"),
        (word2vec(dim=300, n=500), "word2vec"),
        (gzip.compress(word2vec()), "word2vec"),
        (b"1 2\nzero " + bytes(8), "word2vec"),
        (npz(), "npz"),
        (npy(), "npy"),
        (struct.pack("<q", 2) + b"{}", "safetensors"),
        (struct.pack("<i", 793712314) + bytes(20), "fasttext"),
    ],
)
def test_the_content_tells_the_format_whatever_the_name(tmp_path, data, name):
    path = tmp_path / "misleading.npz"
    path.write_bytes(data)
    assert detect(path) == name


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_pickles_are_refused_with_the_way_out(tmp_path, protocol):
    path = tmp_path / "table.kv"
    path.write_bytes(pickle.dumps({"a": [1.0]}, protocol=protocol))
    with pytest.raises(
        TableError, match=r"never opens pickles.*from_gensim\(KeyedVectors\.load\('.*table\.kv'\)\)\.write"
    ):
        read_contents(path)


def test_torch_archives_are_pickles_too(tmp_path):
    path = tmp_path / "table.pt"
    path.write_bytes(archive("archive/data.pkl"))
    with pytest.raises(TableError, match="never opens pickles"):
        detect(path)


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (archive("wiki.en.vec"), r"a zip archive of wiki\.en\.vec; unpack it first: unzip x\.dat"),
        (npz()[:60], "damaged or cut short; download or write it again"),
        (bz2.compress(b"a 1 2\n"), r"bunzip2 x\.dat"),
        ("a 1 2\n".encode("utf-16"), "UTF-16 text; convert it first: iconv"),
        (gzip.compress(npy()), "npy data inside gzip; unpack it first"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "binary data of an unknown format .begins with 89 50"),
    ],
)
def test_what_cannot_be_read_comes_with_advice(tmp_path, data, advice):
    path = tmp_path / "x.dat"
    path.write_bytes(data)
    with pytest.raises(TableError, match=advice):
        detect(path)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(TableError, match="no such file; check the name"):
        read_contents(tmp_path / "absent.vec")
    with pytest.raises(TableError, match="this is a folder"):
        read_contents(tmp_path)


@pytest.fixture
def unreadable(tmp_path):
    """A file without permissions; root, who may read everything, is somebody else for the time of the test."""
    path, user = tmp_path / "table.vec", os.geteuid()
    path.write_bytes(b"a 1\n")
    path.chmod(0)
    os.seteuid(user or 65534)
    yield path
    os.seteuid(user)


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_file_without_permission(unreadable):
    with pytest.raises(TableError, match="chmod"):
        read_contents(unreadable)


@pytest.mark.parametrize(
    ("error", "message"),
    [(PermissionError(13, "no"), "chmod"), (OSError(5, "Input/output error"), "Input/output error")],
)
def test_trouble_with_the_disk(tmp_path, monkeypatch, error, message):
    def fail(*_):
        raise error

    path = tmp_path / "table.vec"
    path.write_bytes(b"a 1\n")
    monkeypatch.setattr("pathlib.Path.open", fail)
    with pytest.raises(TableError, match=message):
        read_contents(path)


def test_unknown_format(tmp_path):
    with pytest.raises(TableError, match="unknown format 'excel'; needed one of text, vec"):
        read_contents(tmp_path / "x", format="excel")


@pytest.mark.parametrize("name", [None, "text", "word2vec", "npz", "npy", "safetensors", "fasttext"])
def test_pipes_and_devices_are_refused_at_once(tmp_path, name):
    """To open a pipe into which nobody writes would wait without end."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TableError, match=r"pipe: this is a pipe, .* write the table to a file") as found:
        read_contents(tmp_path / "pipe", format=name)
    assert "disk" not in str(found.value)
    with pytest.raises(TableError, match="zero: this is a device"):
        read_contents(Path("/dev/zero"), format=name)


def test_words_in_a_pipe_are_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.ones((2, 3)))
    os.mkfifo(tmp_path / "words")
    with pytest.raises(TableError, match="words: this is a pipe"):
        read_contents(tmp_path / "t.npy", words=tmp_path / "words")
