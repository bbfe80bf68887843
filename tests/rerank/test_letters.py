import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilex.rerank.letters import MAX_LETTERS, Alphabet, edit_distance, plain, script


def slow_distance(a, b):
    line = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        diagonal, line[0] = line[0], i
        for j, other in enumerate(b, 1):
            diagonal, line[j] = line[j], min(line[j] + 1, line[j - 1] + 1, diagonal + (letter != other))
    return line[-1]


WORDS = st.lists(st.tuples(st.text("abcé", max_size=9), st.text("abcé", max_size=9)), min_size=1, max_size=30)


@given(WORDS)
def test_edit_distance_is_that_of_the_definition(pairs):
    first, second = zip(*pairs, strict=True)
    alphabet = Alphabet([*first, *second])
    found = edit_distance(alphabet.encode(first), alphabet.encode(second))
    assert found.tolist() == [slow_distance(*pair) for pair in pairs]


def test_long_words_are_cut_and_unknown_letters_are_zero():
    encoded = Alphabet(["ab"]).encode(["a?b", "a" * 50, ""])
    assert encoded.lengths.tolist() == [3, MAX_LETTERS, 0]
    assert encoded.letters[0, :4].tolist() == [1, 0, 2, 0]


@pytest.mark.parametrize(("word", "expected"), [("Élan", "elan"), ("NAÏVE", "naive"), ("Ёлка", "елка"), ("猫", "猫")])
def test_plain_words_have_no_accents_and_no_capitals(word, expected):
    assert plain(word) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["cat", "кот", "dog"], "LATIN"), (["кот", "2020"], "CYRILLIC"), (["猫"], "CJK"), (["2"], "")],
)
def test_script_of_most_letters(words, expected):
    assert script(words) == expected


def test_the_order_of_the_pairs_has_no_effect():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd"), size)) for size in rng.integers(0, 12, 200)]
    encoded, other = Alphabet(words).encode(words), Alphabet(words).encode(words[::-1])
    order = rng.permutation(200)
    shuffled = edit_distance(encoded.take(order), other.take(order))
    assert shuffled.tolist() == edit_distance(encoded, other)[order].tolist()
