"""Run the examples in the documents and write their output below them, or check it (--check).

    python tools/update_doc_outputs.py [--check] [--skip COMMAND] [DOCUMENT ...]

Each document is run in order, in a new folder:

- ```console blocks: every line that begins with "$ " is run; its output stands below it;
- ```python blocks: the output stands in the ```text block that follows;
- ```python blocks with title="src/bilex/methods/NAME.py": written to a folder in which bilex looks for methods.

Numbers may differ a little between machines: a difference of two in the last decimal, or of 0.2 %, does not change the
document. Times may differ by any amount.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import gc
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
DOCUMENTS = [
    ROOT / "README.md",
    DOCS / "index.md",
    DOCS / "start" / "install.md",
    DOCS / "start" / "first-hour.md",
    DOCS / "contribute" / "adding-a-method.md",
]
BLOCK = re.compile(
    r"^```(?P<kind>console|python)(?P<rest>[^\n]*)\n(?P<body>.*?)^```\n(?:\n*^```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
SECONDS = re.compile(r"\d+(?:\.\d+)? s\b")


def main() -> None:
    """Update or check the documents; exit with 1 if a check fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if something is out of date")
    parser.add_argument("--skip", metavar="COMMAND", help="take the output of this command line as it is written")
    parser.add_argument("documents", nargs="*", type=Path, metavar="DOCUMENT")
    arguments = parser.parse_args()
    documents = [path.resolve() for path in arguments.documents or DOCUMENTS]
    # One thread: on so small a sample, more of them wait for each other where the machine has other work.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ |= {"COLUMNS": "80", "OMP_NUM_THREADS": "1", "PATH": path}
    stale = [path for path in documents if update(path, arguments.skip, write=not arguments.check)]
    sys.exit(bool(stale) and arguments.check)


def update(path: Path, skip: str | None, *, write: bool) -> bool:
    """Run one document, print the differences, and return whether there are any."""
    old = path.read_text(encoding="utf-8")
    new = run_document(old, skip)
    names = (f"{path.name}, written", f"{path.name}, printed")
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), *names))
    if write:
        path.write_text(new, encoding="utf-8", newline="\n")
    return new != old


def run_document(text: str, skip: str | None = None) -> str:
    """The document with the current output of its examples."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), methods_beside(Path(folder) / "methods"):
        module = types.ModuleType("example")
        return BLOCK.sub(lambda match: run_block(match, module, skip), text)


@contextlib.contextmanager
def methods_beside(folder: Path) -> Iterator[None]:
    """Let bilex look for methods in one more folder, until the end of the context."""
    import bilex.methods
    from bilex.methods.base import all_methods

    folder.mkdir()
    bilex.methods.__path__.append(str(folder))
    all_methods.cache_clear()
    yield
    bilex.methods.__path__.remove(str(folder))
    all_methods.cache_clear()
    for file in folder.glob("*.py"):
        if sys.modules.pop(f"bilex.methods.{file.stem}", None):
            delattr(bilex.methods, file.stem)
    gc.collect()  # a class is known to its base for as long as it lives


def run_block(match: re.Match[str], module: types.ModuleType, skip: str | None) -> str:
    """The block with its current output."""
    if match["kind"] == "console":
        following = match[0][len(f"```console{match['rest']}\n{match['body']}") :]
        return f"```console{match['rest']}\n{run_session(match['body'], skip)}{following}"
    if title := re.search(r'title="src/bilex/methods/(\w+\.py)"', match["rest"]):
        Path("methods", title[1]).write_text(match["body"], encoding="utf-8")
        return match[0]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(match["body"], "example", "exec"), module.__dict__)
    if match["output"] is None:
        if printed.getvalue():
            raise SystemExit(f"no ```text block for what this prints:\n{match['body']}\n{printed.getvalue()}")
        return match[0]
    return match[0].replace(f"```text\n{match['output']}", f"```text\n{settle(match['output'], printed.getvalue())}")


def run_session(body: str, skip: str | None) -> str:
    """The commands of a console block, each with its current output."""
    parts = re.split(r"^(\$ [^\n]*\n)", body, flags=re.MULTILINE)
    done = parts[:1]
    for line, written in zip(parts[1::2], parts[2::2], strict=True):
        gap = "\n" if written.endswith("\n\n") or written == "\n" else ""  # before the next command
        output = written.removesuffix(gap)
        command = line[2:].strip()
        done += [line, output if command == skip else settle(output, run_line(command)), gap]
    return "".join(done)


def run_line(line: str) -> str:
    """Output of a command line on both streams. `bilex` runs in this process, so that torch is imported only once."""
    shown, piped = io.StringIO(), ""
    *before, last = line.split(" | ")
    for command in before:
        printed = io.StringIO()
        run_command(command, piped, printed, shown)
        piped = printed.getvalue()
    run_command(last, piped, shown, shown)
    return shown.getvalue()


def run_command(command: str, stdin: str, stdout: io.StringIO, stderr: io.StringIO) -> None:
    """Run one command of a pipeline."""
    if not command.startswith("bilex "):
        done = subprocess.run(command, shell=True, input=stdin, capture_output=True, text=True, check=False)
        stdout.write(done.stdout)
        stderr.write(done.stderr)
        return
    from bilex.cli import main as bilex

    with (
        mock.patch("sys.stdin", io.StringIO(stdin)),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
        contextlib.suppress(SystemExit),
    ):
        bilex(shlex.split(command)[1:])


def settle(written: str, printed: str) -> str:
    """The written output if the printed one agrees with it, else the printed one."""
    printed = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return written if agree(written, printed) else printed


def agree(written: str, printed: str) -> bool:
    """Whether two texts are equal except for small differences between numbers."""
    texts = [SECONDS.sub("some s", text) for text in (written, printed)]
    words = [re.sub(r"\s+", " ", NUMBER.sub("0", text)) for text in texts]
    numbers = [NUMBER.findall(text) for text in texts]
    return words[0] == words[1] and all(map(near, *numbers))


def near(written: str, printed: str) -> bool:
    """Whether two numbers differ by at most two in the last decimal, or 0.2 %."""
    a, b = (float(number.replace(",", "")) for number in (written, printed))
    decimals = len(written.partition(".")[2])
    return abs(a - b) <= max(2.01 * 10**-decimals if decimals else 0, 0.002 * abs(b))


if __name__ == "__main__":
    main()
