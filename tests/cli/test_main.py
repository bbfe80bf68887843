import importlib
import os
import re
import subprocess
import sys

import click
import pytest

from bilex import __version__
from bilex.cli import COMMANDS
from bilex.errors import BilexError

OUT_OF_MEMORY = "bilex: out of memory: read fewer words (--max-words), or use a machine with more\n"

PYTHON = [sys.executable, "-c"]


def shell(*args, **more):
    """The program in a process of its own."""
    code = "import sys; from bilex.cli import main; main(sys.argv[1:])"
    return subprocess.run([*PYTHON, code, *map(str, args)], capture_output=True, check=False, **more)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_where_it_is_said_to_be(name):
    module, line = COMMANDS[name]
    command = getattr(importlib.import_module(f"bilex.cli.{module}"), name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help
    assert line.endswith(".")
    assert all(getattr(parameter, "help", "") != "" for parameter in command.params)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_every_command_explains_itself(bilex, name, option):
    result = bilex(name, option)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Usage: bilex {name}")


def test_help_lists_all_and_imports_nothing_heavy():
    code = (
        "import sys\nfrom bilex.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as stopped:\n    assert stopped.code == 0\n"
        "heavy = {'torch', 'numpy', 'polars', 'rich', 'scipy', 'optuna', 'matplotlib'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([*PYTHON, code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    for name, (_, line) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}$", done.stdout, re.MULTILINE)


def test_version(bilex):
    assert bilex("--version") == (0, f"bilex, version {__version__}\n", "")


@pytest.mark.parametrize("args", [["alig"], ["--nope"], ["align"], ["translate", "--nope"], ["evaluate", "run"]])
def test_wrong_usage_is_2(refused, args):
    assert "Usage: bilex" in refused(*args, code=2)


def test_no_arguments_show_the_help(bilex):
    result = bilex()
    assert "Usage: bilex" in result.out + result.err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (BilexError("it went wrong"), 1, "bilex: it went wrong\n"),
        (FileNotFoundError(2, "No such file or directory", "x.vec"), 1, "bilex: x.vec: No such file or directory\n"),
        (OSError("odd"), 1, "bilex: odd\n"),
        (MemoryError(), 1, OUT_OF_MEMORY),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 9 bytes"), 1, OUT_OF_MEMORY),
        (RuntimeError("CUDA out of memory. Tried to allocate 9 GiB"), 1, OUT_OF_MEMORY),
        (KeyboardInterrupt(), 130, "bilex: interrupted\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_errors_become_exit_codes(bilex, monkeypatch, error, code, message):
    def fail(*_):
        raise error

    monkeypatch.setattr("bilex.methods.base.all_methods", fail)
    result = bilex("methods")
    assert (result.code, result.out, result.err.lstrip("\n")) == (code, "", message)


@pytest.mark.parametrize("bug", [ZeroDivisionError(), RuntimeError("odd")])
def test_a_bug_is_not_hidden(monkeypatch, bug):
    from bilex.cli import main

    def fail():
        raise bug

    monkeypatch.setattr("bilex.methods.base.all_methods", fail)
    with pytest.raises(type(bug)):
        main(["methods"])


def test_a_reader_that_stops_is_no_error(run):
    """`bilex induce ... --output - | head -1` ends quietly and well."""
    with subprocess.Popen(
        [*PYTHON, "from bilex.cli import main; main()", "induce", run, "-n", "160", "--output", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline().startswith(b"# source")
        process.stdout.close()
        error = process.stderr.read().decode()
        assert (process.wait(), error) == (0, "")


def test_bytes_that_are_no_text_are_refused_without_a_traceback(run):
    """Where the locale is UTF-8; Python lets them pass in the C locale, and then they are an unknown word."""
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    done = shell("translate", run, "-", input=b"s1\n\xff\xfe\n", env=strict)
    assert b"Traceback" not in done.stderr
    assert done.returncode == 1
    assert b"UTF-8" in done.stderr.upper()
