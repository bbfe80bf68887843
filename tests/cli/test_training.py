import os
import re
import subprocess
import sys

import pytest

from bilex.cli.training import Training

SETTINGS = ("epochs=3", "hard=8", "start=random", "learning_rate=0.03", "batch=16")


def test_the_bar_has_the_last_figure_of_held_out_words():
    shown = []
    training = Training(lambda *given: shown.append(given), verbose=False)
    training.watch("epoch 1", 0.25)
    training.hear({"dev_p_at_1": 71.25, "loss": 0.5})
    training.watch("epoch 2", 0.5)
    training.hear({"dev_p_at_1": None, "p_at_1": "none"})
    training.watch("epoch 3", 0.75)
    training.hear({"stage": "held_out", "p_at_1": 72.0})
    training.watch("epoch 4", 1)
    assert shown == [
        ("epoch 1", 0.25, 1),
        ("epoch 2, held-out P@1 71.2 %", 0.5, 1),
        ("epoch 3, held-out P@1 71.2 %", 0.75, 1),
        ("epoch 4, held-out P@1 72.0 %", 1, 1),
    ]


@pytest.mark.parametrize("verbose", [False, True])
def test_records_are_for_those_who_ask(capsys, verbose):
    training = Training(lambda *_: None, verbose=verbose)
    training.hear({"stage": "choose", "epoch": 2, "loss": 0.123456})
    out, err = capsys.readouterr()
    assert (out, err) == ("", "stage choose  epoch 2  loss 0.1235\n" if verbose else "")


@pytest.fixture
def args(inputs, tmp_path):
    settings = [f"--set={setting}" for setting in SETTINGS]
    return ["align", *map(str, inputs), "--method", "rapo", *settings, "--output", str(tmp_path / "new")]


def test_a_pipe_gets_no_bar_and_the_records_only_if_asked(bilex, args):
    result = bilex(*args)
    assert (result.out, result.err.count("\n")) == ("", 2)
    said = bilex(*args, "--force", "--verbose").err.splitlines()
    assert [line.split("  ")[0] for line in said[:-2]] == [
        *["stage context", "stage start"],
        *["stage choose"] * 4,
        *["stage shift", "stage held_out", "stage start"],
        *["stage refit"] * (len(said) - 11),
    ]


@pytest.mark.parametrize("verbose", [False, True])
def test_a_person_sees_one_bar_with_the_time_that_is_left(args, verbose):
    screen = on_a_terminal([*args, *(["--verbose"] if verbose else [])])
    bars = [line for line in screen if "━" in line]
    # However fast the training is, the last state of the bar is shown.
    assert re.fullmatch(r".+, held-out P@1 \d+\.\d % [━╸╺]+ (\d:\d\d:\d\d|-:--:--)", bars[-1])
    records = [line for line in screen if "stage " in line]
    assert bool(records) is verbose
    assert not [line for line in records if "━" in line], "a record has a line of its own"
    assert "learnt from 80 of 80 pairs" in screen[-2]


def on_a_terminal(args):
    """What is shown at a terminal from line to line, without the characters that move the cursor."""
    pty = pytest.importorskip("pty", reason="no terminals here")
    here, there = pty.openpty()
    environment = {**os.environ, "COLUMNS": "150", "TERM": "xterm", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "bilex", *args]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=there, stderr=there, env=environment) as process:
        os.close(there)
        shown = b"".join(iter(lambda: _read(here), b""))
        process.wait()
    os.close(here)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    return [line.strip() for line in re.split(r"[\r\n]+", plain) if line.strip()]


def _read(terminal):
    try:
        return os.read(terminal, 10_000)
    except OSError:  # Linux says so at the end
        return b""
