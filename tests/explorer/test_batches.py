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

    batches = Batches(work, max_batch=3)
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


def test_closing_finishes_what_was_asked():
    go, begun = threading.Event(), threading.Event()

    def work(_, items):
        begun.set()
        assert go.wait(60)
        return items

    batches = Batches(work)
    first = batches.submit("a", 1)
    assert begun.wait(60)
    others = [batches.submit("a", number) for number in range(40)]
    closing = threading.Thread(target=batches.close)
    closing.start()
    go.set()
    closing.join(60)
    assert not closing.is_alive()
    assert not batches._thread.is_alive()
    assert [future.result(0) for future in [first, *others]] == [1, *range(40)]


def test_what_nobody_waits_for_any_more_is_left_out():
    go, begun, done = threading.Event(), threading.Event(), []

    def work(_, items):
        begun.set()
        assert go.wait(60)
        done.extend(items)
        return items

    batches = Batches(work)
    batches.submit("a", 1)
    assert begun.wait(60)
    given_up, other, alone = batches.submit("a", 2), batches.submit("a", 3), batches.submit("b", 4)
    assert given_up.cancel()
    assert alone.cancel()
    go.set()
    assert other.result(60) == 3
    batches.close()
    assert done == [1, 3]


def test_at_most_32_at_a_time():
    go, begun, sizes = threading.Event(), threading.Event(), []

    def work(_, items):
        begun.set()
        assert go.wait(60)
        sizes.append(len(items))
        return items

    batches = Batches(work)
    batches.submit("a", 0)
    assert begun.wait(60)
    for number in range(40):
        batches.submit("a", number)
    go.set()
    batches.close()
    assert sizes == [1, 32, 8]
