import numpy as np
import pytest

from bilex.errors import SettingsError
from bilex.text.words import MAX_SHOWN_LENGTH, describe_value, quote, truncate, word_list


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("school", ["school"]),
        ("", [""]),
        (["school", "lake"], ["school", "lake"]),
        (("school",), ["school"]),
        ((word for word in ("a", "b")), ["a", "b"]),
        (np.array(["school", "lake"]), ["school", "lake"]),
        ({"school": 1}, ["school"]),
        ([], []),
    ],
)
def test_a_string_is_one_word(given, words):
    assert word_list(given) == words


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (5, r"names: found 5 \(int\)"),
        (None, "names: found None"),
        (b"dog", r"names: number 1 is 100 \(int\)"),
        (["a", ("b", "c")], r"names: number 2 is \('b', 'c'\) \(tuple\)"),
    ],
)
def test_what_is_no_word(given, found):
    with pytest.raises(SettingsError, match=found + "; needed a string, or several"):
        word_list(given, "names")


def test_words_are_shown_on_one_line():
    assert quote("a\nb\u202e\x1b[31m\x85") == r"'a\nb\u202e\x1b[31m\x85'"
    assert truncate("x" * MAX_SHOWN_LENGTH) == "x" * MAX_SHOWN_LENGTH
    assert truncate("x" * 1000) == "x" * MAX_SHOWN_LENGTH + "..."
    assert len(describe_value(list(range(1000)))) < 50
    assert describe_value(np.ones(3)) == "a value of type ndarray"
