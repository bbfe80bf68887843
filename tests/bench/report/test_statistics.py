"""Against scipy, brute force and figures known from books."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilex.evaluation.significance import bootstrap, combine, holm, sign_test


def hits(wins, losses, both=3, neither=2):
    first = [True] * wins + [False] * losses + [True] * both + [False] * neither
    second = [False] * wins + [True] * losses + [True] * both + [False] * neither
    return np.array(first), np.array(second)


@pytest.mark.parametrize(("wins", "losses", "p_value"), [(8, 2, 0.109375), (5, 0, 0.0625), (6, 6, 1.0), (0, 0, 1.0)])
def test_sign_test_of_known_values(wins, losses, p_value):
    found = sign_test(*hits(wins, losses))
    assert found == (wins, losses, pytest.approx(p_value))


@given(st.integers(0, 30), st.integers(0, 30))
def test_sign_test_counts_outcomes_at_least_as_uneven(wins, losses):
    n = wins + losses
    uneven = [k for k in range(n + 1) if abs(2 * k - n) >= abs(wins - losses)]
    expected = sum(math.comb(n, k) for k in uneven) / 2**n
    assert sign_test(*hits(wins, losses)).p_value == pytest.approx(expected)
    assert sign_test(*hits(losses, wins)).p_value == pytest.approx(expected)


def test_bootstrap_is_that_of_drawn_words():
    rng = np.random.default_rng(3)
    differences = rng.choice([-1, -1 / 3, 0, 0, 1 / 3, 1], size=120)
    drawn = differences[rng.integers(0, 120, (20_000, 120))].mean(axis=1)
    assert bootstrap(differences) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.006)


def test_bootstrap_of_a_normal_case():
    differences = np.repeat([1.0, 0.0, -1.0], [60, 900, 40])
    low, high = bootstrap(differences)
    half = 1.96 * differences.std() / math.sqrt(1000)
    assert (low, high) == pytest.approx((0.02 - half, 0.02 + half), abs=0.002)


def test_bootstrap_is_the_same_for_the_same_seed():
    differences = np.array([1.0, 0, -1, 0, 1, 0.5])
    assert bootstrap(differences) == bootstrap(differences)
    assert bootstrap(differences, level=0.5).low > bootstrap(differences, level=0.99).low
    assert bootstrap(np.zeros(5)) == (0, 0)


def test_holm_of_known_values():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.7, 0.8]) == [1, 1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values):
    for level in (0.01, 0.05, 0.3):
        rejected = set()
        for step, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
            if p_values[i] * (len(p_values) - step) > level:
                break
            rejected.add(i)
        assert {i for i, p in enumerate(holm(p_values)) if p <= level} == rejected


def test_combine_is_the_median_made_larger():
    assert combine([0.03]) == 0.03
    assert combine([0.5, 0.01]) == pytest.approx(0.02)
    assert combine([0.02, 0.9, 0.01]) == pytest.approx(0.03)
    assert combine([0.9, 0.8]) == 1


def test_combine_keeps_its_level_for_tests_that_depend_on_each_other():
    rng = np.random.default_rng(0)
    common, own = rng.random((20_000, 1)), rng.random((20_000, 3))
    for share, size in itertools.product((0, 0.5, 1), (1, 2, 3)):
        p_values = np.where(rng.random((20_000, 3)) < share, common, own)[:, :size]
        assert np.mean([combine(list(row)) < 0.05 for row in p_values]) < 0.055
