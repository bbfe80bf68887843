import itertools
import math

import numpy as np
import pytest

from bilex.rerank.letters import Alphabet
from bilex.rerank.transducer import Transducer

LATIN, CYRILLIC = "abdgiklmnorstuv", "абдгиклмнорстув"


def words(count, rng):
    return ["".join(rng.choice(list(LATIN), size)) for size in rng.integers(3, 9, count)]


@pytest.fixture(scope="module")
def learnt():
    """From pairs of which two thirds are transliterated, with a letter left out now and then."""
    rng = np.random.default_rng(0)
    first = words(600, rng)
    second = [word.translate(str.maketrans(LATIN, CYRILLIC)) for word in first]
    second = [w[:1] + w[2:] if i % 5 == 0 else w for i, w in enumerate(second)]
    second[400:] = [w.translate(str.maketrans(LATIN, CYRILLIC)) for w in words(200, rng)]
    own, other = Alphabet(first), Alphabet(second)
    same = np.zeros((len(own), len(other)))
    return own, other, Transducer.fit(own.encode(first), other.encode(second), same)


def test_letters_that_correspond_are_found(learnt):
    own, other, transducer = learnt
    best = transducer.substitute.argmax(1)
    assert {(a, other.numbers[b]) for a, b in zip(LATIN, CYRILLIC, strict=True)} == {
        (a, best[own.numbers[a]]) for a in LATIN
    }
    assert transducer.share == pytest.approx(2 / 3, abs=0.1)


def test_odds_tell_related_words(learnt):
    own, other, transducer = learnt
    odds = transducer.log_odds(own.encode(["moskva", "moskva"]), other.encode(["москва", "тубари"]))
    assert odds[0] > 5
    assert odds[1] < 0


def test_probability_is_the_sum_over_all_alignments(learnt):
    own, other, transducer = learnt
    a, b = own.encode(["ab"]), other.encode(["бв"])

    def paths(i, j):
        if i == 2 and j == 2:
            yield 1.0
        if i < 2 and j < 2:
            yield from (transducer.substitute[a.letters[0, i], b.letters[0, j]] * p for p in paths(i + 1, j + 1))
        if i < 2:
            yield from (transducer.delete[a.letters[0, i]] * p for p in paths(i + 1, j))
        if j < 2:
            yield from (transducer.insert[b.letters[0, j]] * p for p in paths(i, j + 1))

    independent = math.prod(transducer.source[a.letters[0, :2]]) * math.prod(transducer.target[b.letters[0, :2]])
    assert transducer.log_odds(a, b)[0] == pytest.approx(math.log(sum(paths(0, 0)) / independent))


def test_all_probabilities_sum_to_one(learnt):
    _, _, transducer = learnt
    parts = (transducer.substitute, transducer.delete, transducer.insert)
    assert sum(part.sum() for part in parts) == pytest.approx(1)


def test_very_long_words_do_not_underflow(learnt):
    own, other, transducer = learnt
    pairs = itertools.product(["a" * 40, "b"], ["а" * 40, "у" * 40])
    first, second = zip(*pairs, strict=True)
    assert np.isfinite(transducer.log_odds(own.encode(first), other.encode(second))).all()
