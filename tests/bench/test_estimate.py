from types import SimpleNamespace

import pytest

from bilex.bench.estimate import estimate


def cell(system, seconds, *, method="rapo", gigabytes=None):
    return SimpleNamespace(
        system=system, method=method, seconds=seconds, seconds_evaluation=1.0, peak_gigabytes=gigabytes
    )


DONE = [cell("a", 9, gigabytes=0.5), cell("a", 19, gigabytes=2.5), cell("b", 99), cell("c", None, gigabytes=9.0)]


@pytest.mark.parametrize(
    ("left", "jobs", "seconds"),
    [
        ([cell("a", None)], 1, 15),
        ([cell("a", None), cell("b", None)], 1, 115),
        ([cell("a", None), cell("b", None)], 2, 57.5),
        ([cell("a", None)], 8, 15),
        ([cell("new", None)], 1, (10 + 20 + 100) / 3),
        ([cell("new", None, method="ridge")], 1, (10 + 20 + 100) / 3),
    ],
)
def test_seconds_of_the_same_system_else_method_else_of_all(left, jobs, seconds):
    found = estimate(left, DONE, jobs=jobs)
    assert found.seconds == pytest.approx(seconds)
    assert found.cells == len(left)
    assert found.gigabytes == 2.5


def test_what_is_not_known_is_not_told():
    assert estimate([cell("a", None)], [], jobs=1) == (1, None, None)
    assert estimate([], DONE, jobs=1).seconds == 0
