"""Commands on runs with a second stage."""

import json
from contextlib import closing

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


def test_an_interrupted_second_stage_is_resumed(bilex, folder, tmp_path, monkeypatch):
    from bilex.methods.procrustes import Procrustes

    output, original, fitted = tmp_path / "run", Procrustes.fit, []
    partial = tmp_path / "run.partial"
    args = (folder / "x.vec", folder / "z.vec", "--train", folder / "train.tsv", "--method", "procrustes")
    bilex("align", *args, "--output", tmp_path / "whole")

    def fit(self, x, z, pairs, **more):
        fitted.append(pairs)
        if len(fitted) == 4:  # the mapping, that for the held-out figures, and those of two folds
            raise KeyboardInterrupt
        return original(self, x, z, pairs, **more)

    monkeypatch.setattr(Procrustes, "fit", fit)
    result = bilex("align", *args, "--output", output)
    assert result.code == 130
    assert "--resume" in result.err
    assert sorted(path.name for path in partial.glob("*.safetensors")) == ["fold-0.safetensors"]
    assert "continue it with --resume" in bilex("align", *args, "--output", output).err
    assert bilex("align", *args, "--output", output, "--resume").code == 0
    assert not partial.exists()
    assert len(fitted) == 4 + 2 + 2
    for name in ("reranker.safetensors", "cross-fitted.safetensors"):
        assert (output / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


class TestLearn:
    @pytest.fixture
    def decided(self, reranked, alike, tmp_path):
        from bilex.run.corrections import Corrections

        reranked.save(tmp_path / "learning")
        with closing(Corrections(tmp_path / "learning" / "corrections.sqlite")) as corrections:
            for source, target in list(alike.test)[:40]:
                corrections.decide(source, target, "accepted")
        return tmp_path / "learning"

    def test_learns_and_takes_back(self, bilex, decided, alike):
        words = alike.test.sources[50:]
        before = bilex("translate", decided, *words).out
        result = bilex("explore", decided, "--learn", "--json")
        assert result.json == {"run": str(decided), "learnt_from": 40}
        assert "learnt from 40 decided entries; to take it back: bilex explore" in result.err
        assert bilex("translate", decided, *words).out != before
        assert "taken back" in bilex("explore", decided, "--unlearn").err
        assert bilex("translate", decided, *words).out == before
        assert "nothing to take back" in bilex("explore", decided, "--unlearn").err

    def test_decisions_of_another_file(self, bilex, decided, second, tmp_path):
        (decided / "corrections.sqlite").rename(tmp_path / "d.sqlite")
        result = bilex("explore", decided, "--corrections", tmp_path / "d.sqlite", "--learn", "--json")
        assert result.json["learnt_from"] == 40

    def test_mistakes(self, refused, second, decided):
        assert "there are no corrections yet" in refused("explore", second, "--learn")
        assert "--learn and --unlearn" in refused("explore", decided, "--learn", "--unlearn", code=2)
