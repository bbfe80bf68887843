"""Commands on runs with a second stage."""

import json

import pytest


@pytest.fixture(scope="module")
def folder(alike, tmp_path_factory):
    folder = tmp_path_factory.mktemp("alike")
    alike.source.write(folder / "x.vec")
    alike.target.write(folder / "z.vec")
    alike.train.write(folder / "train.tsv")
    alike.test.write(folder / "test.tsv")
    return folder


@pytest.fixture(scope="module")
def second(reranked, folder):
    reranked.save(folder / "run")
    return folder / "run"


@pytest.fixture
def align(bilex, folder, tmp_path):
    tables = (folder / "x.vec", folder / "z.vec", "--train", folder / "train.tsv", "--method", "procrustes")
    return lambda *more: bilex("align", *tables, "--output", tmp_path / "run", *more)


def test_align_says_what_it_brings(align):
    result = align()
    assert "second stage: on 400 words that were held out in turn, the first translation is right for" in result.err
    assert "with all signals" in result.err


def test_align_json(align):
    found = align("--json").json["second_stage"]
    assert found["p_at_1"] > found["vectors_only"] + 10
    assert found["words"] == 400


def test_align_vectors_only(align, tmp_path):
    result = align("--vectors-only", "--json")
    assert result.json["second_stage"] is None
    assert json.loads((tmp_path / "run" / "alignment.json").read_text("utf-8"))["second_stage"] is None


def test_translate(bilex, second, alike):
    word = alike.test.sources[0]
    line = bilex("translate", second, word, "-n", 2).out
    assert line.count(" %") == 3
    assert "\tone of these " in line
    assert "one of these" not in bilex("translate", second, word, "-n", 1).out
    assert " %" not in bilex("translate", second, word, "--vectors-only").out
    found = bilex("translate", second, word, "--json").json
    assert all(set(candidate) == {"word", "score", "confidence"} for candidate in found["candidates"])
    assert max(candidate["confidence"] for candidate in found["candidates"]) <= found["any_right"] <= 1
    found = bilex("translate", second, word, "--json", "--retrieval", "nn").json
    assert all(set(candidate) == {"word", "score"} for candidate in found["candidates"])
    assert "any_right" not in found


def test_induce(bilex, second, tmp_path):
    result = bilex("induce", second, "--output", tmp_path / "l.tsv", "--no-given", "--min-confidence", 0.9)
    lines = (tmp_path / "l.tsv").read_text("utf-8").splitlines()
    assert lines[0].endswith("\torigin\tconfidence\tany_right")
    probabilities = [tuple(map(float, line.split("\t")[-2:])) for line in lines[1:]]
    assert all(0.9 <= confidence <= any_right <= 1 for confidence, any_right in probabilities)
    assert "% of the found ones are expected to be right" in result.err
    result = bilex("induce", second, "--output", tmp_path / "m.tsv", "--no-given", "--expected-precision", 0.95)
    assert f"{len((tmp_path / 'm.tsv').read_text('utf-8').splitlines()) - 1} pairs" in result.err


def test_induce_needs_it(refused, run, tmp_path):
    message = refused("induce", run, "--output", tmp_path / "l.tsv", "--min-confidence", 0.9)
    assert "--min-confidence and --expected-precision need probabilities" in message


def test_evaluate(bilex, second, folder):
    result = bilex("evaluate", second, folder / "test.tsv")
    assert "by the vectors alone, covered" in result.out
    assert "expected calibration error" in result.out
    found = bilex("evaluate", second, folder / "test.tsv", "--json").json
    alone = bilex("evaluate", second, folder / "test.tsv", "--json", "--vectors-only").json
    assert found["vectors_only"]["p_at_1"] == alone["p_at_1"] < found["p_at_1"]
