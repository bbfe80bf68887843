import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilex.text.suggest import FrequentWords, suggestion

LETTERS = st.text("abcdeéß動", min_size=4, max_size=9)


@pytest.mark.parametrize("name", ["procrustse", "Procrustes", "PROCRUST"])
def test_names(name):
    assert suggestion(name, ["procrustes", "vecmap"]) == " (did you mean 'procrustes'?)"


def test_names_that_differ_by_case_keep_theirs():
    assert suggestion("rapo", ["RAPO", "RCSLS"]) == " (did you mean 'RAPO'?)"


def test_nothing_is_near():
    assert suggestion("q", ["procrustes", "vecmap"]) == ""
    assert suggestion("q", []) == ""


@given(LETTERS, LETTERS, st.integers(0, 9), st.sampled_from("abcx動"))
def test_one_letter_away(known, other, place, letter):
    place = min(place, len(known) - 1)
    rest, pair = known[:place] + known[place + 1 :], known[place : place + 2]
    words = FrequentWords([known])
    for typed in (
        rest,
        known[:place] + letter + known[place:],
        known[:place] + letter + known[place + 1 :],
        known[:place] + pair[::-1] + known[place + 2 :],
    ):
        assert words.nearest(typed) == (known if len(typed) > 3 else None)
    if abs(len(other) - len(known)) > 1:
        assert words.nearest(other) is None


def test_the_most_alike_then_the_most_frequent():
    words = FrequentWords(["schools", "school", "House", "mouse"])
    assert words.nearest("schol") == "school"
    assert words.nearest("SCHOOOL") == "school"
    assert words.nearest("douse") == "House"
    assert words.nearest("cathedral") is None


@pytest.mark.parametrize("word", ["", "sch", "2011", "a2011", "school1"])
def test_what_is_short_or_has_digits_is_meant_as_it_is(word):
    assert FrequentWords(["2010", "school", "scho", "a2010"]).nearest(word) is None


def test_rare_words_are_not_considered(monkeypatch):
    monkeypatch.setattr("bilex.text.suggest.MAX_CANDIDATES", 2)
    words = FrequentWords(["house", "mouse", "school"])
    assert words.nearest("schol") is None
    assert words.nearest("hous") == "house"
