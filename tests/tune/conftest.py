from dataclasses import replace

import pytest

from bilex.fitting.inputs import collect
from bilex.tune.space import Space
from bilex.tune.trial import Outcome


@pytest.fixture
def collected(world):
    """The noisy world for a method with some settings; the words that are else tested on are dev."""

    def make(name, settings=None, **more):
        method = Space.of(name, settings or {}).method if name != "self_learning" else name
        return collect(world.source, world.target, world.train, method=method, **{"dev": world.test, **more})

    return make


@pytest.fixture
def invented():
    """Something that does tasks at once, with figures that depend on the settings alone."""

    def evaluate(tasks, seconds=60.0):
        for task in tasks:
            rank = 1 + sum(map(ord, "".join(task.settings.values()))) % 7
            made = Outcome(number=task.number, settings=task.settings, state="done", seconds=seconds)
            yield replace(made, mrr=1 / rank, p_at_1=100.0 * (rank == 1), ranks=(rank, rank))

    return evaluate
