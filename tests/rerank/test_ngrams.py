import math

import numpy as np

from bilex.rerank.ngrams import Ngrams, row_products


def slow_cosine(a, b, words, size):
    def grams(word):
        marked = f"<{word}>"
        return [marked[i : i + size] for i in range(len(marked) - size + 1)]

    def weight(ngram):
        return math.log((1 + len(words)) / (1 + sum(ngram in grams(word) for word in words)))

    def vector(word):
        return {ngram: grams(word).count(ngram) * weight(ngram) for ngram in grams(word)}

    known = {ngram for word in words for ngram in grams(word)}
    va, vb = vector(a), vector(b)
    inner = sum(va[n] * vb.get(n, 0) for n in va if n in known)
    return inner / math.prod(math.sqrt(sum(value**2 for value in v.values())) or 1e-9 for v in (va, vb))


def test_cosines_are_those_of_the_definition():
    words = ["nation", "action", "station", "chat", "chats"]
    ngrams = Ngrams(words, (2,))
    others = ["ration", "chateau", "xyz"]
    vectors = ngrams.vectors(others)
    for i, other in enumerate(others):
        for j, word in enumerate(words):
            found = row_products(vectors, ngrams.matrix, (np.array([i]), np.array([j])))[0]
            # an unknown n-gram counts in the length only, with the weight of one that no word has
            assert math.isclose(found, slow_cosine(other, word, words, 2), abs_tol=0.03)


def test_a_known_word_is_most_like_itself():
    words = ["nation", "action", "chat"]
    ngrams = Ngrams(words, (2, 3))
    both = (ngrams.matrix @ ngrams.vectors(words).T).toarray()
    np.testing.assert_allclose(both.diagonal(), 1)
    assert (both.argmax(1) == np.arange(3)).all()


def test_a_word_of_unknown_ngrams_has_no_cosine_and_no_word_is_no_error():
    ngrams = Ngrams(["abc"], (2,))
    assert ngrams.vectors(["xyz", ""]).sum() == 0
    assert Ngrams([], (2,)).vectors(["abc"]).shape == (1, 0)


def test_row_products_of_many_pairs_are_those_of_the_definition(monkeypatch):
    monkeypatch.setattr("bilex.rerank.ngrams.PAIRS", 7)
    words = ["nation", "action", "station", "chat", "chats", ""]
    vectors = Ngrams(words, (1, 2)).matrix
    generator = np.random.default_rng(0)
    pairs = generator.integers(0, 6, 50), generator.integers(0, 6, 50)
    dense = vectors.toarray()
    np.testing.assert_allclose(row_products(vectors, vectors, pairs), (dense[pairs[0]] * dense[pairs[1]]).sum(1))


def test_ngrams_of_different_sizes_and_unknown_letters_are_not_confused():
    ngrams = Ngrams(["aa", "ab", "c"], (1, 2))
    assert ngrams.matrix.shape[1] == len(["<", "a", "b", "c", ">", "<a", "aa", "ab", "a>", "b>", "<c", "c>"])
    vectors = ngrams.vectors(["da", "\udc80a"])  # a letter that no word has, and one that is none
    np.testing.assert_allclose(vectors.toarray()[0], vectors.toarray()[1])
    assert (vectors.toarray()[0] > 0).sum() == 2  # a and a>; < and > are in all words, and weigh nothing
