import csv
import sys
from dataclasses import replace

import pytest

from bilex import Alignment
from bilex.settings.file import read_settings
from bilex.tune.trial import run_trial


@pytest.fixture
def output(tmp_path):
    return tmp_path / "new"


@pytest.fixture
def args(inputs, files, output):
    """The arguments of a short search."""
    return [*inputs, "--dev", files / "test.tsv", "--method", "ridge", "--trials", 4, "--output", output]


def trials(folder):
    """All that does not depend on the clock."""
    with (folder / "trials.csv").open(newline="") as file:
        return [{name: text for name, text in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def test_writes_a_folder_and_says_so(bilex, args, output):
    result = bilex("tune", *args)
    assert result.code == 0
    assert sorted(path.name for path in output.iterdir()) == [
        "best.toml", "history.svg", "inputs.json", "study.journal", "trials.csv",
    ]  # fmt: skip
    assert "trial 0: dev MRR " in result.err
    assert f"next: bilex align SOURCE TARGET --train DICT --settings {output / 'best.toml'} --output RUN" in result.err
    assert "the defaults" in result.out
    assert "dev P@1" in result.out
    assert [row["state"] for row in trials(output)] == ["done"] * 4
    assert trials(output)[0]["penalty"] == "100"


@pytest.mark.parametrize("best", [0, 2])
def test_the_best_trial_is_shown_beside_the_defaults(bilex, args, monkeypatch, best):
    """Trial 0 is that of the defaults."""

    def good_or_bad(inputs, task, **more):
        rank = 1 if task.number == best else 4
        return replace(run_trial(inputs, task, **more), mrr=1 / rank, p_at_1=50.0 / rank, ranks=(rank,) * 80)

    monkeypatch.setattr("bilex.tune.search.run_trial", good_or_bad)
    shown = bilex("tune", *args).out.splitlines()
    assert ("the defaults" in shown[0], "best trial: 2" in shown[0]) == (True, best == 2)
    assert [line.split()[2:] for line in shown[-2:]] == (
        [["1.0000"], ["50.0"]] if best == 0 else [["0.2500", "1.0000"], ["12.5", "50.0"]]
    )


def test_json(bilex, args, output):
    found = bilex("tune", *args, "--json").json
    assert (found["method"], found["objective"], found["dev_words"]) == ("ridge", "dev_mrr", 80)
    assert found["settings"] == read_settings(output / "best.toml").settings
    assert found["trials"]["all"] == 4


def test_what_was_found_can_be_aligned_with(bilex, refused, args, inputs, output, tmp_path):
    bilex("tune", *args, "--set", "normalize=unit")
    run, best = tmp_path / "run", output / "best.toml"
    assert bilex("align", *inputs, "--settings", best, "--output", run).code == 0
    made = Alignment.load(run).provenance["inputs"]
    assert made["method"] == "ridge"
    assert made["settings"]["penalty"] == float(read_settings(best).settings["penalty"])
    assert made["settings"]["normalize"] == ["unit"]
    more = ["--settings", best, "--method", "ridge", "--set", "penalty=7", "--output", tmp_path / "other"]
    assert bilex("align", *inputs, *more).code == 0
    assert Alignment.load(tmp_path / "other").provenance["inputs"]["settings"]["penalty"] == 7
    more = ["--settings", best, "--output", tmp_path / "third"]
    message = refused("align", *inputs, *more, "--method", "cca", code=2)
    assert "is for method ridge; leave out --method cca, or --settings" in message
    assert "leave out --unsupervised" in refused("align", *inputs[:2], *more, "--unsupervised", code=2)
    best.write_text("method")
    assert "needed a file as written by bilex tune" in refused("align", *inputs, *more)


def test_the_space_of_the_paper(bilex, inputs, output):
    few = ["--set", "epochs=1", "--set", "lambda_1=1", "--search", "random", "--trials", 2]
    result = bilex("tune", *inputs, "--space", "paper", *few, "--output", output)
    assert result.code == 0
    first, second = (line.split(": ")[1] for line in result.err.splitlines() if line.startswith("trial "))
    assert "hard=128 random=128 activation=tanh learning_rate=0.0015" in result.err
    assert "lambda_2=" in result.err
    assert first != second
    chosen = read_settings(output / "best.toml")
    assert (chosen.settings["preset"], chosen.settings["epochs"]) == ("paper", "1")


def test_dev_is_held_out_of_train(bilex, inputs, output):
    found = bilex("tune", *inputs, "--method", "ridge", "--trials", 1, "--output", output, "--json").json
    assert found["dev_words"] == 8
    assert found["defaults_stand"]


def test_half_an_hour_by_default(bilex, args, monkeypatch):
    budgets = []
    monkeypatch.setattr("bilex.cli.tune._search", lambda inputs, space, budget, *_, **__: budgets.append(budget))
    for more in ([], ["--minutes", 5], ["--trials", 3], ["--minutes", 5, "--trials", 3]):
        kept = [arg for i, arg in enumerate(args) if "--trials" not in (arg, args[i - 1])]
        assert bilex("tune", *kept, *more).code == 0
    assert [(budget.minutes, budget.trials) for budget in budgets] == [(30, None), (5, None), (None, 3), (5, 3)]


def test_trials_side_by_side(bilex, args, output, tmp_path, monkeypatch):
    def run(trial, folder, live=None):
        return run_trial(trial.packed.read(), trial.task, device=trial.device)

    monkeypatch.setattr("bilex.tune.trial_process.TrialProcess.run", run)
    result = bilex("tune", *args, "--jobs", 3)
    assert result.code == 0
    assert "running 3 trials in parallel" in result.err
    assert not (output / "partial").exists()
    assert bilex("tune", *args[:-1], tmp_path / "other").code == 0
    assert trials(output) == trials(tmp_path / "other"), "the first eight are drawn at random, in batches or not"


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--jobs", 0], 2, "--jobs"),
        (["--threads", 0], 2, "--threads"),
        (["--method", "procrustes"], 1, "has no settings to search"),
        (["--method", "ridgee"], 1, "did you mean 'ridge'?"),
        (["--set", "penalty=3"], 1, "are fixed; leave one out, or align with them"),
        (["--set", "penalty"], 2, "needed KEY=VALUE"),
        (["--trials", 0], 2, "--trials"),
        (["--minutes", -1], 2, "--minutes"),
        (["--search", "grid"], 2, "--search"),
        (["--space", "paper"], 1, "method ridge has no search space 'paper'; leave the name of the space out"),
        (["--method", "rapo", "--preset", "papr"], 1, "no preset 'papr' (did you mean 'paper'?)"),
        (["--train", "absent.tsv"], 1, "absent.tsv: cannot be read"),
    ],
)
def test_mistakes(refused, args, tmp_path, more, code, message):
    assert message in refused("tune", *args, *more, code=code)
    assert list(tmp_path.iterdir()) == []


def test_defaults_that_fail_leave_nothing(bilex, args, tmp_path):
    result = bilex("tune", *args, "--method", "rapo", "--set", "epochs=1", "--set", "start=instamap")
    assert result.code == 1
    assert "there is nothing to compare with: rapo: start=instamap is not a linear method" in result.err
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_exists_is_refused_before_any_work(refused, args, output, monkeypatch):
    output.mkdir()
    monkeypatch.setattr("bilex.table.EmbeddingTable.read", lambda *_, **__: pytest.fail("read a table"))
    assert f"{output} exists already; continue it with --resume" in refused("tune", *args)


def test_without_the_extras(bilex, refused, args, output, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "optuna", None)
        patched.setattr("bilex.table.EmbeddingTable.read", lambda *_, **__: pytest.fail("read a table"))
        assert "pip install 'bilex[tune]'" in refused("tune", *args)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "ray", None)
        patched.setattr("bilex.table.EmbeddingTable.read", lambda *_, **__: pytest.fail("read a table"))
        assert "pip install 'bilex[cluster]'" in refused("tune", *args, "--cluster", "local")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = bilex("tune", *args)
    assert result.code == 0
    assert "no plots were drawn: drawing needs the package matplotlib" in result.err
    assert not (output / "history.svg").exists()


class TestResume:
    @pytest.fixture
    def interrupted(self, bilex, args, monkeypatch):
        """A search that is interrupted in its third trial."""

        def stop(inputs, task, **more):
            if task.number == 2:
                raise KeyboardInterrupt
            return run_trial(inputs, task, **more)

        with monkeypatch.context() as patched:
            patched.setattr("bilex.tune.search.run_trial", stop)
            result = bilex("tune", *args)
        assert result.code == 130
        assert "interrupted" in result.err
        return args

    def test_what_is_done_is_kept(self, interrupted, output):
        assert len(trials(output)) == 2
        assert read_settings(output / "best.toml").method == "ridge"

    def test_ends_like_one_that_was_not_interrupted(self, bilex, interrupted, output, tmp_path):
        result = bilex("tune", *interrupted, "--resume")
        assert result.code == 0
        assert f"continuing from {output} with 2 trials" in result.err
        assert bilex("tune", *interrupted[:-1], tmp_path / "whole").code == 0
        assert trials(output) == trials(tmp_path / "whole")
        for name in ("best.toml", "history.svg"):
            assert (output / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()

    def test_a_finished_search_can_go_on(self, bilex, interrupted, output):
        bilex("tune", *interrupted, "--resume")
        before = trials(output)
        assert bilex("tune", *interrupted, "--resume").code == 0
        assert trials(output) == before
        assert bilex("tune", *interrupted, "--trials", 6, "--resume").code == 0
        assert (len(trials(output)), trials(output)[:4]) == (6, before)

    @pytest.mark.parametrize(
        ("more", "what"),
        [
            (["--rng-seed", 1], "--rng-seed"),
            (["--search", "random"], "--search"),
            (["--set", "normalize=unit"], "--set"),
            (["--method", "rcsls"], "--method, --set, search space"),
            (["--max-words", 100], "SOURCE, TARGET"),
        ],
    )
    def test_other_inputs_are_refused(self, refused, interrupted, output, more, what):
        before = (output / "study.journal").read_bytes()
        assert f"{output} was made with another {what};" in refused("tune", *interrupted, *more, "--resume")
        assert (output / "study.journal").read_bytes() == before

    def test_damage_is_refused(self, refused, interrupted, output):
        (output / "study.journal").write_text("half a file\n" * 3)
        assert f"remove {output} and search again" in refused("tune", *interrupted, "--resume")
        (output / "inputs.json").write_text("half")
        assert f"remove {output} and search again" in refused("tune", *interrupted, "--resume")

    def test_nothing_there_yet(self, bilex, args, output):
        assert bilex("tune", *args, "--resume").code == 0
        assert (output / "best.toml").is_file()

    def test_a_folder_that_is_no_search(self, refused, args, tmp_path):
        assert "this is not a search folder" in refused("tune", *args[:-1], tmp_path, "--resume")
