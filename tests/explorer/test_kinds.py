import numpy as np
import pytest

from bilex.explorer.kinds import Kinds, is_word, script_of


@pytest.mark.parametrize("text", ["</s>", "<unk>", "<s/>", "1984", "3.14", "...", "—", "", "٣"])
def test_no_words(text):
    assert not is_word(text)


@pytest.mark.parametrize("text", ["a", "l'eau", "1er", "שלום", "水", "<3x", "New_York", "<img src=x>"])
def test_words(text):
    assert is_word(text)


@pytest.mark.parametrize(
    ("word", "script"),
    [
        ("été", "Latin"),
        ("мир", "Cyrillic"),
        ("שלום", "Hebrew"),
        ("水", "Han"),
        ("سلام", "Arabic"),
        ("1a", "Latin"),
        ("12", ""),
    ],
)
def test_script(word, script):
    assert script_of(word) == script


def test_columns():
    kinds = Kinds(["the", "Paris", "May", "may", "мир", "12", "Élan"])
    assert kinds.capitalized.tolist() == [False, True, False, False, False, False, True]
    assert kinds.nonword.tolist() == [False] * 5 + [True, False]
    assert kinds.scripts == ["Latin", "Cyrillic"]
    assert np.flatnonzero(kinds.in_script("Cyrillic")).tolist() == [4]
    assert not kinds.in_script("Greek").any()
    assert Kinds([]).scripts == []
