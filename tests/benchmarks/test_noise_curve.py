import numpy as np
import pytest

import noise_curve
from bilex import EmbeddingTable
from measuring import read_lines


@pytest.fixture
def table():
    rows = np.random.default_rng(1).normal(size=(8000, 12)).astype(np.float32)
    return EmbeddingTable([f"w{i}" for i in range(8000)], rows)


def test_without_noise_the_target_is_the_table_turned(table):
    world = noise_curve.make_world(table, 0.0, 0.2, 0)
    assert set(world.target.words) == set(table.words)
    assert world.target.words != table.words
    same = np.stack([table.rows[int(word[1:])] for word in world.target.words])
    w = np.linalg.lstsq(same, world.target.rows, rcond=None)[0]
    np.testing.assert_allclose(w @ w.T, np.eye(12), atol=1e-4)
    np.testing.assert_allclose(same @ w, world.target.rows, atol=1e-4)
    assert (len(world.train), len(world.test)) == (5000, 1500)
    assert not set(world.train.sources) & set(world.test.sources)


def test_noise_is_in_units_of_the_length_of_a_word(table):
    """The same seed draws the same rotation and order, whatever the noise."""
    quiet, loud = (noise_curve.make_world(table, noise, 0.2, 3).target for noise in (0.0, 0.5))
    assert quiet.words == loud.words
    lengths = np.linalg.norm(loud.rows - quiet.rows, axis=1) / np.linalg.norm(quiet.rows, axis=1)
    np.testing.assert_allclose(lengths, 0.5, atol=1e-4)


def test_ranks_move_a_little(table):
    words = noise_curve.make_world(table, 0.0, 0.2, 0).target.words
    moved = np.log([(int(word[1:]) + 1) / (rank + 1) for rank, word in enumerate(words)])
    assert 0.15 < moved.std() < 0.25
    assert noise_curve.make_world(table, 0.0, 0.0, 0).target.words == table.words


def test_a_run_is_a_line_and_is_not_repeated(table, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(noise_curve, "load_table", lambda name, words: table)
    output = tmp_path / "curve.jsonl"
    command = ["noise_curve.py", str(output), "--systems", "procrustes", "--noise", "0,3", "--threads", "1"]
    monkeypatch.setattr("sys.argv", command)
    noise_curve.main()
    monkeypatch.setattr(noise_curve, "measure", None)
    noise_curve.main()
    first, second = read_lines(output)
    assert first["p_at_1"] == 100
    assert second["p_at_1"] < 50
    assert capsys.readouterr().out.count("| procrustes | 100.0 |") == 2
