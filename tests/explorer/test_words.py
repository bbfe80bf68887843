import pytest

from bilex.explorer.words import WordIndex, fold

WORDS = ["the", "Élan", "elan", "elapse", "école", "Ecole", "ECOLES", "straße", "हिन्दी", "שָׁלוֹם", "z"]


@pytest.mark.parametrize(
    ("text", "folded"), [("Élan", "elan"), ("STRASSE", "strasse"), ("straße", "strasse"), ("İ", "i"), ("שָׁלוֹם", "שלום")]
)
def test_case_and_accents_are_folded(text, folded):
    assert fold(text) == folded


def test_letters_of_other_scripts_stay_apart():
    assert fold("कि") != fold("की")


@pytest.mark.parametrize("beginning", ["", "e", "E", "É", "ela", "ecole", "zz", "हि", "str", "\U0010ffff"])
@pytest.mark.parametrize("n", [1, 3, 50])
def test_as_looking_at_every_word(beginning, n):
    key = fold(beginning)
    fitting = [i for i, word in enumerate(WORDS) if fold(word).startswith(key)]
    expected = sorted(fitting, key=lambda i: (not (key and fold(WORDS[i]) == key), i))[:n]
    assert WordIndex(WORDS).complete(beginning, n) == expected


def test_no_words():
    assert WordIndex([]).complete("a", 3) == []


@pytest.mark.parametrize("text", ["e", "LA", "École", "ss", "שלום", "(", "zz", "\ud800"])
def test_words_with_a_text_in_them(text):
    words = [*WORDS, "a\ud800b", "(x)"]
    found = WordIndex(words).containing(text)
    assert found.tolist() == [fold(text).replace("\ud800", "?") in fold(word).replace("\ud800", "?") for word in words]


def test_no_words_with_a_text():
    assert WordIndex([]).containing("a").tolist() == []
