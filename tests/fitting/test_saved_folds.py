"""A second stage that was interrupted goes on after the finished folds, with the same result, bit for bit."""

import dataclasses

import numpy as np
import pytest

from bilex.fitting.fit import fit, with_second_stage
from bilex.fitting.inputs import collect
from bilex.fitting.saved_folds import FoldFiles, fold_file
from bilex.methods.procrustes import Procrustes
from bilex.rerank.cross_fitting import ARRAYS
from bilex.run.reranker_file import digest
from bilex.run.second_stage import evidence
from bilex.training.checkpoint import Checkpoint


@pytest.fixture(scope="module")
def inputs(alike):
    return collect(alike.source, alike.target, alike.train, method="procrustes")


@pytest.fixture(scope="module")
def aligned(inputs):
    return fit(inputs)


def interrupt_at(monkeypatch, number):
    """Let the fit of this number of mappings be interrupted. Returns the list of pairs that were fitted to."""
    fitted, original = [], Procrustes.fit

    def fit(self, x, z, pairs, **more):
        fitted.append(len(pairs))
        if len(fitted) == number:
            raise KeyboardInterrupt
        return original(self, x, z, pairs, **more)

    monkeypatch.setattr(Procrustes, "fit", fit)
    return fitted


@pytest.mark.parametrize("finished", [0, 1, 2])
def test_goes_on_after_the_finished_folds(aligned, inputs, reranked, tmp_path, monkeypatch, finished):
    with monkeypatch.context() as patch:
        interrupt_at(patch, finished + 1)
        with pytest.raises(KeyboardInterrupt):
            with_second_stage(aligned, inputs, checkpoint=Checkpoint(tmp_path))
    assert [fold_file(tmp_path, fold).exists() for fold in range(3)] == [fold < finished for fold in range(3)]
    fitted = interrupt_at(monkeypatch, None)
    again = with_second_stage(aligned, inputs, checkpoint=Checkpoint(tmp_path))
    assert len(fitted) == 3 - finished
    assert digest(again.reranker) == digest(reranked.reranker)
    assert again.reranker.summary == reranked.reranker.summary


@pytest.mark.parametrize("change", ["damage", "pairs", "settings"])
def test_a_fold_of_something_else_is_made_again(aligned, tmp_path, reranked, change):
    known, lists = evidence(aligned), reranked.reranker.lists[0]
    FoldFiles(tmp_path, known, {"folds": 3}).save(0, lists)
    found = FoldFiles(tmp_path, known, {"folds": 3}).load(0)
    assert all(np.array_equal(getattr(found, name), getattr(lists, name)) for name in ARRAYS)
    if change == "damage":
        path = fold_file(tmp_path, 0)
        path.write_bytes(path.read_bytes()[:-10])
    others = dataclasses.replace(known, pairs=known.pairs[1:]) if change == "pairs" else known
    assert FoldFiles(tmp_path, others, {"folds": 5 if change == "settings" else 3}).load(0) is None


def test_a_full_disk_is_no_reason_to_stop(aligned, tmp_path, reranked):
    FoldFiles(tmp_path / "nowhere", evidence(aligned), {}).save(0, reranked.reranker.lists[0])
    assert not (tmp_path / "nowhere").exists()
