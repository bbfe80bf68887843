import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import bilex.errors
from bilex.cli.tables import convert, inspect
from bilex.errors import BilexError, TableError
from bilex.table import EmbeddingTable

DATA = b"5 2\nThe 3 4\nthe 0 1\n[bold] 6 8\nbad 1\nzero 0 0\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "t.vec").write_bytes(DATA)
    return tmp_path / "t.vec"


def run(command, *arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_inspect_for_people(path):
    result = run(inspect, path)
    assert result.exit_code == 0
    for part in (
        "3 kept of 5 read",
        "says 5 words of 2 dimensions",
        "33.3% of words have upper case",
        "The the [bold]",
    ):
        assert part in result.stdout
    assert "1 line left out: wrong number of fields (first: line 5: 1 numbers, needed 2)" in " ".join(
        result.stdout.split()
    )


def test_inspect_a_file_in_order(path):
    path.write_bytes(b"a 1 2\n")
    assert "No problems" in run(inspect, path).stdout


def test_inspect_a_table_that_is_of_no_use(path):
    """Every line is in order, but no two words differ."""
    path.write_text("".join(f"w{i} 1 2 3\n" for i in range(60)))
    shown = " ".join(run(inspect, path).stdout.split())
    assert "No problems" not in shown
    assert "Suspicious: the table is of no use: all 60 rows have the same direction" in shown
    found = json.loads(run(inspect, path, "--json").stdout)
    assert (found["directions"]["all_same"], found["directions"]["repeated"]) == (True, 59)


def test_inspect_tells_of_a_row_that_is_far_too_long(path):
    path.write_text("".join(f"w{i} {i + 1} {7 - i} 3\n" for i in range(6)) + "long 1e20 1 1\n")
    shown = " ".join(run(inspect, path).stdout.split())
    assert "Suspicious: the table has a row 1.43e+19 times as long as the median (row 7, 'long')" in shown


def test_inspect_for_machines(path):
    found = json.loads(run(inspect, path, "--json", "--max-words", 2).stdout)
    assert (found["rows"], found["first_words"], found["report"]["repairs"]) == (2, ["The", "the"], {})


def test_inspect_encoding(path):
    path.write_bytes("é 1 2\n".encode("latin-1"))
    assert isinstance(run(inspect, path).exception, TableError)
    assert "é" in run(inspect, path, "--encoding", "latin-1").stdout


def test_inspect_missing_file(tmp_path):
    result = run(inspect, tmp_path / "absent.vec")
    assert isinstance(result.exception, TableError)
    assert "no such file" in str(result.exception)


@pytest.mark.parametrize("name", ["o.safetensors", "o.vec.gz", "o.bin", "o.npz", "o.txt"])
def test_convert(path, name):
    result = run(convert, path, path.with_name(name))
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "wrong number of fields (first: line 5" in result.stderr
    assert "3 words of 2 dimensions" in result.stderr
    assert EmbeddingTable.read(path.with_name(name)).words == ["The", "the", "[bold]"]


def test_convert_options(path):
    target = path.with_name("o.safetensors")
    assert run(convert, path, target, "--max-words", 1, "--dtype", "float16").exit_code == 0
    assert EmbeddingTable.read(target).words == ["The"]


def test_convert_does_not_replace_without_force(path):
    target = path.with_name("o.npz")
    target.write_bytes(b"old")
    result = run(convert, path, target)
    assert isinstance(result.exception, BilexError)
    assert "o.npz exists already and is left as it is: choose another name" in str(result.exception)
    assert target.read_bytes() == b"old"
    assert run(convert, path, target, "--force").exit_code == 0
    assert len(EmbeddingTable.read(target)) == 3


def test_convert_in_place(path):
    native = path.with_name("o.safetensors")
    run(convert, path, native)
    assert run(convert, native, native, "--max-words", 2, "--force").exit_code == 0
    assert len(EmbeddingTable.read(native)) == 2


def test_convert_to_an_unknown_format_stops_before_reading(path):
    result = run(convert, path.with_name("absent.vec"), path.with_name("o.xlsx"))
    assert "needed a name that ends in" in str(result.exception)


def test_convert_says_that_subwords_are_lost(path, monkeypatch):
    table = EmbeddingTable.read(path)
    object.__setattr__(table, "subwords", lambda word: table.rows[0])
    monkeypatch.setattr(EmbeddingTable, "read", lambda *_, **__: table)
    assert "subwords are not written" in run(convert, path, path.with_name("o.npz")).stderr


def test_importing_is_cheap():
    code = "import sys, bilex.cli.tables; print({'numpy','torch','polars','rich'} & set(sys.modules))"
    source = Path(bilex.errors.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(source)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
