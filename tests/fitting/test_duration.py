import re

import pytest

from bilex import get_method
from bilex.fitting import duration
from bilex.fitting.duration import estimate, rough

MEASURED = [
    ("procrustes", (200_000, 200_000), 300, 0, 2, 1.1),
    ("rapo", (5700, 5700), 300, 5735, 1, 10),
    ("rapo", (20_000, 40_000), 300, 9035, 1, 27),
    ("rapo", (40_000, 40_000), 100, 7301, 1, 10),
    ("rapo", (200_000, 200_000), 300, 5000, 2, 129),
    ("rapo_semi", (20_000, 40_000), 300, 8172, 1, 41),
    ("rapo_unsupervised", (20_000, 40_000), 300, 0, 1, 178),
]


def seconds(method, words=(20_000, 20_000), *, dim=300, pairs=8000, source_words=None, threads=1):
    return estimate(
        method,
        words=words,
        dim=dim,
        pairs=pairs,
        source_words=pairs if source_words is None else source_words,
        threads=threads,
    )


@pytest.mark.parametrize(("name", "words", "dim", "pairs", "threads", "said"), MEASURED)
def test_what_the_formula_says_is_what_is_written_beside_the_measurements(name, words, dim, pairs, threads, said):
    assert seconds(get_method(name), words, dim=dim, pairs=pairs, threads=threads) == pytest.approx(said, rel=0.05)
    assert f"({said})" in duration.__doc__


def test_no_estimate_is_further_off_than_it_says():
    times = [
        (float(a.replace(",", "")), float(b.replace(",", "")))
        for a, b in re.findall(r" ([\d.,]+) \(([\d.,]+)\)\n", duration.__doc__)
    ]
    assert len(times) == len(MEASURED)
    assert all(0.5 < told / measured < 2 for measured, told in times)


def test_rounds_epochs_and_refit_count():
    rapo = seconds(get_method("rapo"))
    twice, thrice = (seconds(get_method("rapo", {"epochs": epochs})) for epochs in (10, 15))
    assert thrice - twice == pytest.approx(twice - rapo)
    assert rapo < twice < 2 * rapo  # what is searched once costs the same
    assert seconds(get_method("rapo", {"refit": False})) == pytest.approx(0.6 * rapo)
    one, two = (seconds(get_method("rapo_semi", {"rounds": rounds})) for rounds in (1, 2))
    assert two - one == pytest.approx(rapo)


def test_a_small_dictionary_takes_longer_than_one_that_need_not_be_made_larger():
    semi = get_method("rapo_semi")
    assert seconds(semi, pairs=1499) > seconds(semi, pairs=1500)
    assert seconds(semi, pairs=3000, source_words=1499) > seconds(semi, pairs=3000, source_words=1500)


@pytest.mark.parametrize(
    ("name", "settings"), [("vecmap", {}), ("rapo_semi", {"base": "vecmap"}), ("self_learning", {})]
)
def test_of_others_nothing_is_known(name, settings):
    assert seconds(get_method(name, settings)) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (0.01, "a few seconds"),
        (6.9, "a few seconds"),
        (7, "about 10 seconds"),
        (24, "about 20 seconds"),
        (54, "about 50 seconds"),
        (55, "about a minute"),
        (89, "about a minute"),
        (91, "about 2 minutes"),
        (9.4 * 60, "about 9 minutes"),
        (11 * 60, "about 10 minutes"),
        (54 * 60, "about 55 minutes"),
        (55 * 60, "about an hour"),
        (89 * 60, "about an hour"),
        (91 * 60, "about 2 hours"),
        (10 * 3600, "about 10 hours"),
    ],
)
def test_as_it_is_told(given, said):
    assert rough(given) == said
