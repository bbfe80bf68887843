from pathlib import Path

import pytest

import bilex.sample
from bilex import Alignment, Lexicon

pytestmark = pytest.mark.skipif(
    not (Path(bilex.sample.__file__).parent / "data").is_dir(), reason="the sample's data are not there yet"
)


@pytest.fixture
def small(monkeypatch):
    """The head of the sample, so that the demo takes a moment only."""
    load = bilex.sample.load

    def load_less(pair):
        sample = load(pair)
        return bilex.sample.Sample(
            sample.source.head(700), sample.target.head(700), sample.train, sample.dev, sample.test
        )

    monkeypatch.setattr(bilex.sample, "load", load_less)


@pytest.mark.usefixtures("small")
def test_json(bilex, tmp_path):
    result = bilex("demo", "--output", tmp_path / "demo", "--json")
    assert (result.code, result.err) == (0, "")
    for pair in result.json["pairs"]:
        assert [score["method"] for score in pair["scores"]] == ["procrustes", "vecmap", "rcsls", "rapo"]
        assert all(score["train_overlap"] == 0 for score in pair["scores"])
        # The head has fewer pairs than dimensions: of the methods only Procrustes is made for that.
        assert next(score["p_at_1"] for score in pair["scores"] if score["method"] == "procrustes") > 20
        assert len(Lexicon.read(pair["lexicon"])) == pair["lexicon_pairs"] > 50
        assert Alignment.load(pair["run"]).translate(["school"])[0].candidates
    assert [pair["pair"] for pair in result.json["pairs"]] == ["en-fr", "en-fi"]


def test_on_the_whole_sample_for_people(bilex, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = bilex("demo")
    assert (result.code, result.err) == (0, "")
    for part in ("en-fr: 5,700 and 5,700 words", "en-fi", "P@1", "école", "koulu", "lexicon:", "bilex align"):
        assert part in result.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo-output"]


@pytest.mark.usefixtures("small")
def test_again_replaces_its_own_run_and_nothing_else(bilex, tmp_path):
    for _ in range(2):
        assert bilex("demo", "--output", tmp_path).code == 0
        (tmp_path / "mine.txt").write_text("mine")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".made-by-bilex-demo",
        "en-fi",
        "en-fi.tsv",
        "en-fr",
        "en-fr.tsv",
        "mine.txt",
    ]


@pytest.mark.usefixtures("small")
def test_a_folder_that_is_no_run_is_left_as_it_is(refused, tmp_path):
    (tmp_path / "en-fr").mkdir()
    (tmp_path / "en-fr" / "thesis.txt").write_text("mine")
    assert "exists already and was not made by bilex demo" in refused("demo", "--output", tmp_path, "--json")
    assert (tmp_path / "en-fr" / "thesis.txt").read_text() == "mine"


@pytest.mark.usefixtures("small")
def test_somebody_elses_run_and_dictionary_are_left_as_they_are(bilex, run, tmp_path):
    """A run called en-fr that `bilex align` made, and a dictionary en-fr.tsv, are not the demo's to replace."""
    run.rename(tmp_path / "en-fr")
    (tmp_path / "en-fr.tsv").write_text("mine\tmien\n")
    before = (tmp_path / "en-fr" / "alignment.json").read_bytes()
    bilex("demo", "--output", tmp_path)
    assert (tmp_path / "en-fr" / "alignment.json").read_bytes() == before
    assert (tmp_path / "en-fr.tsv").read_text() == "mine\tmien\n"
