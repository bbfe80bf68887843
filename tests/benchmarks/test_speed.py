"""The measurements run from end to end, at sizes at which their figures mean nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = ["topk", "read_tables", "training_step", "exact_csls", "induction", "dense_numpy", "paper_scale", "scaling"]


def run(script, *arguments, shared):
    return subprocess.run(
        [sys.executable, SCRIPTS / script, *map(str, arguments), "--threads", "1"],
        env={**os.environ, "BILEX_SHARED": str(shared)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured on Linux only")
def test_one_command_runs_everything(tmp_path, shared):
    history, points = tmp_path / "history.jsonl", tmp_path / "points.jsonl"
    done = run("speed.py", "--small", "--repeat", 1, "--history", history, "--scaling", points, shared=shared)
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, history.read_text(encoding="utf-8").splitlines())
    assert list(record["measured"]) == NAMES
    assert record["machine"]["threads"] == 1
    for name, found in record["measured"].items():
        assert not {"failed", "skipped"} & set(found), (name, done.stderr)
        assert found["targets"] or name in ("scaling", "paper_scale")
        for target in found["targets"]:
            assert f"{target['what']:58}" in done.stdout
    same = [target for name in ("exact_csls", "dense_numpy") for target in record["measured"][name]["targets"]]
    assert all(target["met"] for target in same if "times faster" not in target["what"])
    assert [json.loads(line)["words"] for line in points.read_text(encoding="utf-8").splitlines()] == [500]


def test_what_needs_data_that_are_not_there_is_left_out_with_the_reason(tmp_path):
    done = run("speed.py", "--small", "--only", "induction", "--json", shared=tmp_path)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["measured"].values()
    assert found == {"skipped": f"no data at {tmp_path}: set BILEX_SHARED to the folder that has data/unpack.py"}


def test_shortcuts_of_training(tmp_path, shared):
    output, small = tmp_path / "runs.jsonl", ["--words", 500, "--set", "epochs=1", "--set", "refit=false"]
    done = run("shortcuts.py", output, *small, "--rng-seeds", 0, "--json", shared=shared)
    (target,) = json.loads(done.stdout)["targets"]
    assert done.returncode == int(not target["met"]), done.stderr
    assert [json.loads(line)["unhurried"] for line in output.read_text(encoding="utf-8").splitlines()] == [False, True]


def test_a_run_goes_on_from_its_checkpoint_and_tells_no_time(tmp_path, shared):
    few = ["--method", "rapo_semi", "--words", 500, "--set", "rounds=1", "--set", "base.epochs=2"]
    first, again = (
        run("paper_scale.py", *few, "--unhurried", "--checkpoint", tmp_path / "state", shared=shared) for _ in range(2)
    )
    assert first.returncode == again.returncode == 0, again.stderr
    assert json.loads(first.stdout)["P@1"] == json.loads(again.stdout)["P@1"]
    assert "all (s)" in first.stdout
    assert "(s)" not in again.stdout
    assert len(again.stderr.splitlines()) < len(first.stderr.splitlines())
