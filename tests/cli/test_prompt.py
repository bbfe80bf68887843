import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bilex import align
from bilex.cli.prompt import Session, complete, run_prompt
from bilex.cli.translate import _print, _print_at_prompt

pty = pytest.importorskip("pty", reason="no terminals here")


def speak(alignment, *lines):
    """A conversation; a line that is an exception is raised. What was asked for, line by line."""
    prompts, coming = [], iter(lines)

    def read(prompt):
        prompts.append(prompt)
        line = next(coming, EOFError())
        if isinstance(line, BaseException):
            raise line
        return line

    def translate(word, n, direction):
        return alignment.translate([word], n, direction=direction)[0]

    run_prompt(Session(alignment, 2, "forward", translate, _print_at_prompt), read)
    return prompts


def test_words_and_the_other_direction(alignment, capsys):
    prompts = speak(alignment, "s1", ":swap", " t1 ", ":n 1", "t2", "")
    assert prompts == ["source>target: ", "source>target: ", *["target>source: "] * 5]
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines() if line]
    assert [(line[0], len(line) - 1) for line in lines] == [("s1", 2), ("t1", 2), ("t2", 1)]


def test_help_unknown_words_and_interrupts(alignment, capsys):
    assert len(speak(alignment, ":help", ":nonsense", ":n 0", "zzz", KeyboardInterrupt(), ":quit", "s1")) == 6
    err = capsys.readouterr().err
    assert err.count(":swap") == 3
    assert "zzz: not in the table" in err


def test_words_of_the_other_language(alignment, capsys):
    speak(alignment, "t1", ":swap", "s1")
    err = capsys.readouterr().err
    assert "t1: not in the table of 160 words; the target table has it: :swap\n" in err
    assert "s1: not in the table of 160 words; the source table has it: :swap\n" in err


def test_nothing_that_commands_the_terminal(world, capsys):
    source = replace(
        world.source, words=["\x1b[31m", "a\u202eb", *world.source.words[2:]], origin=Path("\x1b]0;x\x07.vec")
    )
    made = align(source, world.target, world.train)
    made.provenance["inputs"]["source"]["file"] = "folder/\x1b]0;x\x07.vec"
    session = Session(made, 1, "forward", lambda *_: None, _print)
    assert session.prompt == "\\x1b]0;x\\x07>target: "
    assert session.words == sorted(world.source.words[2:])
    speak(made, "\x1b[32m")
    assert "\\x1b[32m: not in the table" in capsys.readouterr().err


def test_a_colon_alone_is_a_word(alignment, capsys):
    speak(alignment, ":")
    assert ":: not in the table" in capsys.readouterr().err


def test_completion():
    words = sorted(["house", "houses", "New York", "New Zealand", "zoo"])
    assert complete(words, "hou") == ["house", "houses"]
    assert complete(words, "New ") == ["New York", "New Zealand"]
    assert complete(words, "x") == []
    assert complete(words, ":s") == [":swap"]


def test_at_a_terminal(run):
    code = "import sys; from bilex.cli import main; main(sys.argv[1:])"
    here, there = pty.openpty()
    command = [sys.executable, "-c", code, "translate", str(run), "-n", "1"]
    env = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen(command, stdin=there, stdout=there, stderr=subprocess.PIPE, env=env) as process:
        os.close(there)
        os.write(here, b"s1\n:swap\nt1\n:quit\n")
        shown = b""
        while b"t1\ts" not in shown:
            shown += os.read(here, 1000)
        assert process.wait() == 0
        assert b"Traceback" not in process.stderr.read()
    os.close(here)
    assert b"x>z: " in shown
    assert b"z>x: " in shown
