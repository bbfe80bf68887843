"""The times that are told before a long run: those of the table in the module, and how they are said."""

import pytest

from bilex import get_method
from bilex.duration import estimate, rough

TABLE = [  # method, settings, words, pairs, dimensions, threads, seconds by the formula
    ("procrustes", {}, (200_000, 200_000), 5000, 300, 2, 1.1),
    ("rapo", {}, (5700, 5700), 5735, 300, 1, 19),
    ("rapo", {}, (20_000, 40_000), 9035, 300, 1, 151),
    ("rapo", {}, (40_000, 40_000), 7301, 100, 1, 55),
    ("rapo", {}, (50_000, 50_000), 5000, 300, 2, 86),
    ("rapo", {"refit": "false"}, (50_000, 50_000), 5000, 300, 2, 0.6 * 86),
    ("rapo", {"epochs": "5"}, (50_000, 50_000), 5000, 300, 2, 86 / 2),
    ("rapo_semi", {}, (20_000, 40_000), 8172, 300, 1, 220),
    ("rapo_unsupervised", {}, (20_000, 20_000), 0, 300, 1, 353),
    ("rapo_unsupervised", {}, (20_000, 40_000), 0, 300, 1, 430),
    ("rapo_unsupervised", {}, (20_000, 40_000), 0, 150, 1, 430 / 2),
]


@pytest.mark.parametrize(("name", "settings", "words", "pairs", "dim", "threads", "seconds"), TABLE)
def test_seconds(name, settings, words, pairs, dim, threads, seconds):
    method = get_method(name, settings)
    found = estimate(method, words=words, dim=dim, pairs=pairs, source_words=pairs, threads=threads)
    assert found == pytest.approx(seconds, rel=0.05)


def test_a_small_dictionary_is_made_larger_first():
    """By linear maps of at most 20,000 words of each language, and then by half of the 15,000 looked at for pairs."""
    given = {"words": (50_000, 8000), "dim": 300, "pairs": 400, "threads": 1}
    method = get_method("rapo_semi")
    linear, found = (20_000 + 8000) * 5e-3, 400 + 8000 / 2
    training = 58_000 * (250e-6 + 0.25e-6 * found)
    assert estimate(method, source_words=300, **given) == pytest.approx(linear + 2 * 0.6 * training)
    assert estimate(method, source_words=method.few, **given) == pytest.approx(1.6 * 58_000 * (250e-6 + 0.25e-6 * 400))


def test_of_other_methods_nothing_is_known():
    found = estimate(get_method("vecmap"), words=(9, 9), dim=300, pairs=9, source_words=9, threads=1)
    assert found is None


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (6.9, "a few seconds"),
        (12, "about 10 seconds"),
        (54, "about 50 seconds"),
        (60, "about a minute"),
        (9 * 60, "about 9 minutes"),
        (23 * 60, "about 25 minutes"),
        (60 * 60, "about an hour"),
        (100 * 60, "about 2 hours"),
    ],
)
def test_how_it_is_told(seconds, told):
    assert rough(seconds) == told
