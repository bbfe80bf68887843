import threading

import pytest

from bilex.explorer.batches import Batches


def test_what_gathers_is_done_together():
    busy, go = threading.Event(), threading.Event()
    done = []

    def work(key, items):
        done.append((key, items))
        busy.set()
        assert go.wait(60)
        return [item * 2 for item in items]

    batches = Batches(work, most=3)
    first = batches.submit("a", 1)
    assert busy.wait(60)
    others = [batches.submit(key, item) for key, item in [("a", 2), ("b", 3), ("a", 4), ("a", 5)]]
    go.set()
    assert [future.result(60) for future in [first, *others]] == [2, 4, 6, 8, 10]
    batches.close()
    assert done == [("a", [1]), ("a", [2, 4]), ("b", [3]), ("a", [5])]


def test_an_error_goes_to_who_asked_and_the_thread_goes_on():
    def work(key, items):
        if key == "bad":
            raise ValueError("no")
        return items

    batches = Batches(work)
    with pytest.raises(ValueError, match="no"):
        batches.submit("bad", 1).result(60)
    assert batches.submit("good", 1).result(60) == 1
    batches.close()
