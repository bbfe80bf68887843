"""What the dictionary gives comes first in the lexicon, and nothing else changes by it."""

import math
from dataclasses import replace

import pytest

from bilex import CSLS, Alignment, EmbeddingTable, InvertedSoftmax, Lexicon, Nearest, align
from bilex.run.given import given_entries, scored

RETRIEVALS = [CSLS(), CSLS(k=3), Nearest(), InvertedSoftmax()]
DIRECTIONS = ["forward", "backward"]


@pytest.fixture(scope="module")
def contrary(world):
    """A run whose dictionary says of some words what no vectors say, and has words without vectors."""
    wrong = [("s5", "t150"), ("s5", "t151"), ("s7", "no vector"), ("no vector", "t3")]
    train = Lexicon.from_pairs([*world.train, *wrong])
    return align(world.source, world.target, train, method="procrustes", measured=False)


def of(entries, source):
    return [(entry.target, entry.rank, entry.origin) for entry in entries if entry.source == source]


def test_the_dictionary_is_not_overruled(contrary, world):
    entries = contrary.induce()
    right = world.train.targets_of()["s5"]
    assert of(entries, "s5") == [
        (target, rank, "given") for rank, target in enumerate([*right, "t150", "t151"], 1)
    ]  # fmt: skip
    assert ("t150", 1, "found") not in of(contrary.induce(given=False), "s5")
    assert [entry.source for entry in entries if entry.rank == 1] == [*world.source.words, "no vector"]
    assert {(e.source, e.target) for e in entries if e.origin == "given"} == set(contrary.train)
    without = [entry for entry in entries if math.isnan(entry.score)]
    assert [(entry.source, entry.target) for entry in without] == [("s7", "no vector"), ("no vector", "t3")]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=repr)
def test_a_given_pair_has_the_score_that_a_search_tells(contrary, retrieval, direction):
    every = contrary.induce(n=160, given=False, retrieval=retrieval, direction=direction)
    told = {(entry.source, entry.target): entry.score for entry in every}
    given = scored(contrary, given_entries(contrary, direction=direction), retrieval=retrieval, direction=direction)
    vectors = [entry for entry in given if "no vector" not in entry[:2]]
    assert len(vectors) == len(given) - 2
    assert [entry.score for entry in vectors] == [told[entry[:2]] for entry in vectors], "to the bit"


@pytest.mark.parametrize("source", ["s5", "s7", "s140", "t150", "t3"])
def test_found_ones_come_after_given_ones(contrary, source):
    direction = "forward" if source.startswith("s") else "backward"
    listed = of(contrary.induce(n=4, direction=direction), source)
    given = [target for target, _, origin in listed if origin == "given"]
    found = [target for target, *_ in of(contrary.induce(n=4, direction=direction, given=False), source)]
    expected = [*given, *(target for target in found if target not in given)]
    assert [target for target, *_ in listed] == expected[: max(4, len(given))]


def test_backward_given_ones_are_ordered_by_their_scores(world):
    several = [("s1", "t7"), ("s2", "t7"), ("no vector", "t7"), ("s3", "t7"), ("s4", "t7")]
    made = align(world.source, world.target, [*world.train, *several], method="procrustes", measured=False)
    entries = [entry for entry in made.induce(direction="backward") if entry.source == "t7"]
    assert {"s1", "s2", "s3", "s4", "no vector"} <= {entry.target for entry in entries}
    assert entries[-1].target == "no vector"
    scores = [entry.score for entry in entries[:-1]]
    assert scores == sorted(scores, reverse=True)


def test_mutual_cuts_only_what_was_found(contrary):
    entries = contrary.induce(mutual=True)
    plain = {entry[:2] for entry in contrary.induce(mutual=True, given=False)}
    assert {entry[:2] for entry in entries if entry.origin == "found"} <= plain
    assert {entry[:2] for entry in entries if entry.origin == "given"} == set(contrary.train)
    given = {source for source, _ in contrary.train}
    assert {entry[:2] for entry in entries if entry.origin == "found"} == {p for p in plain if p[0] not in given}


def test_max_rank_leaves_sources_out_also_if_they_were_given(contrary):
    entries = contrary.induce(max_rank=6)
    assert {entry.source for entry in entries} == {f"s{i}" for i in range(6)}
    assert ("t151", 3, "given") in of(entries, "s5"), "whatever the rank of the target"
    backward = contrary.induce(max_rank=6, direction="backward")
    assert {entry.source for entry in backward} == {f"t{i}" for i in range(6)}


def test_evaluation_is_of_the_vectors_alone(contrary, world):
    bare = replace(contrary, train=Lexicon.from_pairs([]), _indexes={})
    test = Lexicon.from_pairs([*world.test, *world.train])
    assert contrary.evaluate(test).scores == bare.evaluate(test).scores
    assert contrary.translate(world.source.words, 3) == bare.translate(world.source.words, 3)
    assert contrary.induce(given=False) == bare.induce()


def test_dev_words_are_given_too(world):
    pairs = world.train.pairs
    held_out = align(world.source, world.target, world.train, method="geomm", measured=False)
    assert held_out.dev is not None
    assert set(held_out.given) == set(pairs)
    apart = align(
        world.source, world.target, pairs[:60], dev=Lexicon.from_pairs(pairs[60:]), method="procrustes", measured=False
    )
    assert apart.given.pairs == pairs
    assert {entry[:2] for entry in apart.induce() if entry.origin == "given"} == set(pairs)


def test_folded_words_are_those_of_the_table(world):
    upper = Lexicon.from_pairs((source.upper(), target.upper()) for source, target in world.train)
    made = align(world.source, world.target, upper, method="procrustes", fold_case=True, measured=False)
    assert {entry[:2] for entry in made.induce() if entry.origin == "given"} == set(world.train)


@pytest.fixture
def spelt(world):
    """Two tables some words of which are spelt alike."""
    words = [f"name{i}" if i % 4 == 0 else word for i, word in enumerate(world.target.words)]
    target = EmbeddingTable(words, world.target.rows)
    source = EmbeddingTable(
        [f"name{i}" if i % 4 == 0 else w for i, w in enumerate(world.source.words)], world.source.rows
    )
    return source, target


@pytest.mark.parametrize("method", ["procrustes", "geomm"])
def test_words_spelt_alike_are_not_given(spelt, method, tmp_path):
    source, target = spelt
    mine = Lexicon.from_pairs([("name0", "name0"), ("name4", "t5"), ("name4", "name4"), ("s1", "t1")])
    made = align(source, target, mine, spelling="identical", method=method, measured=False)
    assert len(made.train) + len(made.dev or ()) > 35
    assert set(made.given) == set(mine), "one's own pair is given, spelt alike or not"
    made.save(tmp_path / "run")
    opened = Alignment.load(tmp_path / "run")
    assert set(opened.given) == set(mine)
    assert set(made.provenance["spelt_alike"]) == {"train", "dev"}
    # Runs of earlier versions do not tell which pairs came in so.
    earlier = replace(made, provenance={k: v for k, v in made.provenance.items() if k != "spelt_alike"})
    assert set(earlier.given) == set(mine) - {("name0", "name0")}


def test_nothing_is_given_without_a_dictionary(world):
    made = align(world.source, world.target, method="vecmap_unsupervised", measured=False)
    assert made.given.pairs == ()
    assert {entry.origin for entry in made.induce()} == {"found"}
    assert made.induce() == made.induce(given=False)
