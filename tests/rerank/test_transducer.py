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


def test_expected_counts_are_those_of_all_alignments(learnt):
    own, other, transducer = learnt
    a, b = own.encode(["aba"]), other.encode(["бв"])
    steps = {"substitute": np.zeros(transducer.substitute.shape), "delete": np.zeros(len(own))}
    total = 0.0

    def walk(i, j, probability, path):
        nonlocal total
        if i == 3 and j == 2:
            total += probability
            for name, place in path:
                steps[name][place] += probability
        if i < 3 and j < 2:
            pair = a.letters[0, i], b.letters[0, j]
            walk(i + 1, j + 1, probability * transducer.substitute[pair], [*path, ("substitute", pair)])
        if i < 3:
            letter = a.letters[0, i]
            walk(i + 1, j, probability * transducer.delete[letter], [*path, ("delete", letter)])
        if j < 2:
            walk(i, j + 1, probability * transducer.insert[b.letters[0, j]], path)

    walk(0, 0, 1.0, [])
    substituted, deleted, inserted, related = transducer._counts(a, b)
    np.testing.assert_allclose(substituted, related * steps["substitute"] / total, atol=1e-12)
    np.testing.assert_allclose(deleted, related * steps["delete"] / total, atol=1e-12)
    assert substituted.sum() + deleted.sum() == pytest.approx(3 * related)
    assert substituted.sum() + inserted.sum() == pytest.approx(2 * related)


def test_padding_changes_nothing(learnt):
    own, other, transducer = learnt
    first, second = ["ab", "moskvamoskva", "b"], ["бв", "у", "москвамосква"]
    together = transducer.log_odds(own.encode(first), other.encode(second))
    alone = [transducer.log_odds(own.encode([a]), other.encode([b]))[0] for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(together, alone)
    counts = transducer._counts(own.encode(first), other.encode(second))
    parts = [transducer._counts(own.encode([a]), other.encode([b])) for a, b in zip(first, second, strict=True)]
    for whole, one in zip(counts, zip(*parts, strict=True), strict=True):
        np.testing.assert_allclose(whole, sum(one))


def test_all_probabilities_sum_to_one(learnt):
    _, _, transducer = learnt
    parts = (transducer.substitute, transducer.delete, transducer.insert)
    assert sum(part.sum() for part in parts) == pytest.approx(1)


def test_very_long_words_do_not_underflow(learnt):
    own, other, transducer = learnt
    pairs = itertools.product(["a" * 40, "b"], ["а" * 40, "у" * 40])
    first, second = zip(*pairs, strict=True)
    assert np.isfinite(transducer.log_odds(own.encode(first), other.encode(second))).all()
