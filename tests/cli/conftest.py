"""The command line in this process, and files and a run for it to work on."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from bilex import EmbeddingTable, Lexicon, align
from bilex.cli import main
from bilex.methods.procrustes import Procrustes


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def json_lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def bilex(capsys, monkeypatch):
    """Run a command as the shell would; what is not caught inside fails the test, as a traceback would."""

    def run(*args, stdin=None):
        if stdin is not None:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        assert "\x1b" not in out + err, "escape codes are for terminals"
        assert "Traceback" not in err
        return Result(stopped.value.code, out, err)

    return run


@pytest.fixture
def at_terminal():
    """Run a command whose results go to a terminal, and give the bytes that this gets."""
    pty = pytest.importorskip("pty", reason="no terminals here")

    def run(*args, **environment):
        command = [sys.executable, "-m", "bilex", *map(str, args)]
        here, there = pty.openpty()
        env = {**os.environ, "COLUMNS": "200", "TERM": "dumb", **environment}
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=there, stderr=pipe, env=env) as process:
            os.close(there)
            shown = b"".join(iter(lambda: _read(here), b""))
            assert b"Traceback" not in process.communicate()[1]
        os.close(here)
        return shown.replace(b"\r\n", b"\n")

    return run


def _read(terminal):
    try:
        return os.read(terminal, 10_000)
    except OSError:  # Linux says so at the end
        return b""


@pytest.fixture
def refused(bilex):
    """Run a command that is expected to fail, and give what it says on stderr; nothing may be on stdout."""

    def run(*args, code=1, **more):
        result = bilex(*args, **more)
        assert (result.code, result.out) == (code, "")
        if code == 1:
            assert result.err.startswith("bilex: ")
            assert result.err.count("\n") == 1
        return result.err

    return run


@pytest.fixture(scope="session")
def files(world, tmp_path_factory):
    """A folder with x.vec, z.vec, train.tsv and test.tsv."""
    folder = tmp_path_factory.mktemp("files")
    world.source.write(folder / "x.vec")
    world.target.write(folder / "z.vec")
    world.train.write(folder / "train.tsv")
    world.test.write(folder / "test.tsv")
    return folder


@pytest.fixture
def inputs(files):
    """The arguments of a good `bilex align`, but for --output."""
    return [files / "x.vec", files / "z.vec", "--train", files / "train.tsv"]


@pytest.fixture(scope="session")
def made(files, tmp_path_factory):
    """A run made by the command line, to be copied."""
    folder = tmp_path_factory.mktemp("made") / "run"
    args = ["align", files / "x.vec", files / "z.vec", "--train", files / "train.tsv", "--fast", "--output", folder]
    with pytest.raises(SystemExit) as stopped:
        main([str(arg) for arg in args])
    assert stopped.value.code == 0
    return folder


@pytest.fixture
def run(made, tmp_path):
    """A run folder of one's own."""
    return shutil.copytree(made, tmp_path / "run")


@pytest.fixture
def words_run(tmp_path):
    """Make a run of these words, and those for the target or the same."""

    def make(source, target=None):
        tables = [
            EmbeddingTable(words, np.eye(len(words), 6, dtype=np.float32)) for words in (source, target or source)
        ]
        pairs = Lexicon.from_pairs(zip(*(table.words for table in tables), strict=True))
        align(*tables, pairs, method=Procrustes(normalize=("unit",))).save(tmp_path / "words-run")
        return tmp_path / "words-run"

    return make
