from pathlib import Path

import numpy as np
import pytest

from bilex.errors import TableError
from bilex.io import size, words_and_rows
from bilex.io.report import Fault
from bilex.io.words_and_rows import GrowingMatrix, ParsedRows, TableBuilder


@pytest.mark.parametrize("expected", [[3, 6, 9], [100, 100, 9], [0, 0, 0], [4, 5, 1000], [3, 3, 3]])
def test_rows_are_kept_in_order_whatever_size_was_guessed(expected):
    blocks = np.arange(36, dtype=np.float32).reshape(3, 3, 4)
    store = GrowingMatrix(Path("t.vec"))
    for block, guess in zip(blocks, expected, strict=True):
        store.append(block, guess)
    rows = store.take()
    assert np.array_equal(rows, blocks.reshape(9, 4))
    assert rows.flags.c_contiguous
    assert rows.flags.writeable


@pytest.mark.parametrize("at", range(4))
def test_a_block_without_rows_changes_nothing(at):
    """As where nothing in the first part of a file can be used."""
    blocks = [np.full((2, 3), i, np.float32) for i in range(3)]
    store = GrowingMatrix(Path("t.vec"))
    for block in [*blocks[:at], np.empty((0, 3), np.float32), *blocks[at:]]:
        store.append(block, 64)
    assert np.array_equal(store.take(), np.concatenate(blocks))


def test_a_read_only_block_is_copied():
    block = np.frombuffer(np.ones(4, np.float32).tobytes(), np.float32).reshape(2, 2)
    store = GrowingMatrix(Path("t.vec"))
    store.append(block, 2)
    assert store.take().flags.writeable


def test_a_guess_that_is_far_too_high_costs_nothing(tmp_path):
    gatherer = TableBuilder(tmp_path)
    gatherer.add(ParsedRows(["a"], np.ones((1, 300), np.float32), [1]), progress=1e-5)
    gatherer.add(ParsedRows(["b"], np.ones((1, 300), np.float32), [2]), progress=1.0)
    words, rows, report = gatherer.finish()
    assert (words, rows.shape, rows.base, report.kept) == (["a", "b"], (2, 300), None, 2)


def test_faults_are_told_in_the_order_of_lines(tmp_path):
    gatherer = TableBuilder(tmp_path / "t.vec", strict=True)
    rows = np.array([[0, 0], [1, 1]], np.float32)
    with pytest.raises(TableError, match="line 2: zero"):
        gatherer.add(ParsedRows(["a", "b"], rows, [2, 4], [Fault("wrong_width", 3, "1 numbers, needed 2")]))


def test_strict_refuses_a_header_that_lies(tmp_path):
    gatherer = TableBuilder(tmp_path / "t.vec", strict=True)
    gatherer.add(ParsedRows(["a"], np.ones((1, 2), np.float32), [2]))
    with pytest.raises(TableError, match="line 1: header: it says 5, the file has 1"):
        gatherer.finish(claimed=5)


def test_rows_that_do_not_fit_into_memory_are_refused(tmp_path, monkeypatch):
    """A guess is only a guess: it takes no more than there is."""
    rows = np.ones((4, 100), np.float32)
    for module in (words_and_rows, size):
        monkeypatch.setattr(module, "free_memory", lambda: 5000)
    gatherer = TableBuilder(tmp_path / "t.vec")
    for number in range(3):
        words = [f"{number} {i}" for i in range(4)]
        gatherer.add(ParsedRows(words, number + rows + 1, range(4 * number + 1, 4 * number + 5)), progress=1e-6)
        assert len(gatherer._store._rows) <= 12
    with pytest.raises(TableError, match=r"t\.vec: 13 vectors, and it has more, take .* in memory, .*read fewer words"):
        gatherer.add(ParsedRows(["more"], rows[:1], [13]), progress=1e-6)
