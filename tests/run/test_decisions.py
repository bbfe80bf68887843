"""An alignment learns from what was decided in `bilex explore`."""

import dataclasses

import pytest

from bilex import Alignment, Lexicon, align
from bilex.coverage import Lookup
from bilex.errors import AlignmentError, ExplorerError
from bilex.run.corrections import Corrections
from bilex.run.decisions import Decisions


@pytest.fixture
def made(world, tmp_path):
    alignment = align(world.source, world.target, world.train, method="procrustes", measured=False)
    alignment.save(tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def decided(made, world):
    """A run with a decision of each kind; the second and third are about pairs of its dictionary."""
    _, second, third = world.train.pairs[:3]
    corrections = Corrections(made / "corrections.sqlite")
    corrections.decide("s100", "t1", "accepted")
    corrections.decide(*second, "rejected")
    corrections.decide(*third, "corrected", target=["t2", "t9"])
    corrections.close()
    return made


def learnt(world, **more):
    return align(world.source, world.target, method="procrustes", measured=False, **more)


def test_added_and_taken_out(decided, world):
    _, second, third, *_ = world.train.pairs
    expected = [pair for pair in world.train if pair not in (second, third)]
    expected += [("s100", "t1"), (third[0], "t2"), (third[0], "t9")]
    for given in (decided, str(decided), decided / "corrections.sqlite", Decisions.read(decided)):
        made = learnt(world, train=world.train, corrections=given)
        assert list(made.train) == expected
        told = made.provenance["inputs"]["corrections"]
        assert told["file"] == str((decided / "corrections.sqlite").resolve())
        assert [told[kind] for kind in ("accepted", "rejected", "corrected")] == [1, 1, 1]
    assert {entry[:2] for entry in made.induce() if entry.origin == "given"} == set(expected)


def test_without_a_dictionary_that_of_the_run_is_taken(decided, world, tmp_path):
    made = learnt(world, corrections=decided)
    assert made.train.pairs == learnt(world, train=world.train, corrections=decided).train.pairs
    assert made.provenance["inputs"]["train"]["file"] == str((decided / "train.tsv").resolve())
    alone = (decided / "corrections.sqlite").rename(tmp_path / "mine.sqlite")
    assert set(learnt(world, corrections=alone).train) == {("s100", "t1"), ("s2", "t2"), ("s2", "t9")}


def test_held_out_words_of_the_run_are_of_its_dictionary(world, tmp_path):
    align(world.source, world.target, world.train, method="geomm", measured=False).save(tmp_path / "run")
    assert (tmp_path / "run" / "dev.tsv").exists()
    Corrections(tmp_path / "run" / "corrections.sqlite").close()
    made = learnt(world, corrections=tmp_path / "run")
    assert sorted(made.train) == sorted(world.train)


def test_a_dev_dictionary_of_its_own_is_no_dictionary_to_learn_from(world, tmp_path):
    align(world.source, world.target, world.train, dev=world.test, method="procrustes", measured=False).save(
        tmp_path / "run"
    )
    Corrections(tmp_path / "run" / "corrections.sqlite").close()
    assert learnt(world, corrections=tmp_path / "run").train.pairs == world.train.pairs


def test_a_decision_about_a_word_of_dev_changes_dev(decided, world):
    corrections = Corrections(decided / "corrections.sqlite")
    first, second = world.test.pairs[:2]
    corrections.decide(*first, "rejected")
    corrections.decide(second[0], "t0", "accepted")
    corrections.close()
    dev = Lexicon.from_pairs(pair for pair in world.test if pair[0] != "s100")
    made = learnt(world, train=world.train, dev=dev, corrections=decided)
    assert first not in made.dev
    assert (second[0], "t0") in made.dev
    assert ("s100", "t1") in made.train
    assert not made.train.shared_sources(made.dev)


def test_words_spelt_alike_that_were_rejected_are_not_learnt(world, tmp_path):
    target = dataclasses.replace(world.target, words=[f"s{i}" for i in range(160)])
    file = tmp_path / "mine.sqlite"
    corrections = Corrections(file)
    corrections.decide("s5", "s5", "rejected")
    corrections.decide("s6", "s9", "accepted")
    corrections.close()
    made = align(world.source, target, method="procrustes", spelling="identical", corrections=file, measured=False)
    assert ("s5", "s5") not in made.train
    assert ("s7", "s7") in made.train
    assert made.given.pairs == (("s6", "s9"),)


def test_folded_words_are_found_in_the_dictionary(decided, world):
    upper = Lexicon.from_pairs((source.upper(), target.upper()) for source, target in world.train)
    made = learnt(world, train=upper, corrections=decided, fold_case=True)
    second = world.train.pairs[1]
    assert (second[0].upper(), second[1].upper()) not in made.train


def test_nothing_to_learn_from(world, tmp_path):
    with pytest.raises(ExplorerError, match="there are no corrections yet"):
        learnt(world, corrections=tmp_path)
    file = tmp_path / "mine.sqlite"
    corrections = Corrections(file)
    corrections.decide("s5", "t5", "rejected")
    corrections.close()
    with pytest.raises(AlignmentError, match="no pair was accepted or corrected"):
        learnt(world, corrections=file)
    assert len(learnt(world, train=world.train, corrections=file).train) >= 79


def test_the_hash_is_of_what_was_decided(decided):
    before = Decisions.read(decided).describe()
    corrections = Corrections(decided / "corrections.sqlite")
    corrections.decide("s50", "t50", "rejected")
    changed = Decisions.read(decided).describe()
    corrections.undo()
    corrections.close()
    assert changed["sha256"] != before["sha256"]
    assert Decisions.read(decided).describe() == before, "what was taken back leaves no trace"


def test_a_saved_run_tells_of_them(decided, world, tmp_path):
    made = learnt(world, train=world.train, corrections=decided)
    made.save(tmp_path / "next")
    opened = Alignment.load(tmp_path / "next")
    assert opened.provenance["inputs"]["corrections"] == made.provenance["inputs"]["corrections"]
    assert opened.given.pairs == made.given.pairs


def test_an_unread_table_gives_no_spelling(world):
    assert Lookup(world.source, False).spelling("S1") == "S1"
    assert Lookup(world.source, True).spelling("S1") == "s1"
