import numpy as np
import pytest
import torch

from bilex.rerank.features import Features
from bilex.rerank.signals import SIGNALS
from bilex.rerank.signals.neighbours import TEMPERATURE, K

EVERY = pytest.mark.parametrize("name", SIGNALS)
LISTS = {2: [1, 2, 4], 3: [3, 0, 5], 4: [4, 0, 7], 8: [8, 9, 10], 9: [11, 8, 9]}


@pytest.fixture
def columns(evidence, make_candidates):
    def measure(name, lists=LISTS):
        return SIGNALS[name].fit(evidence)(make_candidates(evidence, lists))

    return measure


@EVERY
def test_columns_are_numbers_of_each_candidate(columns, name):
    found = columns(name)
    assert found
    for values in found.values():
        assert values.shape == (5, 3)
        assert np.isfinite(values).all()


@EVERY
def test_a_word_has_the_same_alone_and_among_others(columns, name):
    together = columns(name)
    for place, (word, targets) in enumerate(LISTS.items()):
        alone = columns(name, {word: targets})
        for column, values in together.items():
            np.testing.assert_allclose(alone[column][0], values[place], rtol=1e-5, atol=1e-6)


@EVERY
def test_a_dictionary_of_one_pair_is_enough(make_evidence, make_candidates, name):
    evidence = make_evidence(pairs=[(0, 0)])
    found = SIGNALS[name].fit(evidence)(make_candidates(evidence, LISTS))
    assert all(np.isfinite(values).all() for values in found.values())


@EVERY
def test_has_a_name_and_a_summary(name):
    assert SIGNALS[name].name == name
    assert SIGNALS[name].summary


def test_features_stack_all_columns(evidence, make_candidates):
    features = Features.fit([SIGNALS["csls"], SIGNALS["case"]], evidence)
    names, values = features.stacked(make_candidates(evidence, LISTS))
    assert names[:4] == ("csls.score", "csls.margin", "csls.lead", "csls.rank")
    assert "case.capital" in names
    assert values.shape == (5, 3, len(names))


def test_csls(columns):
    found = columns("csls")
    assert found["margin"][0].tolist() == [0, -1, -2]
    assert found["lead"][0].tolist() == [1, 0, 0]


def test_frequency(columns):
    found = columns("frequency", {4: [4, 0, 7]})
    assert found["difference"][0, 0] == 0
    assert found["common"][0].argmax() == 1


def test_frequency_needs_its_order(make_evidence):
    words = sorted(f"word{i}" for i in range(3000))
    why = SIGNALS["frequency"].unsuitable(make_evidence(target=words, pairs=[(0, 0)]))
    assert why == "the target table is in alphabetical order"
    assert SIGNALS["frequency"].unsuitable(make_evidence()) is None


def test_identity_and_spelling(columns):
    assert columns("identity")["alike"].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    found = columns("spelling", {4: [4, 0, 7], 7: [7, 0, 5]})  # station: gare, nation, action
    assert found["edit"][0].argmax() == 1
    assert found["edit"][1, 0] == 1
    assert found["ngrams"][1, 0] == pytest.approx(1)
    assert found["beginning"][1].tolist() == [1, 0, 0]


def test_spelling_needs_one_script(make_evidence):
    evidence = make_evidence(target=["нация", "кот", "собака"], pairs=[(0, 0)])
    why = SIGNALS["spelling"].unsuitable(evidence)
    assert why == "the source words are in Latin, the target words in Cyrillic script"
    assert SIGNALS["transliteration"].unsuitable(evidence) is None


def test_transliteration_needs_an_alphabet(make_evidence):
    many = [chr(0x4E00 + i) for i in range(500)]
    evidence = make_evidence(target=many, pairs=[(0, j) for j in range(500)])
    assert "more than 400 letters" in SIGNALS["transliteration"].unsuitable(evidence)


def test_transliteration_learns_letters_of_two_scripts(make_evidence, make_candidates):
    rng = np.random.default_rng(0)
    latin, cyrillic = "abdgiklmnorstuv", "абдгиклмнорстув"
    source = ["".join(rng.choice(list(latin), 6)) for _ in range(300)]
    target = [word.translate(str.maketrans(latin, cyrillic)) for word in source]
    evidence = make_evidence(source=source, target=target, pairs=[(i, i) for i in range(200)])
    found = SIGNALS["transliteration"].fit(evidence)(make_candidates(evidence, {250: [250, 251, 252]}))
    assert found["odds"][0].argmax() == 0
    assert found["positive"][0, 1:].max() < found["odds"][0, 0]


def test_endings_that_belong_together(make_evidence, make_candidates):
    source = [f"{stem}ly" for stem in "abcdefgh"] + [f"{stem}er" for stem in "abcdefgh"]
    target = [f"{stem}ment" for stem in "abcdefgh"] + [f"{stem}eur" for stem in "abcdefgh"] + [f"{s}x" for s in "abc"]
    evidence = make_evidence(source=source, target=target, pairs=[(i, i) for i in range(16) if i % 8 < 6])
    found = SIGNALS["endings"].fit(evidence)(make_candidates(evidence, {6: [6, 14, 16], 14: [6, 14, 16]}))
    assert found["together"][0].argmax() == 0
    assert found["together"][1].argmax() == 1
    assert found["listed"][0, 2] < min(found["listed"][0, :2])  # -x is never listed


def test_inflection(columns):
    found = columns("inflection", {8: [9, 8, 10]})  # chiens, chien, le
    assert found["more_frequent"][0].tolist() == [1, 0, 0]
    assert found["forms"][0].tolist() == pytest.approx([np.log(2), np.log(2), 0])


def test_relatives(make_evidence, make_candidates):
    evidence = make_evidence()
    evidence.rows.source[2] = evidence.rows.source[1]  # walking is near walk, whose translation is marcher
    found = SIGNALS["relatives"].fit(evidence)(make_candidates(evidence, {2: [2, 5, 10], 1: [1, 2, 5]}))
    assert found["sum"][0].argmax() == 0
    assert found["sum"][0, 0] > 0.1
    assert found["sum"][1].tolist() == [0, 0, 0]  # the word itself is no relative


def test_neighbours_are_those_of_the_definition(make_evidence, make_candidates):
    evidence = make_evidence(pairs=[(i, i) for i in range(8)] + [(1, 9)])
    found = SIGNALS["neighbours"].fit(evidence)(make_candidates(evidence, LISTS))
    x, z = (rows.double() for rows in evidence.rows)
    for place, (word, targets) in enumerate(LISTS.items()):
        others = [i for i in range(8) if i != word][: K + 1]
        means = torch.stack([z[[1, 9]].mean(0) if i == 1 else z[i] for i in others])
        weights = torch.softmax(x[others] @ x[word] / TEMPERATURE, 0)
        corrected = x[word] + weights @ (means - x[others])
        corrected, translated = corrected / corrected.norm(), weights @ means
        expected = z[targets] @ corrected - z[targets] @ x[word]
        np.testing.assert_allclose(found["corrected"][place], expected, atol=1e-5)
        np.testing.assert_allclose(found["translated"][place], z[targets] @ translated / translated.norm(), atol=1e-5)


def test_dictionary_counts_other_words_only(columns):
    found = columns("dictionary", {8: [8, 9, 0], 0: [0, 8, 2]})
    assert found["listed"].tolist() == [[0, 0, 1], [0, 1, 0]]


def test_case(columns):
    found = columns("case", {3: [3, 0, 5], 9: [11, 8, 9], 6: [6, 0, 5]})
    assert found["capital"].tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert found["capital_alike"].tolist() == [[1, 0, 0], [1, 0, 0], [1, 1, 1]]
    assert found["also_small"].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert found["letters_alike"].tolist() == [[1, 1, 1], [1, 1, 1], [1, 0, 0]]
