import dataclasses
import errno
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from bilex import Alignment, EmbeddingTable, align
from bilex.errors import AlignmentError
from bilex.fitting import fit as fitting
from bilex.fitting import inputs as inputs_module
from bilex.storage.lock import exclusive_lock
from bilex.training.checkpoint import CHECKPOINT


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def output(tmp_path):
    return tmp_path / "new"


def test_writes_a_run_and_says_so(bilex, inputs, output, world, alignment):
    result = bilex("align", *inputs, "--fast", "--output", output)
    assert (result.code, result.out) == (0, "")
    assert "procrustes: learnt from 80 of 80 pairs (80 source words) in" in result.err
    assert f"written to {output}" in result.err
    assert result.err.endswith(f"; next: bilex translate {output} WORD\n")
    opened = Alignment.load(output)
    assert opened.evaluate(world.test).scores == alignment.evaluate(world.test).scores
    assert opened.provenance["inputs"]["rng_seed"] == 0


@pytest.mark.parametrize("other", [["--method", "rapo"], ["--unsupervised"], ["--settings", "best.toml"]], ids=" ".join)
def test_fast_is_a_method_of_its_own(refused, inputs, output, tmp_path, monkeypatch, other):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "best.toml").write_text('method = "rapo"\n')
    assert "--fast chooses the method; leave out --fast" in refused(
        "align", *inputs, "--fast", *other, "--output", output, code=2
    )
    assert not output.exists()


def test_json(bilex, inputs, output):
    found = bilex("align", *inputs, "--fast", "--output", output, "--json").json
    assert (found["run"], found["method"]) == (str(output), "procrustes")
    assert found["train"]["pairs_covered"] == 80
    assert found["seconds"] >= 0


class TestProfile:
    """Where the time went."""

    def test_of_a_method_without_stages(self, bilex, inputs, output):
        result = bilex("align", *inputs, "--fast", "--output", output, "--profile")
        lines = result.err.splitlines()
        table = lines[lines.index(next(line for line in lines if line.startswith("part "))) :]
        names = ["part", "imports", "reading", "training", "evaluation", "second", "writing", "other", "total"]
        assert [line.split()[0] for line in table] == names
        assert table[-1].endswith("  100 %")
        assert lines[-len(table) - 1].endswith(f"next: bilex translate {output} WORD")

    def test_of_rapo_in_json(self, bilex, inputs, output):
        rapo = ["--method", "rapo", "--set", "epochs=2", "--set", "hard=8", "--set", "batch=16"]
        result = bilex("align", *inputs, *rapo, "--output", output, "--profile", "--json")
        found = result.json["profile"]
        records = Alignment.load(output).trace.records
        for part, name in (("steps", "train_seconds"), ("refreshes", "refresh_seconds")):
            assert found[part] == pytest.approx(sum(record.get(name, 0.0) for record in records))
        assert found["contexts"] == sum(record["seconds"] for record in records if record.get("stage") == "context")
        assert {"imports", "reading", "other_training", "evaluation", "writing", "other"} < found.keys()
        assert 2 * found["total"] == pytest.approx(sum(found.values()))
        assert "\nother training " in result.err

    def test_only_when_asked_for(self, bilex, inputs, output):
        result = bilex("align", *inputs, "--fast", "--output", output, "--json")
        assert "profile" not in result.json
        assert result.err.count("\n") <= 1


def test_settings_reach_the_method(bilex, inputs, output, files, world):
    more = ["--fast", "--set", "normalize=unit", "--max-words", 100, "--rng-seed", 7, "--fold-case", "--device", "cpu"]
    assert bilex("align", *inputs, *more, "--dev", files / "test.tsv", "--output", output).code == 0
    made = Alignment.load(output)
    inputs = made.provenance["inputs"]
    assert inputs["settings"]["normalize"] == ["unit"]
    assert (inputs["rng_seed"], inputs["fold_case"], inputs["source"]["words"]) == (7, True, 100)
    assert made.dev == world.test


def test_the_same_as_from_python(bilex, inputs, output, files):
    from bilex import EmbeddingTable, Lexicon

    bilex("align", *inputs, "--fast", "--output", output)
    tables = (EmbeddingTable.read(files / name) for name in ("x.vec", "z.vec"))
    made = align(*tables, Lexicon.read(files / "train.tsv"), method="procrustes")
    opened = Alignment.load(output)
    assert opened.induce() == made.induce()
    assert opened.provenance == json.loads(json.dumps(made.provenance))


def test_without_a_dictionary(bilex, refused, inputs, output):
    message = refused("align", *inputs[:2], "--method", "procrustes", "--output", output)
    assert "none was given: pass one as --train, or" in message
    assert "--identical, or --numerals" in message
    assert "no words in common" in refused("align", *inputs[:2], "--identical", "--output", output)
    assert "no numerals in common" in refused("align", *inputs, "--numerals", "--output", output)
    made = bilex("align", *inputs[:2], "--method", "vecmap_unsupervised", "--output", output)
    assert made.code == 0
    assert "vecmap_unsupervised: learnt without a dictionary in" in made.err
    assert len(Alignment.load(output).train) == 0


def test_unsupervised(bilex, refused, inputs, output):
    made = bilex("align", *inputs[:2], "--unsupervised", "--method", "vecmap", "--output", output, "--json")
    assert made.json["method"] == "vecmap_unsupervised"
    as_it_is = output.with_name("as-it-is")
    arguments = ("--unsupervised", "--method", "vecmap-unsupervised", "--output", as_it_is, "--json")
    assert bilex("align", *inputs[:2], *arguments).json["method"] == "vecmap_unsupervised"
    other = output.with_name("other")
    assert "leave out --train" in refused("align", *inputs, "--unsupervised", "--output", other, code=2)
    assert "no method 'procrustes_unsupervised'" in refused(
        "align", *inputs[:2], "--unsupervised", "--method", "procrustes", "--output", other
    )


def test_presets(bilex, refused, inputs, output, tmp_path):
    few = ["--set", "epochs=1", "--set", "warm_up=0"]
    assert bilex("align", *inputs, "--method", "rapo", "--preset", "authors", *few, "--output", output).code == 0
    settings = Alignment.load(output).provenance["inputs"]["settings"]
    assert (settings["start"], settings["hard"], settings["epochs"], settings["warm_up"]) == ("random", 128, 1, 0)
    message = refused("align", *inputs, "--method", "rapo", "--preset", "author", "--output", tmp_path / "b")
    assert "method rapo has no preset 'author' (did you mean 'authors'?)" in message
    message = refused("align", *inputs, "--fast", "--preset", "paper", "--output", tmp_path / "b")
    assert "method procrustes has no presets; leave out --preset" in message


def test_rounds(bilex, refused, inputs, output, tmp_path):
    assert bilex("align", *inputs, "--method", "self-learning", "--rounds", 2, "--output", output).code == 0
    made = Alignment.load(output)
    assert made.provenance["inputs"]["method"] == "self_learning"
    assert made.provenance["inputs"]["settings"]["rounds"] == 2
    assert "has no setting 'rounds'" in refused("align", *inputs, "--fast", "--rounds", 2, "--output", tmp_path / "b")


def test_few_pairs(bilex, inputs, output, tmp_path):
    (tmp_path / "few.tsv").write_text("".join(f"s{i}\tt{i}\n" for i in range(5)))
    few = ["align", *inputs[:2], "--train", tmp_path / "few.tsv"]
    result = bilex(*few, "--fast", "--output", output)
    assert result.code == 0
    assert "warning: 5 source words are too few to learn 12 dimensions well" in result.err
    semi = bilex(*few, "--method", "procrustes_refinement", "--output", tmp_path / "semi")
    assert "are too few to learn" not in semi.err


def test_an_order_that_is_not_that_of_frequency(bilex, tmp_path, output):
    words, rng = [f"w{i}" for i in range(2000)], np.random.default_rng(0)
    (tmp_path / "d.tsv").write_text("".join(f"{word}\t{word}\n" for word in words[:50]))
    for name, order in (("a", words), ("b", sorted(words))):
        EmbeddingTable(order, rng.normal(size=(2000, 5)).astype(np.float32)).write(tmp_path / f"{name}.vec")
    files = [tmp_path / "a.vec", tmp_path / "b.vec", "--train", tmp_path / "d.tsv", "--output", output]
    more = ["--method", "self-learning", "--rounds", 1, "--set", "induction.max_rank=1500"]
    said = bilex("align", *files, *more).err
    assert f"warning: {tmp_path / 'b.vec'} is in alphabetical order, and self_learning looks at the first 1,500" in said
    assert "a.vec is" not in said
    assert "a.vec does" not in said
    assert "warning" not in bilex("align", *files[:-1], output.with_name("other"), "--fast").err


def test_what_was_repaired_in_a_table_is_said(bilex, inputs, output, tmp_path):
    text = inputs[0].read_text().replace("s5 ", "s4 ", 1)
    (tmp_path / "bad.vec").write_text(text)
    result = bilex("align", tmp_path / "bad.vec", *inputs[1:], "--fast", "--output", output)
    assert result.code == 0
    assert "bad.vec: 1 line left out" in result.err


class TestDefault:
    """Without --method."""

    @pytest.fixture
    def seen(self, monkeypatch):
        """What would have been fitted."""
        found = []

        def stop(inputs, **_):
            found.append(inputs)
            raise AlignmentError("enough")

        monkeypatch.setattr("bilex.fitting.fit.fit", stop)
        return found

    def said(self, bilex, *args):
        return bilex("align", *args).err

    def test_a_small_dictionary(self, bilex, inputs, output, seen):
        said = self.said(bilex, *inputs, "--output", output)
        assert seen[0].method.name == "rapo_semi"
        why = "the dictionary has 80 source words with vectors, fewer than 1,500"
        assert re.search(rf"^method rapo_semi, because {why}: (a few|about \d+) seconds on \d+ thread", said)

    def test_a_dictionary(self, bilex, inputs, output, seen, monkeypatch):
        monkeypatch.setattr("bilex.methods.rapo.rapo_semi.RapoSemi.is_small", lambda *_: False)
        said = self.said(bilex, *inputs, "--output", output)
        assert seen[0].method.name == "rapo"
        assert said.startswith("method rapo, because the dictionary has 80 source words with vectors: ")

    def test_none(self, bilex, inputs, output, seen):
        for more in ([], ["--unsupervised"]):
            said = self.said(bilex, *inputs[:2], *more, "--output", output)
            assert seen[-1].method.name == "rapo_unsupervised"
            assert said.startswith("method rapo_unsupervised, because there is no dictionary: ") is not bool(more)

    def test_words_spelt_alike(self, bilex, inputs, output, seen, tmp_path):
        text = inputs[1].read_text()
        (tmp_path / "z.vec").write_text(text.replace("\nt", "\ns"))
        tables = [inputs[0], tmp_path / "z.vec"]
        said = self.said(bilex, *tables, "--identical", "--output", output)
        assert said.startswith("method rapo_semi, because words spelt alike are the only dictionary: ")
        said = self.said(bilex, *tables, "--identical", "--fast", "--output", output)
        assert said.startswith("method procrustes, because --fast was given: a few seconds on ")

    def test_settings_go_to_the_method_that_is_chosen(self, bilex, refused, inputs, output, seen, monkeypatch):
        bilex("align", *inputs, "--set", "base.epochs=3", "--output", output)
        assert seen[0].method.base.epochs == 3
        monkeypatch.setattr("bilex.table.EmbeddingTable.read", lambda *_, **__: pytest.fail("read a table"))
        message = refused("align", *inputs, "--set", "epoch=3", "--output", output)
        assert "method rapo has no setting 'epoch' (did you mean 'epochs'?)" in message

    @pytest.mark.parametrize("more", [["--method", "rapo"], ["--unsupervised"], ["--settings", "best.toml"]], ids=str)
    def test_fast_names_a_method(self, refused, inputs, output, more):
        assert "--fast chooses the method; leave out --fast" in refused(
            "align", *inputs, "--fast", *more, "--output", output, code=2
        )

    def test_in_one_letter_case_or_another(self, refused, inputs, output):
        message = refused("align", *inputs, "--method", "RAPO", "--output", output)
        assert "there is no method 'RAPO' (did you mean 'rapo'?)" in message

    def test_why_and_how_long_in_json(self, bilex, inputs, output):
        found = bilex("align", *inputs, "--fast", "--output", output, "--json").json
        assert (found["why"], found["agreement"]) == ("--fast was given", None)
        assert found["expected_seconds"] > 0
        assert found["held_out"] == dataclasses.asdict(Alignment.load(output).held_out)
        assert found["held_out"]["way"] == "second fit"


class TestTheSameNumbers:
    """One thing has one number, whatever command says it."""

    @pytest.fixture
    def dictionary(self, inputs, tmp_path):
        """Of its 100 pairs 80 have vectors; a word is there twice."""
        lines = [*inputs[3].read_text().splitlines(), *(f"a{i}\tb{i}" for i in range(19)), "s1\tnowhere"]
        (tmp_path / "dictionary.tsv").write_text("\n".join(lines))
        return tmp_path / "dictionary.tsv"

    def test_learnt_from_is_all_that_has_vectors_held_out_or_not(self, bilex, inputs, dictionary, output):
        args = [*inputs[:2], "--train", dictionary, "--method", "rapo", "--set", "epochs=1", "--set", "start=random"]
        said = bilex("align", *args, "--output", output).err
        assert "rapo: learnt from 80 of 100 pairs (80 source words, 8 of them held out at first) in" in said
        assert "On 8 held-out dictionary words the first translation was right for" in said
        fast = bilex("align", *inputs[:2], "--train", dictionary, "--fast", "--output", output.with_name("fast")).err
        assert "procrustes: learnt from 80 of 100 pairs (80 source words) in" in fast
        shown = bilex("evaluate", output, dictionary)
        assert shown.err.startswith("warning: 80 of 80 covered source words were trained on or used for choices")
        assert "covered sources (80)" in shown.out
        assert "all sources (99)" in shown.out
        report = bilex("report", output, "--test", dictionary, "--no-plots").err
        assert "On 80 of 99 source words of the test dictionary" in report

    def test_held_out_is_what_evaluate_says(self, bilex, inputs, files, output):
        said = bilex("align", *inputs, "--fast", "--dev", files / "test.tsv", "--output", output).err
        scores = bilex("evaluate", output, files / "test.tsv", "--json").json
        shares = f"for {scores['p_at_1']:.1f} % (P@1), and one of the first five for {scores['p_at_5']:.1f} % (P@5)"
        assert f"On 80 words of the dev dictionary the first translation is right {shares}; next: " in said

    def test_words_that_differ_in_letter_case_count_alike(self, bilex, inputs, output, tmp_path):
        """`S1` and `s1` are two source words of one row."""
        text = inputs[3].read_text()
        (tmp_path / "both.tsv").write_text(text + text.upper())
        args = [*inputs[:2], "--train", tmp_path / "both.tsv", "--fold-case"]
        said = bilex("align", *args, "--fast", "--output", output).err
        assert "(160 source words)" in said
        assert "train" in bilex("align", *args, "--fast", "--output", output, "--force", "--json").json

    def test_inspect_counts_the_words_that_are_aligned(self, bilex, inputs, output):
        bilex("align", *inputs, "--fast", "--output", output)
        rows = bilex("inspect", inputs[0], "--json").json
        assert 160 in rows.values()
        assert "of 160 words" in bilex("translate", output, "nowhere").err


class TestForce:
    def test_replaces_a_run_once_the_new_one_is_complete(self, bilex, refused, run, inputs):
        message = refused("align", *inputs, "--fast", "--output", run)
        assert f"{run} exists already and is left as it is: choose another name, or replace it with --force" in message
        assert bilex("align", *inputs, "--method", "cca", "--output", run, "--force").code == 0
        assert Alignment.load(run).provenance["inputs"]["method"] == "cca"
        assert [path.name for path in run.parent.iterdir()] == ["run"]

    def test_a_failure_leaves_the_old_one(self, bilex, run, inputs, monkeypatch):
        before = contents(run)
        monkeypatch.setattr("bilex.fitting.fit.fit", lambda *_, **__: interrupt())
        assert bilex("align", *inputs, "--fast", "--output", run, "--force").code == 130
        assert contents(run) == before

    def test_what_would_be_lost_is_left_before_any_work(self, refused, run, inputs, monkeypatch):
        (run / "notes.txt").write_text("mine")
        monkeypatch.setattr("bilex.table.EmbeddingTable.read", lambda *_, **__: pytest.fail("read a table"))
        assert "files that are not of bilex (notes.txt)" in refused("align", *inputs, "--output", run, "--force")

    def test_with_resume_a_finished_run_of_the_same_is_left(self, bilex, run, inputs):
        before = contents(run)
        assert "nothing to do" in bilex("align", *inputs, "--fast", "--output", run, "--resume", "--force").err
        assert contents(run) == before
        other = ["--method", "cca", "--output", run, "--resume", "--force"]
        assert bilex("align", *inputs, *other).code == 0
        assert Alignment.load(run).provenance["inputs"]["method"] == "cca"


def test_a_dictionary_with_capitals_gets_advice(bilex, inputs, output, tmp_path):
    lines = inputs[3].read_text().splitlines()
    (tmp_path / "half.tsv").write_text("\n".join([*lines[:40], *(line.upper() for line in lines[40:])]))
    args = ["align", *inputs[:2], "--train", tmp_path / "half.tsv", "--fast", "--output", output]
    advice = "warning: 40 of 80 pairs of the dictionary are in both tables as they are spelt; 80 are if letter case is"
    assert f"{advice} ignored: use --fold-case\n" in bilex(*args).err
    folded = bilex(*args, "--fold-case", "--force").err
    assert "warning" not in folded
    assert "learnt from 80 of 80 pairs" in folded


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of other systems")
def test_a_table_in_a_pipe_is_refused_with_a_reason(refused, inputs, output):
    """As `<(zcat en.vec.gz)` is; it is not the disk that is wrong."""
    reading, writing = os.pipe()
    try:
        message = refused("align", f"/dev/fd/{reading}", *inputs[1:], "--output", output)
    finally:
        os.close(reading)
        os.close(writing)
    assert "this is a pipe, and a table cannot be read from it; write the table to a file" in message


REFUSED = [
    pytest.param(["--method", "procrustse"], 1, "did you mean 'procrustes'?", id="unknown method"),
    pytest.param(["--set", "normalise=unit"], 1, "did you mean 'normalize'?", id="unknown setting"),
    pytest.param(["--set", "normalize=whiten"], 1, "no step 'whiten'", id="bad setting"),
    pytest.param(["--set", "normalize"], 2, "needed KEY=VALUE", id="no value"),
    pytest.param(["--set", "=3"], 2, "needed KEY=VALUE", id="no key"),
    pytest.param(["--max-words", "0"], 2, "--max-words", id="no words"),
    pytest.param(["--rng-seed", "x"], 2, "--rng-seed", id="no number"),
    pytest.param(["--device", "abacus"], 1, "device 'abacus' cannot be used here", id="device"),
    pytest.param(["--dev", "absent.tsv"], 1, "absent.tsv: cannot be read", id="no dev file"),
    pytest.param(["--train", "absent.tsv"], 1, "absent.tsv: cannot be read", id="no train file"),
]


@pytest.mark.parametrize(("more", "code", "message"), REFUSED)
def test_mistakes(refused, inputs, output, tmp_path, monkeypatch, more, code, message):
    monkeypatch.chdir(tmp_path)
    assert message in refused("align", *inputs, *more, "--output", output, code=code)
    assert list(tmp_path.iterdir()) == []


def test_mistakes_in_the_files(refused, inputs, output, files, tmp_path):
    assert "no such file" in refused("align", "absent.vec", *inputs[1:], "--output", output)
    assert "pass one as --train" in refused("align", *inputs[:2], "--fast", "--output", output)
    assert "seems to run from target to source" in refused(
        "align", inputs[1], inputs[0], *inputs[2:], "--output", output
    )
    (tmp_path / "short.vec").write_text("t0 1 2\nt1 3 4\n")
    message = refused("align", inputs[0], tmp_path / "short.vec", *inputs[2:], "--output", output)
    assert "12 dimensions and the target vectors 2" in message
    message = refused("align", *inputs, "--dev", files / "train.tsv", "--output", output)
    assert "80 source words are in both the train and the dev dictionary" in message
    assert not output.exists()


def test_no_output_is_wrong_usage(refused, inputs):
    assert "--output" in refused("align", *inputs, code=2)


def test_an_output_that_exists_is_refused_before_any_work(refused, run, inputs, monkeypatch):
    before = contents(run)
    monkeypatch.setattr("bilex.table.EmbeddingTable.read", lambda *_, **__: pytest.fail("read a table"))
    assert "exists already and is left as it is" in refused("align", *inputs, "--output", run)
    assert contents(run) == before


class TestCorrections:
    @pytest.fixture
    def decided(self, run, world):
        from bilex.run.corrections import Corrections

        corrections = Corrections(run / "corrections.sqlite")
        corrections.decide(*world.train.pairs[0], "rejected")
        corrections.decide("s100", "t1", "corrected", target=["t2", "new word"])
        corrections.close()
        return run

    def test_learns_from_them_in_one_step(self, bilex, inputs, decided, output, world):
        result = bilex("align", *inputs, "--corrections", decided, "--fast", "--output", output, "--json")
        said = f"with the decisions in {decided / 'corrections.sqlite'}: 0 accepted, 1 rejected, 1 corrected\n"
        assert said in result.err
        assert result.json["corrections"]["corrected"] == 1
        expected = [*world.train.pairs[1:], ("s100", "t2"), ("s100", "new word")]
        assert list(Alignment.load(output).train) == expected
        exported = bilex("explore", decided, "--export", "-", "--with-train").out
        assert exported.splitlines() == ["\t".join(pair) for pair in expected], "the way of two steps leads there too"

    def test_with_the_dictionary_of_the_run(self, bilex, inputs, decided, output, world):
        result = bilex("align", *inputs[:2], "--corrections", decided, "--fast", "--output", output)
        assert f"; the dictionary is that of {decided} (80 pairs)\n" in result.err
        assert len(Alignment.load(output).train) == 81

    def test_a_run_is_resumed_if_they_are_the_same(self, bilex, refused, inputs, decided, output, tmp_path):
        from bilex.run.corrections import Corrections

        file = (decided / "corrections.sqlite").rename(tmp_path / "mine.sqlite")
        args = ["align", *inputs, "--fast", "--output", output, "--resume"]
        assert bilex(*args, "--corrections", file).code == 0
        file = file.rename(tmp_path / "moved.sqlite")
        assert "is finished already" in bilex(*args, "--corrections", file).err
        assert "was made with another --train, --corrections;" in refused(*args)
        corrections = Corrections(file)
        corrections.decide("s3", "t150", "rejected")
        corrections.close()
        assert "was made with another --corrections;" in refused(*args, "--corrections", file)

    def test_refused(self, refused, inputs, run, output, tmp_path):
        assert "there are no corrections yet" in refused("align", *inputs, "--corrections", run, "--output", output)
        absent = tmp_path / "absent"
        assert "there are no corrections yet" in refused("align", *inputs, "--corrections", absent, "--output", output)
        message = refused("align", *inputs[:2], "--unsupervised", "--corrections", run, "--output", output, code=2)
        assert "leave out --train and --corrections" in message
        assert not output.exists()

    def test_runs_of_earlier_versions_know_nothing_of_them(self, bilex, inputs, run):
        file = run / "alignment.json"
        told = json.loads(file.read_text())
        del told["inputs"]["corrections"], told["spelt_alike"]
        file.write_text(json.dumps(told))
        assert "is finished already" in bilex("align", *inputs, "--fast", "--output", run, "--resume").err


class TestResume:
    def test_a_finished_run_is_left_as_it_is(self, bilex, run, inputs):
        before = contents(run)
        result = bilex("align", *inputs, "--fast", "--output", run, "--resume")
        assert (result.code, result.out) == (0, "")
        assert f"{run} is finished already; nothing to do" in result.err
        assert contents(run) == before

    def test_where_the_files_lie_does_not_matter(self, bilex, run, inputs, tmp_path):
        moved = (tmp_path / "moved.vec").write_bytes(inputs[0].read_bytes()) and tmp_path / "moved.vec"
        assert bilex("align", moved, *inputs[1:], "--fast", "--output", run, "--resume").code == 0

    @pytest.mark.parametrize(
        ("more", "what"),
        [
            (["--set", "normalize=unit"], "--set"),
            (["--rng-seed", "1"], "--rng-seed"),
            (["--max-words", "100"], "SOURCE, TARGET"),
            (["--fold-case"], "--fold-case"),
        ],
    )
    def test_another_run_is_refused(self, refused, run, inputs, more, what):
        before = contents(run)
        message = refused("align", *inputs, *more, "--fast", "--output", run, "--resume")
        assert f"was made with another {what}; choose another folder" in message
        assert contents(run) == before

    def test_other_files_are_noticed(self, refused, run, inputs, files):
        message = refused("align", *inputs[:2], "--fast", "--train", files / "test.tsv", "--output", run, "--resume")
        assert "was made with another --train" in message

    def test_a_folder_that_is_no_run(self, refused, tmp_path, inputs):
        assert "this is no run folder" in refused("align", *inputs, "--output", tmp_path, "--resume")

    def test_nothing_there_yet(self, bilex, inputs, output):
        assert bilex("align", *inputs, "--fast", "--output", output, "--resume").code == 0
        assert (output / "alignment.json").is_file()

    def test_json_is_printed_for_a_finished_run_too(self, bilex, run, inputs):
        assert bilex("align", *inputs, "--fast", "--output", run, "--resume", "--json").json["run"] == str(run)


class PowerCutError(Exception):
    """Ends a run between two epochs."""


@pytest.fixture
def interrupted(inputs, output, monkeypatch):
    """A run of RAPO that was killed in its fifth record or in the one asked for; its arguments, and RUN.partial."""

    def make(number=5):
        from bilex.cli import main

        settings = ("epochs=3", "hard=8", "start=random", "learning_rate=0.03", "batch=16")
        args = [*inputs, "--method", "rapo", *(f"--set={setting}" for setting in settings), "--output", output]
        heard = []

        def stop(record):
            heard.append(record)
            if len(heard) == number:
                raise PowerCutError

        with monkeypatch.context() as patched:
            patched.setattr("bilex.cli.training.Training.hear", lambda _, record: stop(record))
            with pytest.raises(PowerCutError):
                main(["align", *map(str, args)])
        return args, output.with_name("new.partial")

    return make


class TestResumeInterrupted:
    @pytest.mark.parametrize("number", [4, 6, 7, 9])
    def test_is_the_same_as_uninterrupted(self, bilex, interrupted, tmp_path, output, number):
        args, partial = interrupted(number)
        assert sorted(path.name for path in partial.iterdir()) == ["checkpoint.safetensors", "inputs.json"]
        assert not output.exists()
        result = bilex("align", *args, "--resume")
        assert result.code == 0
        assert f"continuing from {partial}" in result.err
        assert [path.name for path in tmp_path.iterdir()] == ["new"]
        assert bilex("align", *args[:-1], tmp_path / "whole").code == 0
        for name in ("mapping.safetensors", "train.tsv", "dev.tsv"):
            assert (output / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
        epochs = [
            [(record["stage"], record.get("epoch")) for record in Alignment.load(run).trace.records]
            for run in (output, tmp_path / "whole")
        ]
        assert epochs[0] == epochs[1]

    @pytest.mark.parametrize("rng_seed", range(3))
    def test_killed_outright_at_a_random_moment(self, bilex, inputs, tmp_path, output, rng_seed):
        """No handler runs, nothing is tidied up; a moment after the end counts too."""
        settings = ("epochs=20", "patience=20", "hard=8", "start=random", "learning_rate=0.003", "batch=16")
        args = [*inputs, "--method", "rapo", *(f"--set={setting}" for setting in settings), "--output", output]
        command = [sys.executable, "-m", "bilex", "align", *map(str, args)]
        checkpoint, delay = output.with_name("new.partial") / "checkpoint.safetensors", random.Random(rng_seed).random()
        environment = {**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())}
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment) as process:
            while not checkpoint.exists() and process.poll() is None:
                time.sleep(0.01)
            time.sleep(delay)
            process.kill()
        assert bilex("align", *args, "--resume").code == 0
        assert bilex("align", *args[:-1], tmp_path / "whole").code == 0
        mappings = [(run / "mapping.safetensors").read_bytes() for run in (output, tmp_path / "whole")]
        assert mappings[0] == mappings[1]

    def test_without_resume_is_refused_before_any_work(self, refused, interrupted, monkeypatch):
        args, partial = interrupted()
        before = contents(partial)
        monkeypatch.setattr("bilex.table.EmbeddingTable.read", lambda *_, **__: pytest.fail("read a table"))
        assert f"{partial} is from a run that was interrupted; continue it with --resume" in refused("align", *args)
        assert contents(partial) == before

    def test_other_inputs_are_refused(self, refused, interrupted):
        args, partial = interrupted()
        before = contents(partial)
        message = refused("align", *args, "--rng-seed", 5, "--resume")
        assert f"{partial} was made with another --rng-seed" in message
        assert contents(partial) == before

    def test_damaged_beginnings_are_refused(self, bilex, refused, interrupted):
        args, partial = interrupted()
        (partial / "checkpoint.safetensors").write_bytes(b"half a file")
        result = bilex("align", *args, "--resume")
        assert result.code == 1
        assert f"remove {partial} and align again" in result.err
        (partial / "inputs.json").write_text("half")
        assert f"remove {partial} and align again" in refused("align", *args, "--resume")

    def test_before_the_first_checkpoint_nothing_is_left(self, interrupted, tmp_path):
        interrupted(1)
        assert list(tmp_path.iterdir()) == []


class TestInterruption:
    """By Ctrl-C or by a signal: everything is tidied up, and what goes on is said as a command."""

    @pytest.fixture
    def stop_at(self, monkeypatch):
        """Have a run of RAPO interrupted in its record of that number."""

        def make(number, stop):
            heard = []

            def say(record):
                heard.append(record)
                if len(heard) == number:
                    stop()

            monkeypatch.setattr("bilex.cli.training.Training.hear", lambda _, record: say(record))

        return make

    @pytest.fixture
    def args(self, inputs, output):
        settings = ("epochs=3", "hard=8", "start=random", "learning_rate=0.03", "batch=16")
        return [*inputs, "--method", "rapo", *(f"--set={setting}" for setting in settings), "--output", output]

    def test_the_command_that_goes_on_is_said(self, bilex, args, output, stop_at, monkeypatch, tmp_path):
        stop_at(5, interrupt)
        result = bilex("align", *args)
        command = shlex.join(["bilex", "align", *map(str, args), "--resume"])
        assert result.code == 130
        assert result.err.endswith(f"bilex: interrupted; to continue from epoch 2, run\n  {command}\n")
        assert sorted(path.name for path in output.with_name("new.partial").iterdir()) == [CHECKPOINT, "inputs.json"]
        again = bilex(*shlex.split(command)[1:])
        assert again.code == 0
        assert [path.name for path in tmp_path.iterdir()] == ["new"]

    def test_resume_is_not_said_twice(self, bilex, args, stop_at):
        stop_at(5, interrupt)
        bilex("align", *args)
        stop_at(1, interrupt)
        result = bilex("align", *args, "--resume")
        assert result.err.count("--resume") == 1
        assert "to continue from epoch 2, run" in result.err

    @pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
    @pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
    def test_a_signal_is_an_orderly_end(self, bilex, args, output, stop_at, name, code):
        number = getattr(signal, name)
        before = signal.signal(number, signal.SIG_DFL)  # nohup ignores one of them
        stop_at(5, lambda: os.kill(os.getpid(), number))
        result = bilex("align", *args)
        assert signal.signal(number, before) is signal.SIG_DFL
        assert result.code == code
        assert f"bilex: ended by {name}; to continue from epoch 2, run\n  bilex align" in result.err
        assert sorted(path.name for path in output.with_name("new.partial").iterdir()) == [CHECKPOINT, "inputs.json"]

    @pytest.mark.parametrize("during", ["fitting.fit.fit", "storage.files.sync", "run.folder.save"])
    def test_without_a_checkpoint_nothing_is_left(self, bilex, inputs, output, tmp_path, monkeypatch, during):
        monkeypatch.setattr(f"bilex.{during}", lambda *_, **__: interrupt())
        result = bilex("align", *inputs, "--method", "procrustes", "--output", output)
        assert (result.code, list(tmp_path.iterdir())) == (130, [])
        assert result.err.endswith("bilex: interrupted; no checkpoint was saved\n")

    @pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
    def test_a_signal_that_is_ignored_stays_so(self, bilex, inputs, output, monkeypatch):
        """As by nohup."""
        fit = fitting.fit

        def signalled(*args, **more):
            os.kill(os.getpid(), signal.SIGHUP)
            return fit(*args, **more)

        monkeypatch.setattr("bilex.fitting.fit.fit", signalled)
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            assert bilex("align", *inputs, "--method", "procrustes", "--output", output).code == 0
        finally:
            signal.signal(signal.SIGHUP, before)


def interrupt():
    raise KeyboardInterrupt


class TestOneAtATime:
    @pytest.mark.parametrize("resume", [[], ["--resume"]])
    def test_another_process_is_noticed_before_any_work(self, refused, inputs, output, monkeypatch, resume):
        monkeypatch.setattr("bilex.table.EmbeddingTable.read", lambda *_, **__: pytest.fail("read a table"))
        partial = output.with_name("new.partial")
        with exclusive_lock(partial / ".lock"):
            before = contents(partial)
            message = refused("align", *inputs, "--method", "procrustes", "--output", output, *resume)
            assert contents(partial) == before
        assert f"{partial}: process {os.getpid()} on " in message
        assert "is using this folder; wait for it, or choose another folder" in message

    def test_one_that_came_while_the_tables_were_read_is_noticed(self, refused, inputs, output, monkeypatch):
        with ExitStack() as stack:
            doubts = inputs_module.Inputs.doubts

            def meanwhile(self):
                stack.enter_context(exclusive_lock(output.with_name("new.partial") / ".lock"))
                return doubts(self)

            monkeypatch.setattr("bilex.fitting.inputs.Inputs.doubts", meanwhile)
            monkeypatch.setattr("bilex.fitting.fit.fit", lambda *_, **__: pytest.fail("worked"))
            assert "is using this folder" in refused("align", *inputs, "--method", "procrustes", "--output", output)

    def test_one_that_ended_while_the_tables_were_read_is_noticed(self, refused, inputs, output, monkeypatch):
        monkeypatch.setattr("bilex.fitting.inputs.Inputs.doubts", lambda _: output.mkdir() or [])
        monkeypatch.setattr("bilex.fitting.fit.fit", lambda *_, **__: pytest.fail("worked"))
        assert "exists already" in refused("align", *inputs, "--method", "procrustes", "--output", output)
        assert [path.name for path in output.parent.iterdir()] == ["new"]

    def test_the_first_of_two_processes_wins(self, inputs, output, tmp_path):
        args = [*inputs, "--method", "procrustes", "--output", output]
        command = [sys.executable, "-m", "bilex", "align", *map(str, args)]
        both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        errors = [process.communicate()[1] for process in both]
        assert sorted(process.returncode for process in both) == [0, 1]
        (refusal,) = (error for process, error in zip(both, errors, strict=True) if process.returncode)
        assert "is using this folder" in refusal or "exists already" in refusal
        assert [path.name for path in tmp_path.iterdir()] == ["new"]
        assert Alignment.load(output).mapping

    def test_what_was_killed_before_its_first_checkpoint_is_begun_again(self, bilex, inputs, output, tmp_path):
        partial = output.with_name("new.partial")
        partial.mkdir()
        for name in ("inputs.json", ".lock", ".checkpoint.safetensors.0123456789abcdef.tmp"):
            (partial / name).write_text("half")
        assert bilex("align", *inputs, "--method", "procrustes", "--output", output).code == 0
        assert [path.name for path in tmp_path.iterdir()] == ["new"]


class TestRoom:
    def disk(self, monkeypatch, free):
        monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))

    def test_what_does_not_fit_is_not_begun(self, refused, inputs, output, tmp_path, monkeypatch):
        self.disk(monkeypatch, 15_000)
        monkeypatch.setattr("bilex.fitting.fit.fit", lambda *_, **__: pytest.fail("worked"))
        message = refused("align", *inputs, "--method", "procrustes", "--output", output)
        assert f"{output}: the run will take 0.02 MB, and 0.01 MB are free there; free some space" in message
        assert list(tmp_path.iterdir()) == []

    def test_what_may_not_fit_is_said(self, bilex, inputs, output, monkeypatch):
        self.disk(monkeypatch, 30_000)
        said = bilex("align", *inputs, "--method", "procrustes", "--output", output).err
        assert f"warning: {output} will take 0.02 MB, and its checkpoints up to 0.03 MB more during training" in said

    def test_a_checkpoint_that_cannot_be_written_does_not_end_the_training(
        self, bilex, inputs, output, tmp_path, monkeypatch
    ):
        @contextmanager
        def full(path):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
            yield

        monkeypatch.setattr("bilex.storage.array_file.atomic_write", full)
        settings = ("epochs=3", "hard=8", "start=random", "batch=16")
        args = [*inputs, "--method", "rapo", *(f"--set={setting}" for setting in settings), "--output", output]
        result = bilex("align", *args)
        assert result.code == 0
        assert result.err.count("warning: ") == 1
        assert "new.partial/checkpoint.safetensors: No space left on device; free some space there" in result.err
        assert [path.name for path in tmp_path.iterdir()] == ["new"]
