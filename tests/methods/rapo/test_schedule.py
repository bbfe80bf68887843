import json

import pytest
import torch

from bilex.errors import CheckpointError
from bilex.methods.rapo.schedule import Schedule, train
from bilex.storage.array_file import read_arrays, write_arrays
from bilex.training.checkpoint import CHECKPOINT, NO_CHECKPOINT, Checkpoint
from bilex.training.trace import Trace


class PowerCutError(Exception):
    """The power cut."""


class Toy:
    """Pulls w to a target that differs from pair to pair; draws random numbers at every turn, as methods do."""

    def __init__(self, generator, dev=None):
        self.parameters = {"w": torch.zeros(3, requires_grad=True), "unused": torch.ones(2, requires_grad=True)}
        self.generator, self.dev = generator, dev
        self.seen, self.noise, self.memory = [], torch.zeros(3), torch.zeros(1)

    def refresh(self, epoch, *, last):
        self.seen.append(self.parameters["w"].detach().clone())
        self.noise = torch.randn(3, generator=self.generator)
        self.memory = self.memory + self.noise[:1]
        return {"figure": 1.5} if self.dev is None else {"dev": self.dev[epoch]}

    def order(self):
        return torch.randperm(10, generator=self.generator)

    def carried(self):
        return {"memory": self.memory}

    def carry(self, arrays):
        self.memory = arrays["memory"]

    def losses(self, batch):
        noise = torch.rand(3, generator=self.generator) + self.memory
        goal = batch.float().mean() + self.noise + noise
        return {"pull": (self.parameters["w"] - goal).square().sum(), "other": self.parameters["w"].abs().sum() * 0.1}


def run(*, dev=None, listener=None, folder=None, epochs=6, patience=100, smooth=1, rng_seed=0, decay=False):
    generator = torch.Generator().manual_seed(rng_seed)
    trace, checkpoint, learner = Trace(listener), Checkpoint(folder), Toy(generator, dev)
    schedule = Schedule(
        pairs=10,
        epochs=epochs,
        planned=8,
        batch=4,
        learning_rate=0.1,
        decay=decay,
        patience=patience,
        smooth=smooth,
    )
    best = train(
        learner,
        schedule,
        generator=generator,
        trace=trace,
        stage={"stage": "toy"},
        checkpoint=checkpoint,
        state=checkpoint.load(trace),
    )
    return learner, best, trace


def test_without_dev_the_last_epoch_is_kept():
    learner, best, trace = run(patience=1)
    assert best == 6
    assert torch.equal(learner.parameters["w"], learner.seen[6])
    assert [record["epoch"] for record in trace.records] == list(range(7))
    assert {"stage", "figure", "pull", "other", "train_seconds", "refresh_seconds"} <= trace.records[-1].keys()


def test_the_best_epoch_is_restored():
    learner, best, _ = run(dev=[0.1, 0.2, 0.9, 0.3, 0.9, 0.2, 0.1])
    assert best == 2
    assert torch.equal(learner.parameters["w"], learner.seen[2])
    assert not torch.equal(learner.seen[2], learner.seen[6])


def test_the_start_may_be_best():
    learner, best, _ = run(dev=[0.0, *[-1.0] * 6])
    assert best == 0
    assert torch.equal(learner.parameters["w"], torch.zeros(3))


def test_patience():
    learner, best, _ = run(dev=[0.1, 0.2, 0.1, 0.1, 0.1, 0.9, 0.9], patience=3)
    assert (best, len(learner.seen)) == (1, 5)


def test_dev_is_smoothed():
    assert run(dev=[0.1, 0.9, 0.1, 0.1, 0.6, 0.6, 0.6], smooth=1)[1] == 1
    assert run(dev=[0.1, 0.9, 0.1, 0.1, 0.6, 0.6, 0.6], smooth=3)[1] == 6


@pytest.mark.parametrize(
    ("stage", "label"), [("choose", "epoch {} of at most 2"), ("refit", "last training, epoch {} of 2")]
)
def test_the_last_training_is_told_from_the_first(stage, label):
    told = []
    trace = Trace(watcher=lambda name, share: told.append((name, share)))
    schedule = Schedule(pairs=10, epochs=2, planned=2, batch=5, learning_rate=0.1, decay=False, patience=5, smooth=1)
    generator = torch.Generator().manual_seed(0)
    train(
        Toy(generator),
        schedule,
        generator=generator,
        trace=trace,
        stage={"stage": stage},
        checkpoint=NO_CHECKPOINT,
        state=None,
    )
    assert told == [(label.format(number), share) for number, share in ((1, 0.25), (1, 0.5), (2, 0.75), (2, 1))]


def test_no_epochs():
    learner, best, trace = run(epochs=0)
    assert (best, len(trace.records)) == (0, 1)
    assert torch.equal(learner.parameters["w"], torch.zeros(3))


def test_a_falling_rate_ends_at_0(rates):
    schedule = Schedule(pairs=10, epochs=2, planned=4, batch=5, learning_rate=0.8, decay=True, patience=9, smooth=1)
    generator = torch.Generator().manual_seed(0)
    train(Toy(generator), schedule, generator=generator, trace=Trace(), stage={}, checkpoint=NO_CHECKPOINT, state=None)
    assert rates == pytest.approx([0.8, 0.7, 0.6, 0.5])


@pytest.mark.parametrize("dev", [None, [0.1, 0.2 / 3, 0.7 / 3, 0.3, 0.1, 0.2, 0.1]], ids=["no dev", "dev"])
@pytest.mark.parametrize("after", range(7))
def test_interrupted_and_resumed_is_the_same_to_the_bit(tmp_path, dev, after):
    expected, best, trace = run(dev=dev, smooth=3, decay=True)

    def stop(record):
        if record["epoch"] == after:
            raise PowerCutError

    with pytest.raises(PowerCutError):
        run(dev=dev, smooth=3, decay=True, listener=stop, folder=tmp_path)
    # Another seed: all randomness must come from the checkpoint, where there is one.
    learner, again, resumed = run(dev=dev, smooth=3, decay=True, folder=tmp_path, rng_seed=9 if after else 0)
    assert again == best
    assert all(torch.equal(p, learner.parameters[name]) for name, p in expected.parameters.items())
    assert [untimed(record) for record in resumed.records] == [untimed(record) for record in trace.records]


@pytest.fixture
def checkpoint(tmp_path):
    """Of a training that was interrupted after two epochs."""

    def stop(record):
        if record["epoch"] == 2:
            raise PowerCutError

    with pytest.raises(PowerCutError):
        run(dev=[0.1] * 7, listener=stop, folder=tmp_path)
    return tmp_path / CHECKPOINT


def test_damaged_arrays_are_refused(checkpoint, damages):
    """Whoever has written them: their checksum is right."""
    arrays, notes = read_arrays(checkpoint)
    for key in arrays.keys() - {"kept.memory"}:  # a learner looks at its own
        for damage, damaged in damages(arrays[key]):
            others = {name: array for name, array in arrays.items() if name != key}
            write_arrays(checkpoint, others | ({} if damaged is None else {key: damaged}), notes)
            if key == "history" and damage in ("shorter", "longer", "empty", "narrower", "double", "huge"):
                continue  # it may be of any length, and of any size
            if damage in ("huge", "double"):
                continue  # finite as they are
            if key == "generator" and damage in ("far", "negative"):
                continue  # random numbers are random
            with pytest.raises(CheckpointError, match="damaged, or of another method"):
                run(dev=[0.1] * 7, folder=checkpoint.parent)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epoch", None),
        ("epoch", "1"),
        ("epoch", 1.5),
        ("epoch", -1),
        ("best_epoch", True),
        ("best", None),
        ("best", "x"),
        ("stage", 1.5),
    ],
)
def test_damaged_values_are_refused(checkpoint, name, value):
    arrays, notes = read_arrays(checkpoint)
    values = json.loads(notes["values"])
    for change in ({**values, name: value}, {key: value for key, value in values.items() if key != name}):
        write_arrays(checkpoint, arrays, {**notes, "values": json.dumps(change)})
        with pytest.raises(CheckpointError, match="damaged, or of another method"):
            run(dev=[0.1] * 7, folder=checkpoint.parent)


@pytest.mark.parametrize("name", ["dev", "refresh_seconds", "more"])
def test_figures_of_any_name_do_no_harm(checkpoint, name):
    arrays, notes = read_arrays(checkpoint)
    write_arrays(checkpoint, arrays, {**notes, "values": json.dumps({**json.loads(notes["values"]), name: 0.5})})
    assert run(dev=[0.1] * 7, folder=checkpoint.parent)[1] == 0


def untimed(record):
    return {name: value for name, value in record.items() if not name.endswith("seconds")}
