import threading
from dataclasses import replace

import pytest
import torch

from bilex.parallel.process import Live
from bilex.tune.batches import PARTIAL, Place
from bilex.tune.input_files import Packed
from bilex.tune.search import Budget, search
from bilex.tune.space import Space
from bilex.tune.study import Study
from bilex.tune.trial import Task, run_trial
from bilex.tune.trial_process import TrialProcess

GIVEN = {"epochs": "4", "hard": "8", "start": "random", "batch": "16"}
ENDLESS = {**GIVEN, "epochs": "1000000", "patience": "1000000"}


def lasting(outcomes):
    """All but the clock."""
    return [replace(outcome, seconds=0.0) for outcome in outcomes]


@pytest.fixture
def searched(collected, tmp_path):
    """The outcomes of a search in a batch of two after the defaults, in some place."""

    def search_in(place, batch=None):
        folder = tmp_path / f"{place.jobs}"
        study = Study(tmp_path / f"{place.jobs}.journal", Space.of("ridge", {}), kind="tpe", rng_seed=0)
        with place.ready(collected("ridge"), {}, folder) as batches:
            search(study, Budget(trials=3), batches.evaluate_many, batch=batch or batches.size)
        assert not (folder / PARTIAL).exists()
        return lasting(study.outcomes)

    return search_in


@pytest.fixture
def packed(collected, tmp_path):
    def pack(given=GIVEN):
        return Packed.write(collected("rapo", given), given, tmp_path / "packed")

    return pack


def test_side_by_side_as_one_after_another(searched):
    there = searched(Place(jobs=2, threads=1, device="cpu"))
    assert there == searched(Place(jobs=1, threads=1, device="cpu"), batch=2)
    assert [outcome.state for outcome in there] == ["done"] * 3


def test_threads_are_as_they_were(collected, tmp_path):
    before = torch.get_num_threads()
    with Place(threads=before + 1).ready(collected("ridge"), {}, tmp_path) as batches:
        assert (torch.get_num_threads(), batches.size) == (before + 1, 1)
    assert torch.get_num_threads() == before


def test_threads_are_divided(collected, tmp_path, monkeypatch):
    told = []

    def run(trial, folder, live=None):
        told.append((folder.name, trial.threads))
        return trial.failure("no", 1.0)

    monkeypatch.setattr("bilex.tune.trial_process.TrialProcess.run", run)
    monkeypatch.setattr("torch.get_num_threads", lambda: 9)
    with Place(jobs=4).ready(collected("ridge"), {}, tmp_path) as batches:
        tasks = [Task(number=number, settings={}) for number in (5, 6)]
        assert [outcome.number for outcome in batches.evaluate_many(tasks)] == [5, 6]
    assert sorted(told) == [("trial-5", 2), ("trial-6", 2)]


def test_inputs_come_back(packed, collected):
    inputs, back = collected("rapo", GIVEN), packed().read()
    for name in ("train", "dev", "method", "rng_seed", "dev_share", "fold_case", "spelling"):
        assert getattr(back, name) == getattr(inputs, name)
    for name in ("source", "target"):
        assert getattr(back, name).words == getattr(inputs, name).words
        assert (getattr(back, name).rows == getattr(inputs, name).rows).all()
    task = Task(number=1, settings={"random": "64"})
    assert lasting([run_trial(back, task)]) == lasting([run_trial(inputs, task)])


def test_files_that_lie_elsewhere(packed, tmp_path):
    made = packed()
    moved = {key: path.rename(tmp_path / path.name) for key, path in made.by_hash().items()}
    assert len(made.elsewhere(moved).read().dev) == 80


def test_a_line_of_json(packed):
    trial = TrialProcess(
        task=Task(number=1, settings={"hard": "64"}, pruning_thresholds=(0.1, 0.2)),
        packed=packed(),
        threads=2,
        device=None,
    )
    assert TrialProcess.from_json(trial.to_json()) == trial
    assert "\n" not in trial.to_json()


def test_a_process_that_is_killed_is_a_trial_that_failed(packed, tmp_path):
    trial = TrialProcess(task=Task(number=3, settings={}), packed=packed(ENDLESS), threads=1, device="cpu")
    live, found = Live(), []
    thread = threading.Thread(target=lambda: found.append(trial.run(tmp_path / "trial", live)))
    thread.start()
    while not live.processes:
        thread.join(0.01)
    live.end()
    thread.join()
    (outcome,) = found
    assert (outcome.number, outcome.state) == (3, "failed")
    assert outcome.error.startswith("the process was ended by signal 9 (SIGKILL)")
    assert outcome.seconds > 0


def test_what_was_left_by_a_search_that_was_killed(collected, tmp_path):
    (tmp_path / PARTIAL / "trial-1").mkdir(parents=True)
    with Place(jobs=2).ready(collected("ridge"), {}, tmp_path):
        found = sorted(path.name for path in (tmp_path / PARTIAL).iterdir())
        assert found == ["dev.tsv", "source.safetensors", "target.safetensors", "train.tsv"]
    assert list(tmp_path.iterdir()) == []
