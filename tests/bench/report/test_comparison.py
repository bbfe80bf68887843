import math

import pytest
from scipy.stats import binomtest

from bilex.bench.report.comparison import compare, leaders, margins
from bilex.evaluation.significance import combine


def test_two_systems_word_by_word(cell, grid_of):
    grid = grid_of(cell("a", right=range(5, 30)), cell("b", right=range(10)))
    (found,) = compare(grid, "a", "b")
    assert (found.wins, found.losses) == (20, 5)
    assert found.p_value == found.p_holm == pytest.approx(binomtest(20, 25).pvalue)
    assert found.difference == pytest.approx(37.5)
    assert found.low < found.difference < found.high
    (other,) = compare(grid, "b", "a")
    assert (other.difference, other.p_value) == (pytest.approx(-37.5), found.p_value)


def test_p_values_are_corrected_for_the_directions(cell, grid_of):
    rights = {"en-fr": 20, "en-fi": 14, "en-ru": 12}
    grid = grid_of(*(cell("a", d, right=range(n)) for d, n in rights.items()), *(cell("b", d) for d in rights))
    found = {c.direction: c for c in compare(grid, "a", "b")}
    raw = {d: binomtest(n, n).pvalue for d, n in rights.items()}
    assert {d: c.p_value for d, c in found.items()} == pytest.approx(raw)
    assert found["en-fr"].p_holm == pytest.approx(3 * raw["en-fr"])
    assert found["en-ru"].p_holm == pytest.approx(max(2 * raw["en-fi"], raw["en-ru"]))


def test_several_seeds_against_one_are_tested_seed_by_seed(mixed):
    found = compare(mixed, "rapo", "vecmap")[0]
    wins = {seed: test.wins for seed, test in found.tests.items()}
    assert wins == {0: 18, 1: 19, 2: 20}
    assert found.wins == 19
    assert found.p_value == pytest.approx(combine([test.p_value for test in found.tests.values()]))
    assert found.difference == pytest.approx(77.5 - 30)


def test_equal_seeds_are_compared_with_each_other(cell, grid_of):
    grid = grid_of(
        *(cell("a", rng_seed=i, right=range(10 + i)) for i in (0, 1, 2)),
        *(cell("b", rng_seed=i, right=range(10)) for i in (1, 2, 3)),
    )
    assert {seed: test.wins for seed, test in compare(grid, "a", "b")[0].tests.items()} == {1: 1, 2: 2}


def test_seeds_that_have_nothing_in_common_are_taken_in_order(cell, grid_of):
    grid = grid_of(
        *(cell("a", rng_seed=i, right=range(10 + i)) for i in (0, 1)),
        *(cell("b", rng_seed=i, right=range(10)) for i in (5, 6)),
    )
    assert [test.wins for test in compare(grid, "a", "b")[0].tests.values()] == [0, 1]


def test_equal_systems_with_unequal_numbers_of_seeds_do_not_seem_different(cell, grid_of):
    """A majority of seeds, or a mean, would be right on other words than one seed, though no seed is better."""
    lone = cell("b", right=range(100), words=120)
    seeds = [cell("a", rng_seed=i, right={*range(100)} - {i} | {100 + i}, words=120) for i in range(20)]
    (found,) = compare(grid_of(lone, *seeds), "a", "b")
    assert (found.difference, found.p_value) == (pytest.approx(0), 1)


def test_other_words_are_not_compared(cell, grid_of):
    grid = grid_of(cell("a", right=range(20)), cell("b", words=30), cell("a", "en-fi"), cell("b", "en-fi"))
    assert [found.direction for found in compare(grid, "a", "b")] == ["en-fi"]


def test_margins_are_against_the_best_of_those_not_named(mixed):
    found = margins(mixed, ["rapo*"])
    assert [(c.first, c.second, c.direction) for c in found] == [("rapo", "vecmap", d) for d in ("en-fr", "en-fi")]
    assert [c.mark for c in found] == ["‡", ""]
    assert margins(mixed, ["nothing*"]) == []
    assert margins(mixed, ["*"]) == []


def test_a_peer_was_given_no_more_of_the_dictionary(cell, grid_of):
    grid = grid_of(
        cell("rapo", right=range(30)),
        cell("rapo, 100 pairs", pairs=100, right=range(20)),
        cell("rapo_unsupervised", train=0, right=range(15)),
        cell("geomm", right=range(25)),
        cell("geomm, 100 pairs", pairs=100, right=range(18)),
        cell("adversarial", train=0, right=range(16)),
    )
    peers = {c.first: c.second for c in margins(grid, ["rapo*"])}
    assert peers == {"rapo": "geomm", "rapo, 100 pairs": "geomm, 100 pairs", "rapo_unsupervised": "adversarial"}


def test_a_supervised_system_has_supervised_peers(cell, grid_of):
    grid = grid_of(
        cell("rapo", right=range(30)),
        cell("rapo_semi", right=range(32)),
        cell("geomm", right=range(20)),
        cell("geomm_semi", right=range(25)),
        cell("a method of somebody's", right=range(27)),
    )
    peers = {c.first: c.second for c in margins(grid, ["rapo*"])}
    assert peers == {"rapo": "geomm", "rapo_semi": "a method of somebody's"}


def test_what_was_chosen_on_test_takes_no_part(cell, grid_of):
    grid = grid_of(
        cell("rapo", right=range(20)), cell("rapo", right=range(40), protocol="paper"), cell("geomm", right=range(10))
    )
    assert [(c.first, c.second) for c in margins(grid, ["rapo*"])] == [("rapo", "geomm")]
    assert [(c.first, c.second) for c in leaders(grid)] == [("rapo", "geomm")]


def test_a_system_that_also_failed_is_no_leader_but_a_peer(cell, grid_of):
    failed = cell("geomm", rng_seed=1, status="failed", error="no")
    grid = grid_of(cell("geomm", right=range(39)), failed, cell("rapo", right=range(20)), cell("cca", right=range(5)))
    assert [(c.first, c.second) for c in leaders(grid)] == [("rapo", "geomm")]
    assert [(c.first, c.second) for c in margins(grid, ["rapo"])] == [("rapo", "geomm")]
    (found,) = margins(grid, ["geomm"])
    assert (found.lost, found.mark, found.p_holm < 0.01) == (1, "", True)
    assert math.isclose(found.difference, 47.5)
