"""Mutation testing: make small changes to the program (mutants), and run the tests against each.

    python tools/mutate.py [PATH ...] [--mutants 200] [--rng-seed 0] [--jobs 2] [--tests TESTS ...]
        [--folder build/mutation] [--mirrored] [--measure] [--retry] [--judged FILE] [--report]

PATH: files or folders to change (default: src). TESTS: tests to run (default: tests). A mutant is noticed if a test
fails, crashes or does not end. The checkout itself is never changed: everything runs in copies.

The first call runs all tests once, to measure which lines each test executes (FOLDER/lines.coverage). Use --measure to
measure again after tests or code have changed. With --mirrored nothing is measured, and only the tests that mirror the
changed module are run. They notice most mutants in a tenth of the time; a later call with --retry but without
--mirrored tries the survivors with the other tests.

Results are appended to FOLDER/results.jsonl. Mutants with a result are not tried again, so an interrupted call can be
resumed. --retry tries survivors again. At the end survivors are printed with their changes, and counted by package;
--report does only this.

FILE has one line per judged mutant: its key, a tab and a verdict. Verdicts: `equivalent` (no difference in behaviour),
`speed` or `message` (only these change), or `real`. A further tab and a reason may follow. Only `real` and unjudged
survivors count against the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections import Counter
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any

import pytest

from mutation.mutants import Mutant, sample
from mutation.selection import LINES, SECONDS, Mirrored, Selection, measure_tests
from mutation.trial import Trial, copy_checkout, enter, prepare

ROOT = Path(__file__).resolve().parents[1]
NO_BEHAVIOUR = ("equivalent", "speed", "message")
Result = dict[str, Any]


def main() -> int:
    """Try the mutants without result, and print the report. The exit code is 1 if a mutant that counts survived."""
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # an end that ends the trials too
    args.folder.mkdir(parents=True, exist_ok=True)
    results = args.folder / "results.jsonl"
    files = [file for path in args.paths for file in ([path] if path.is_file() else path.rglob("*.py"))]
    mutants = sample(args.root, [file.resolve() for file in files], count=args.mutants, rng_seed=args.rng_seed)
    if not args.report:
        prepare(args.root)
        selection = Mirrored(args.root) if args.mirrored else measure(args)
        done = {key for key, result in read(results).items() if result["noticed"] or not args.retry}
        run([mutant for mutant in mutants if mutant.key not in done], selection, args, results)
    return summarize(mutants, read(results), read_judgements(args.judged))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, default=None)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--rng-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tests", nargs="+", default=["tests"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--mirrored", action="store_true")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("--judged", type=Path)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    args = parser.parse_args()
    args.root = args.root.resolve()
    args.folder = (args.folder or args.root / "build" / "mutation").resolve()
    args.paths = args.paths or [args.root / "src"]
    return args


def measure(args: argparse.Namespace) -> Selection:
    """The tests that execute each line, from an earlier measurement or a new one."""
    copy = args.folder / "copies" / "measured"
    if args.measure or not (args.folder / SECONDS).exists():
        (args.folder / LINES).unlink(missing_ok=True)
        copy_checkout(args.root, copy)
        print(f"running the tests once; what they say goes to {copy / 'trial.log'}", file=sys.stderr)
        process = get_context("fork").Process(target=_measure, args=(copy, args.tests, args.folder))
        process.start()
        process.join()
        if process.exitcode != 0:
            raise SystemExit(f"the tests cannot be run: see {copy / 'trial.log'}")
    return Selection(args.folder, copy)


def _measure(copy: Path, tests: list[str], folder: Path) -> None:
    enter(copy)
    ended = measure_tests(tests, folder)
    os._exit(0 if ended in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) else 1)


def run(mutants: list[Mutant], selection: Selection | Mirrored, args: argparse.Namespace, results: Path) -> None:
    """Try the mutants in parallel, and save each result at once."""
    copies = [args.folder / "copies" / str(job) for job in range(min(args.jobs, len(mutants)))]
    for copy in copies:
        copy_checkout(args.root, copy)
    waiting, running = [(mutant, selection.tests_for(mutant)) for mutant in mutants], dict[Path, Trial]()
    waiting.sort(key=lambda one: -len(one[1]))  # those of few tests first
    try:
        while waiting or running:
            for copy in copies:
                if waiting and copy not in running:
                    running[copy] = Trial(copy, *waiting.pop(), selection.seconds)
            ended = connection.wait([trial.process.sentinel for trial in running.values()])
            for copy, trial in list(running.items()):
                if trial.process.sentinel in ended:
                    result = running.pop(copy).result()
                    with results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(result, ensure_ascii=False) + "\n")
                    print(line(result), file=sys.stderr, flush=True)
    finally:
        for trial in running.values():
            trial.end()


def line(result: Result) -> str:
    """Print one result as progress."""
    verdict = f"noticed by {result['by']} ({result['how']})" if result["noticed"] else "SURVIVED"
    return f"{result['key']} {result['file']}:{result['line']} {result['operator']}: {verdict}, {result['seconds']} s"


def read(results: Path) -> dict[str, Result]:
    """The last result of each mutant."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return {result["key"]: result for result in map(json.loads, lines)}


def read_judgements(path: Path | None) -> dict[str, str]:
    """Verdicts on survivors, by key."""
    if path is None:
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    found = {key: verdict for key, verdict, *_ in (line.split("\t") for line in lines if line and line[0] != "#")}
    if unknown := set(found.values()) - {*NO_BEHAVIOUR, "real"}:
        raise SystemExit(f"{path}: found {', '.join(unknown)}; needed {', '.join(NO_BEHAVIOUR)} or real")
    return found


def summarize(mutants: list[Mutant], results: dict[str, Result], judged: dict[str, str]) -> int:
    """Print the survivors, and the counts of each package."""
    tried = [results[mutant.key] for mutant in mutants if mutant.key in results]
    survivors = [result for result in tried if not result["noticed"]]
    for result in survivors:
        place = f"{result['file']}:{result['line']} in {result['scope'] or 'the module'}"
        print(f"{result['key']}  {place}: {result['operator']}, {judged.get(result['key'], 'not judged')}")
        print(*(f"    {text}" for text in result["diff"].split("\n")), sep="\n")
    counts = {verdict: Counter[str]() for verdict in ("noticed", "survived", "no behaviour")}
    for result in tried:
        verdict = "survived"
        if result["noticed"]:
            verdict = "noticed"
        elif judged.get(result["key"]) in NO_BEHAVIOUR:
            verdict = "no behaviour"
        counts[verdict][package(result["file"])] += 1
        counts[verdict]["all"] += 1
    print(f"{'package':20}{'noticed':>9}{'survived':>9}{'no behaviour':>14}{'score':>8}")
    for name in [*sorted({package(result["file"]) for result in tried}), "all"]:
        noticed, survived, same = (counts[verdict][name] for verdict in counts)
        score = f"{noticed / (noticed + survived):.1%}" if noticed + survived else "-"
        print(f"{name:20}{noticed:9}{survived:9}{same:14}{score:>8}")
    return int(counts["survived"]["all"] > 0)


def package(file: str) -> str:
    """The package of a file in src/bilex, or "(top)"."""
    parts = Path(file).parts[2:]
    return parts[0] if len(parts) > 1 else "(top)"


if __name__ == "__main__":
    raise SystemExit(main())
