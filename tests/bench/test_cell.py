import json
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from bilex import align, get_method
from bilex.bench.cell import run_task
from bilex.bench.process import run_process
from bilex.bench.results import write_cell
from bilex.bench.task import Task
from bilex.errors import AlignmentError, BilexError, LexiconError
from bilex.parallel.process import Live
from bilex.storage.files import sha256
from bilex.training.checkpoint import CHECKPOINT, Checkpoint
from bilex.training.trace import Trace

PROCRUSTES = '[[systems]]\nmethod = "procrustes"\n'
SETTINGS = {"start": "procrustes", "epochs": "3", "hard": "8", "random": "8"}
GIVEN = ", ".join(f'{key} = "{value}"' for key, value in SETTINGS.items())
RAPO = f'[[systems]]\nmethod = "rapo"\nsettings = {{ {GIVEN} }}\n'
SHORT = """
title = "Small"

[directions.s-t]
source = { file = "x.safetensors", max_words = 120 }
target = { file = "z.vec", max_words = 85 }
train = { file = "train.tsv" }
test = { file = "test.tsv" }
"""
ENDLESS = RAPO.replace('"3"', '"1000000", patience = "1000000"')


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "cell"
    place.mkdir()
    return place


def test_a_cell_is_an_alignment_evaluated(make_task, folder, world):
    cell = run_task(make_task(PROCRUSTES), folder)
    expected = align(world.source, world.target, world.train, method="procrustes").evaluate(world.test)
    assert (cell.status, cell.error) == ("done", None)
    assert cell.scores["p_at_1"] == pytest.approx(expected.scores.p_at_1)
    assert list(cell.ranks) == list(expected.ranks.values())
    assert [world.source.words[row] for row in cell.rows] == list(expected.ranks)
    assert cell.peak_gigabytes > 0
    assert cell.seconds > 0
    assert (cell.suite, cell.system, cell.direction, cell.threads) == ("small", "procrustes", "s-t", 1)


def test_all_lines_of_a_dictionary_of_muse_count(make_task, folder, world, tmp_path):
    """Also where its file lies under another name, as on a machine of a cluster."""
    lines = "".join(f"{source} {target}\n" for source, target in world.test)
    (tmp_path / "en-fr.5000-6500.txt").write_text(f"#a #b\n{lines}")
    task = make_task(PROCRUSTES, directions=SHORT.replace("test.tsv", "en-fr.5000-6500.txt"))
    assert run_task(task, folder).scores["sources"] == len(world.test.sources) + 1
    elsewhere = tmp_path / "0123abcd"
    task.test.path.rename(elsewhere)
    there = task.with_files({side: ready.path for side, ready in task.files().items()} | {"test": elsewhere})
    assert run_task(Task.from_json(there.to_json()), folder).scores["sources"] == len(world.test.sources) + 1


def test_a_result_has_no_words_of_dictionaries_and_no_paths(make_task, folder, tmp_path):
    """Though words are missing from the tables, of which the coverage of an alignment names some."""
    cell = run_task(make_task(RAPO + 'protocol = "paper"\n', directions=SHORT), folder)
    text = json.dumps(cell.to_json())
    assert str(tmp_path) not in text
    assert not any(f'"{side}{i}"' in text for side in "st" for i in range(160))
    assert cell.provenance["inputs"]["train"]["file"] == "train.tsv"
    for side in ("train", "dev"):
        coverage = cell.provenance[f"{side}_coverage"]
        missing = {name: found for name, found in coverage.items() if name.startswith("missing_")}
        assert sum(found["pairs"] for found in missing.values()) > 0
        assert all(set(found) == {"pairs"} for found in missing.values())


def test_an_error_names_files_as_the_suite_does(make_task, folder, tmp_path):
    task = make_task(PROCRUSTES)
    task.test.path.write_text("")
    cell = run_task(replace(task, test=replace(task.test, sha256=sha256(task.test.path))), folder)
    assert cell.status == "error"
    assert cell.error.startswith("test.tsv: ")
    assert str(tmp_path) not in cell.error


def test_the_paper_protocol_chooses_on_test_and_does_not_train_on_it(make_task, folder):
    cell = run_task(make_task(RAPO + 'protocol = "paper"\n'), folder)
    assert cell.protocol == "paper"
    assert cell.system == "rapo, paper protocol"
    assert cell.scores["train_overlap"] == cell.scores["covered"]
    assert cell.provenance["inputs"]["settings"]["refit"] is False
    assert {record["stage"] for record in cell.trace} <= {"choose", "context", "shift", "start"}


def test_few_pairs(make_task, folder):
    cell = run_task(make_task(PROCRUSTES + "pairs = [20]\n"), folder)
    assert (cell.pairs, cell.system) == (20, "procrustes, 20 pairs")
    assert cell.provenance["train_coverage"]["pairs_covered"] == 20


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (AlignmentError("did not converge"), "failed", "did not converge"),
        (LexiconError("no pairs"), "error", "no pairs"),
        (RuntimeError("odd"), "error", "RuntimeError: odd"),
        (MemoryError(), "error", "MemoryError"),
    ],
)
def test_what_goes_wrong_is_a_result_too(make_task, folder, monkeypatch, capsys, error, status, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("bilex.fitting.fit.align", fail)
    cell = run_task(make_task(PROCRUSTES), folder)
    assert (cell.status, cell.error, cell.scores, cell.ranks) == (status, message, None, ())
    assert ("Traceback" in capsys.readouterr().err) == (not isinstance(error, BilexError)), "bugs go into the log"


def test_a_checkpoint_that_is_of_no_use_is_dropped(make_task, folder):
    (folder / CHECKPOINT).write_bytes(b"")
    cell = run_task(make_task(RAPO), folder)
    assert cell.status == "error"
    assert "cannot be read" in cell.error
    assert run_task(make_task(RAPO), folder).status == "done"


def test_a_file_that_has_changed_is_an_error(make_task, folder, world, tmp_path):
    task = make_task(PROCRUSTES)
    world.test.write(tmp_path / "train.tsv")
    cell = run_task(task, folder)
    assert (cell.status, cell.error) == (
        "error",
        "train.tsv: the file has changed since the run began; run the suite again",
    )


def test_a_cell_goes_on_from_its_checkpoint(make_task, folder, tmp_path, world):
    task = make_task(RAPO)
    (tmp_path / "whole").mkdir()
    whole = run_task(task, tmp_path / "whole")

    def stop(record):
        if record.get("epoch") == 2:
            raise KeyboardInterrupt

    method = get_method("rapo", SETTINGS)
    target = world.target.read(task.target.path)
    with pytest.raises(KeyboardInterrupt):
        align(world.source, target, world.train, method=method, trace=Trace(stop), checkpoint=Checkpoint(folder))
    resumed = run_task(task, folder)
    assert resumed.ranks == whole.ranks
    assert resumed.seconds is None
    assert [record["epoch"] for record in resumed.trace if "epoch" in record] == [
        record["epoch"] for record in whole.trace if "epoch" in record
    ]


def test_a_task_is_a_line_of_json(make_task):
    task = make_task(RAPO)
    assert Task.from_json(task.to_json()) == task
    assert "\n" not in task.to_json()


def test_the_key_tells_what_decides(make_task):
    def key(systems, **more):
        return make_task(systems, **more).key

    base = key(RAPO)
    assert base == key(RAPO.replace("[[systems]]", '[[systems]]\nlabel = "x"').replace("}", ', k = "10" }'))
    assert len({base, key(RAPO + "pairs = [50]\n"), key(RAPO + "rng_seeds = [1]\n"), key(ENDLESS)}) == 4
    assert key(RAPO.replace("}", ', refit = "false" }')) != key(RAPO + 'protocol = "paper"\n')


def test_a_setting_that_has_been_renamed_has_the_key_of_before(make_task):
    systems = (
        '[[systems]]\nmethod = "self_learning"\ndirections = ["s-t"]\nsettings = {{ "induction.{}" = "margin" }}\n'
    )
    task = make_task(systems.format("confidence"))
    with pytest.warns(FutureWarning, match="the setting sure is now called confidence"):
        assert make_task(systems.format("sure")).key == task.key
    assert make_task(systems.replace("margin", "mean_margin").format("confidence")).key != task.key


def test_a_process_of_its_own_gives_the_same(make_task, folder):
    task = make_task(PROCRUSTES)
    (folder / "stale").mkdir()
    ran = run_process(task, folder)
    assert ran.ranks == run_task(task, folder).ranks
    assert ran.threads == ran.provenance["made_with"]["threads"] == 1
    assert not (folder / "stale").exists(), "it had no key, so it was of no use"


def test_a_cell_goes_on_from_its_own_checkpoint_alone(make_task, folder, monkeypatch):
    """What another cell has left under the same name is thrown away; so is an old result."""
    seen = []

    def end_at_once(module, line, folder, **_):
        seen.append(sorted(path.name for path in folder.iterdir()))
        return "ended"

    monkeypatch.setattr("bilex.bench.process.run_module", end_at_once)
    task, other = make_task(RAPO), make_task(RAPO + "rng_seeds = [1]\n")
    run_process(task, folder)
    (folder / CHECKPOINT).touch()
    write_cell(folder / "result.json", task.result("done", None))
    again = run_process(task, folder)
    assert (again.status, again.error) == ("error", "ended")
    run_process(other, folder)
    run_process(other, folder)
    assert seen == [["key"], [CHECKPOINT, "key"], ["key"], ["key"]]


def test_a_process_that_is_killed_is_an_error(make_task, folder):
    live, found = Live(), []
    thread = threading.Thread(target=lambda: found.append(run_process(make_task(ENDLESS), folder, live)))
    thread.start()
    while not live.processes:
        thread.join(0.01)
    live.end()
    thread.join()
    (cell,) = found
    assert cell.status == "error"
    assert cell.error.startswith("the process was ended by signal 9 (SIGKILL), as happens when memory runs out")
    assert not live.processes


def test_a_process_with_a_nonsensical_task_is_an_error(make_task, folder):
    task = replace(make_task(PROCRUSTES), source=None)
    cell = run_process(task, folder)
    assert cell.status == "error"
    assert cell.error.startswith("AttributeError")


def test_a_process_ends_with_whoever_has_started_it(make_task, folder):
    command = [sys.executable, "-m", "bilex.bench.cell", folder]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.communicate(make_task(ENDLESS).to_json().encode() + b"\n")
    assert process.returncode == 1
    assert not (folder / "result.json").exists()
