"""The two long steps, in the background of a page that is there already."""

import threading
from types import SimpleNamespace

import pytest

from bilex.explorer.preparation import Preparation

STEPS = ("neighbourhoods of all words", "translations of all words")


class Search:
    """Two steps of `pieces` pieces each; a piece is done when the test lets it be."""

    def __init__(self, pieces=4):
        self.pieces, self.done = pieces, []
        self.begun, self.go = threading.Semaphore(0), threading.Semaphore(0)
        self.index = SimpleNamespace(prepare=lambda *, progress: self.work(STEPS[0], progress))

    def find(self, progress):
        self.work(STEPS[1], progress)

    def work(self, step, progress):
        for piece in range(self.pieces):
            progress(piece, self.pieces)
            self.begun.release()
            assert self.go.acquire(timeout=60)
            self.done.append(step)


@pytest.fixture
def search():
    return Search()


def let(search, pieces):
    """Let so many pieces be done, and wait until the next has begun."""
    for _ in range(pieces):
        search.go.release()
        assert search.begun.acquire(timeout=60)


@pytest.fixture
def preparation(search):
    made = Preparation(search)
    made.start()
    assert search.begun.acquire(timeout=60)
    yield made
    for _ in range(2 * search.pieces):
        search.go.release()
    made.stop()


def test_closing_waits_for_the_piece_at_hand_alone(preparation, search):
    let(search, 1)
    stopping = threading.Thread(target=preparation.stop)
    stopping.start()
    preparation._stop.wait(60)
    assert stopping.is_alive(), "the piece at hand is not done yet"
    for _ in range(2 * search.pieces):
        search.go.release()
    stopping.join(60)
    assert not stopping.is_alive()
    assert search.done == [STEPS[0]] * 2
    assert not preparation.status()["done"]
    assert preparation.error is None, "to be stopped is no failure"


def test_how_far_it_is(preparation, search):
    told = preparation.status()
    assert told == {"step": STEPS[0], "share": 0.0, "done": False, "error": None}
    let(search, 1)
    assert preparation.status()["share"] == 1 / 8
    let(search, 3)
    assert preparation.status() == {"step": STEPS[1], "share": 0.5, "done": False, "error": None}
    let(search, 3)
    assert preparation.status()["share"] == 7 / 8
    search.go.release()
    preparation.wait()
    assert preparation.status() == {"step": STEPS[1], "share": 1.0, "done": True, "error": None}
    assert search.done == [STEPS[0]] * 4 + [STEPS[1]] * 4


def test_a_step_that_says_it_is_done_is_not_the_end(search):
    """Only when the last step has come back can what it found be used."""
    made = Preparation(search)
    made._finished = 1
    made._report(STEPS[1], 4, 4)
    assert (made.status()["share"], made.status()["done"]) == (0.999, False)
    made._report(STEPS[1], 0, 0)
    assert made.status()["share"] == 0.5


def test_one_that_never_began_can_be_stopped(search):
    made = Preparation(search)
    assert made.status() == {"step": "", "share": 0.0, "done": False, "error": None}
    made.stop()
    assert search.done == []


def test_a_failure_is_told_and_ends_it(search):
    search.find = lambda _: 1 / 0
    made = Preparation(search)
    for _ in range(search.pieces):
        search.go.release()
    made.start()
    made.wait()
    assert made.status() == {
        "step": STEPS[1],
        "share": 0.5,
        "done": False,
        "error": "ZeroDivisionError: division by zero",
    }
