import importlib
import json
import os
import re
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from bilex import Alignment, EmbeddingTable, Lexicon, __version__, align, cli
from bilex.cli import COMMANDS
from bilex.errors import BilexError
from bilex.run.corrections import Corrections

OUT_OF_MEMORY = "bilex: out of memory: read fewer words (--max-words), or use a machine with more memory\n"

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


def test_no_command_imports_what_it_does_not_need(files, tmp_path):
    """scipy and the compiler of torch take seconds, and were once imported for one formula each."""
    run, train = str(tmp_path / "run"), str(files / "train.tsv")
    commands = [
        ["align", str(files / "x.vec"), str(files / "z.vec"), "--train", train, "--fast", "--output", run],
        ["translate", run, "s1"],
        ["evaluate", run, train, "--hubness", "--json"],
        ["induce", run, "--output", str(tmp_path / "lexicon.tsv")],
    ]
    code = (
        f"import sys\nfrom bilex.cli import main\nfor args in {commands!r}:\n"
        "    try:\n        main(args)\n    except SystemExit as stopped:\n        assert stopped.code == 0\n"
        "heavy = {'torch._dynamo', 'scipy', 'pandas', 'sklearn', 'matplotlib', 'optuna', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([*PYTHON, code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")


def test_version(bilex):
    assert bilex("--version") == (0, f"bilex, version {__version__}\n", "")


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (["translat"], "translate"),
        (["Align"], "align"),
        (["data", "ftech"], "fetch"),
        (["bench", "reprot"], "report"),
        (["bench", "rn"], "run"),
    ],
)
def test_a_mistyped_command(refused, args, meant):
    message = refused(*args, code=2)
    assert message.endswith(f"Error: there is no command {args[-1]!r} (did you mean {meant!r}?)\n")


def test_a_command_like_no_other(refused):
    assert refused("xyzzy", code=2).endswith("Error: there is no command 'xyzzy'\n")


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


@pytest.mark.parametrize("environment", [{}, {"PYTHONIOENCODING": "utf-8:strict"}, {"LC_ALL": "C"}], ids=str)
def test_bytes_that_are_no_text_are_refused_without_a_traceback(run, environment):
    done = shell("translate", run, "-", input=b"s1\n\xff\xfe\n", env={**os.environ, **environment})
    assert done.returncode == 1
    assert done.stderr == b"bilex: standard input, line 2: this is not UTF-8; convert it (iconv -t UTF-8)\n"


@pytest.mark.parametrize(
    ("closed", "word", "code"),
    [("0<&-", "s1", 0), ("0<&-", "-", 1), ("1>&-", "s1", 0), ("0<&- 1>&- 2>&-", "s1", 0)],
)
def test_streams_that_are_closed(run, closed, word, code):
    """As they are for programs that some services start."""
    command = f"{sys.executable} -m bilex translate {run} {word} {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
@pytest.mark.parametrize("args", [["translate", "s1"], ["induce", "--output", "-"]], ids=str)
def test_a_full_disk_under_standard_output(run, args):
    command, *more = args
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*PYTHON[:1], "-m", "bilex", command, run, *more], stdout=full, stderr=-1, check=False)
    assert done.returncode == 1
    said = "bilex: standard output: No space left on device; free some space there, or choose another place\n"
    assert done.stderr.decode().endswith(said)
    assert b"Traceback" not in done.stderr


@contextmanager
def small_files():
    """No file may become larger than this, which is to the programs as if the disk were full."""
    resource = pytest.importorskip("resource", reason="limits of other systems")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "align {x} {z} --train {train} --fast --output {new}",
            "new: cannot be written: File too large; free some space",
        ),
        ("induce {run} --output {new}.tsv", "new.tsv: File too large; free some space there"),
        ("export {run} --source {new}.vec", "new.vec: cannot be written (File too large)"),
        ("report {run} --no-plots --output {new}.html", "new.html: File too large; free some space there"),
    ],
    ids=["align", "induce", "export", "report"],
)
def test_a_full_disk_is_said_with_the_name_of_the_file_and_what_to_do(bilex, files, run, tmp_path, command, message):
    names = {
        "x": files / "x.vec",
        "z": files / "z.vec",
        "train": files / "train.tsv",
        "run": run,
        "new": tmp_path / "new",
    }
    before = sorted(tmp_path.iterdir())
    with small_files():
        result = bilex(*command.format(**names).split())
    assert (result.code, result.out) == (1, "")
    assert result.err.splitlines()[-1].startswith(f"bilex: {tmp_path}{os.sep}{message}")
    assert "choose another place" in result.err
    assert sorted(tmp_path.iterdir()) == before


def test_no_output_holds_what_is_no_number(bilex, words_run, tmp_path):
    """A row of zeros has no direction, and its cosines are none; JSON has no NaN, and many readers refuse it."""
    run = words_run(["one", "two", "three", "four", "five", "six", "seven", "zero"])
    for args in (
        ["translate", run, "one", "seven", "zero", "--json"],
        ["translate", run, "zero", "--json", "--retrieval", "nn"],
        ["translate", run, "zero", "--json", "--retrieval", "isf"],
        ["induce", run, "--output", "-", "--format", "jsonl"],
    ):
        result = bilex(*args)
        assert result.code == 0
        for line in result.out.splitlines():
            json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no number"))
    table = bilex("induce", run, "--output", "-").out
    assert not re.search(r"\b(nan|inf)\b", table)


def test_messages_are_printable(refused, tmp_path):
    assert "no-\\x1b[31m-folder: this is no run folder" in refused("translate", tmp_path / "no-\x1b[31m-folder", "s1")
    assert "\\x07" in refused("evaluate", tmp_path, "--\x07", code=2)
    assert "a\\u202eb: no such file" in refused("inspect", "a\u202eb")


def test_results_and_messages_are_written_in_one_place():
    """Where characters that would command a terminal are shown instead."""
    folder = Path(cli.__file__).parent
    written = {
        path.name for path in folder.glob("*.py") if re.search(r"click\.echo\((?!\))|\bprint\(", path.read_text())
    }
    assert written == {"options.py", "tables.py", "completion.py"}


EVERYTHING = r"""
import sys
from bilex.cli import main
run = sys.argv[1]
for args in (
    ["translate", run, "\u00e9cole", "\u65e5\u672c"],
    ["translate", run, "\u00e9cole", "--json"],
    ["induce", run, "--output", "-"],
    ["induce", run, "--output", "-", "--format", "jsonl"],
    ["induce", run, "--output", "-", "--format", "tmx"],
    ["explore", run, "--export", "-", "--with-train"],
    ["evaluate", run, f"{run}/train.tsv", "--hubness"],
    ["inspect", f"{run}/source.safetensors"],
):
    try:
        main(args)
    except SystemExit as ended:
        print("END", args[0], ended.code, flush=True)
"""
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    "environment", [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C"}, C_LOCALE], ids=str
)
def test_a_pipe_gets_utf_8_whatever_the_locale_is(words_run, environment):
    run = words_run(["école", "日本"])
    Corrections(run / "corrections.sqlite").close()
    command = [*PYTHON, EVERYTHING, str(run)]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, **environment})
    assert b"Traceback" not in done.stderr
    parts = re.split(r"END (?:\w+) (\d)\n", done.stdout.decode())
    assert parts[1::2] == ["0"] * 8
    assert all("école" in part and ("日本" in part) for part in parts[:-1:2])


NAME = "caf\udce9"


@pytest.mark.skipif(sys.platform != "linux", reason="no such names here")
class TestNamesThatAreNotUtf8:
    @pytest.mark.parametrize(
        "args",
        [
            ["align", "x.vec", "z.vec", "--train", "train.tsv", "--output", NAME],
            ["align", "x.vec", "z.vec", "--train", "train.tsv", "--output", f"{NAME}/run"],
            ["align", f"{NAME}.vec", "z.vec", "--train", "train.tsv", "--output", "run"],
            ["align", "x.vec", f"{NAME}.vec", "--train", "train.tsv", "--output", "run"],
            ["align", "link.vec", "z.vec", "--train", "train.tsv", "--output", "run"],
            ["align", "x.vec", "z.vec", "--train", f"{NAME}.tsv", "--output", "run"],
            ["align", "x.vec", "z.vec", "--train", "train.tsv", "--dev", f"{NAME}.tsv", "--output", "run"],
            ["tune", "x.vec", "z.vec", "--train", f"{NAME}.tsv", "--output", "study"],
            ["tune", "x.vec", "z.vec", "--train", "train.tsv", "--output", NAME],
            ["translate", NAME, "s1"],
            ["induce", "made", "--output", f"{NAME}.tsv"],
            ["export", "made", "--source", f"{NAME}.vec"],
            ["export", "made", "--target", f"{NAME}.vec"],
            ["report", "made", "--output", f"{NAME}.html"],
            ["convert", "x.vec", f"{NAME}.npz"],
            ["explore", "made", "--export", NAME, "--with-train"],
            ["explore", "made", "--corrections", NAME],
            ["demo", "--output", NAME],
            ["data", "fetch", "muse", "en-fr", "--folder", NAME],
            ["bench", "run", "sample", "--output", NAME],
            ["bench", "report", NAME],
        ],
        ids=lambda args: ascii(" ".join(args)),
    )
    def test_are_refused_before_any_work(self, refused, files, made, tmp_path, monkeypatch, args):
        monkeypatch.chdir(tmp_path)
        for name in ("x.vec", "z.vec", "train.tsv"):
            Path(name).symlink_to(files / name)
        Path("made").symlink_to(made)
        for suffix, file in ((".vec", "x.vec"), (".tsv", "train.tsv")):
            Path(f"{NAME}{suffix}").write_bytes((files / file).read_bytes())
        Path("link.vec").symlink_to(f"{NAME}.vec")
        before = sorted(tmp_path.iterdir())
        message = refused(*args)
        assert "caf\\udce9" in message
        assert "is not UTF-8, so JSON" in message
        assert "rename it" in message
        assert sorted(tmp_path.iterdir()) == before

    def test_are_read_where_nothing_names_them_afterwards(self, bilex, files, made, tmp_path):
        table, lexicon = tmp_path / f"{NAME}.vec", tmp_path / f"{NAME}.tsv"
        table.write_bytes((files / "x.vec").read_bytes())
        lexicon.write_bytes((files / "test.tsv").read_bytes())
        result = bilex("inspect", table)
        assert result.code == 0
        assert "caf\\udce9.vec" in result.out.replace("\n", ""), "a long path may be folded"
        assert bilex("inspect", table, "--json").json["path"] == str(table)
        assert bilex("convert", table, tmp_path / "x.npz").code == 0
        assert bilex("evaluate", made, lexicon).code == 0

    def test_from_python_a_run_is_made_and_opened_again(self, world, tmp_path):
        table, lexicon = tmp_path / f"{NAME}.vec", tmp_path / f"{NAME}.tsv"
        world.source.write(table)
        world.train.write(lexicon)
        align(EmbeddingTable.read(table), world.target, Lexicon.read(lexicon), fast=True).save(tmp_path / "run")
        again = Alignment.load(tmp_path / "run")
        assert again.provenance["inputs"]["source"]["file"] == str(tmp_path.resolve() / "caf\\udce9.vec")
        assert again.train == world.train


@pytest.mark.filterwarnings("default::FutureWarning")
class TestWarnings:
    def test_a_renamed_setting_is_one_plain_line(self, bilex, inputs, tmp_path):
        before = warnings.showwarning
        settings = ["--method", "self_learning", "--set", "induction.sure=0.2", "--set", "rounds=1"]
        err = bilex("align", *inputs, *settings, "--output", tmp_path / "run").err
        lines = [line for line in err.splitlines() if "sure" in line]
        assert lines == [
            "warning: method self_learning: induction: the setting sure is now called confidence; write confidence=..."
        ]
        assert "FutureWarning" not in err
        assert warnings.showwarning is before

    def test_other_warnings_are_left_to_python(self):
        with pytest.warns(UserWarning, match="other"), cli._plain_warnings():
            warnings.warn("other", stacklevel=1)
