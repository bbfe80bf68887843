"""Time and peak memory of training and evaluation, as functions of vocabulary, dimension, dictionary and threads.

    python benchmarks/scaling.py OUTPUT.jsonl [--methods procrustes,vecmap,geomm,rapo] [--axes words,dim,pairs,threads]
        [--words 10000,20000,50000,100000,200000] [--dim 50,100,200,300] [--pairs 500,1000,2000,5000,10000,20000]
        [--among 50000] [--threads 2] [--repeat 1] [--plot FOLDER] [--json]

Data: Russian vectors and other Russian vectors (`ru`, `ru-news`), the first columns of both, trained on shared words.
One quantity varies at a time. The others stay at 300 dimensions, 5,000 pairs (fewer if the tables share fewer words;
each line has the number) and --threads. Dimension, dictionary and threads vary with --among words in each table.

Each point is measured in a subprocess, and is one line of OUTPUT, written when it is done. Points in the file are not
measured again, so a study can be interrupted and extended. Memory is the peak resident set, with the tables, while
training and while evaluating 1,500 words. With --repeat, the best of several lines counts. --plot draws all results in
OUTPUT as SVG files. The cost of 200,000 words on both sides is printed as a multiple of the cost of 100,000. The exit
code is 1 if this ratio is above 2.3 for the training of `rapo`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex import align, get_method
from bilex.page.charts import Chart, Line, points_of
from measuring import (
    Target,
    add_line,
    make_parser,
    matching_lines,
    parse_arguments,
    peak_memory,
    read_lines,
    report,
    reset_peak_memory,
    run_script,
    time_call,
)
from open_directions import load_russian_pair

if TYPE_CHECKING:
    import argparse

    Record = dict[str, Any]

SIZES = {
    "words": "10000,20000,50000,100000,200000",
    "dim": "50,100,200,300",
    "pairs": "500,1000,2000,5000,10000,20000",
    "threads": "1,2",
}
DIM, PAIRS = 300, 5000
AXES = {"words": "words of each table", "dim": "dimensions", "pairs": "pairs of the dictionary", "threads": "threads"}
MEASURED = {
    "train_seconds": "training (s)",
    "evaluation_seconds": "evaluation (s)",
    "train_gigabytes": "training, peak memory (GB)",
    "evaluation_gigabytes": "evaluation, peak memory (GB)",
}
DOUBLED, MOST = (100_000, 200_000), 2.3


def main() -> int:
    """Measure the missing points, and print all results."""
    parser = make_parser(__doc__, repeat=1)
    parser.add_argument("output", type=Path)
    parser.add_argument("--methods", default="procrustes,vecmap,geomm,rapo")
    parser.add_argument("--axes", default=",".join(AXES))
    for name in ("words", "dim", "pairs"):
        parser.add_argument(f"--{name}", default=SIZES[name])
    parser.add_argument("--among", type=int, default=50_000)
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="of rapo")
    parser.add_argument("--plot", type=Path, metavar="FOLDER")
    parser.add_argument("--point", help="only this one, in this process")
    args = parse_arguments(parser)
    if args.point:
        print(json.dumps(measure(json.loads(args.point))))
        return 0
    usual = {"words": args.among, "dim": DIM, "pairs": PAIRS, "threads": args.threads}
    for point in points(args, usual):
        for _ in range(len(matching_lines(args.output, point)), args.repeat):
            append_measurement(args.output, point)
    records = best(read_lines(args.output))
    if args.plot:
        draw(args.plot, records, usual)
    return report(*summarize(records, usual), args)


def points(args: argparse.Namespace, usual: Record) -> list[Record]:
    """All points to measure, cheap methods first. A point on two axes is listed once."""
    chosen = {name: [int(text) for text in getattr(args, name).split(",")] for name in ("words", "dim", "pairs")}
    chosen["threads"] = [int(text) for text in SIZES["threads"].split(",")]
    found: list[Record] = []
    for method in args.methods.split(","):
        settings = args.settings if method.startswith("rapo") else []
        for axis in args.axes.split(","):
            found += [{"method": method, "settings": settings, **usual, axis: value} for value in chosen[axis]]
    return [point for i, point in enumerate(found) if point not in found[:i]]


def append_measurement(output: Path, point: Record) -> None:
    """Measure a point, and append its line to OUTPUT."""
    print("measuring", point, file=sys.stderr, flush=True)
    found = run_script(__file__, output, "--threads", point["threads"], "--point", json.dumps(point))
    add_line(output, point | found)


def measure(point: Record) -> Record:
    """Measure one training and one evaluation."""
    world = load_russian_pair(point["words"], pairs=point["pairs"], dim=point["dim"])
    method = get_method(point["method"], dict(text.split("=", 1) for text in point["settings"]))
    reset_peak_memory()
    alignment, training = time_call(
        lambda: align(world.source, world.target, world.train, method=method, measured=False, vectors_only=True)
    )
    train_peak = peak_memory()
    reset_peak_memory()
    result, evaluating = time_call(lambda: alignment.evaluate(world.test))
    return {
        "pairs_used": len(world.train),
        "train_seconds": training,
        "train_gigabytes": train_peak / 1e9,
        "evaluation_seconds": evaluating,
        "evaluation_gigabytes": peak_memory() / 1e9,
        "p_at_1": result.scores.p_at_1,
    }


def best(records: list[Record]) -> list[Record]:
    """One record per point, with the minimum of every repeated measurement."""
    found: dict[str, Record] = {}
    for record in records:
        key = json.dumps([record[name] for name in ("method", "settings", *AXES)])
        known = found.setdefault(key, record)
        found[key] = known | {name: min(known[name], record[name]) for name in MEASURED}
    return list(found.values())


def summarize(records: list[Record], usual: Record) -> tuple[dict[str, Any], list[Target]]:
    """One figure per point, and the ratios for a doubled vocabulary."""
    figures: dict[str, Any] = {}
    targets: list[Target] = []
    for r in records:
        name = f"{label(r)}, {r['words']} words, dim {r['dim']}, {r['pairs_used']} pairs, {r['threads']} threads"
        train, evaluation = (
            f"{r[f'{what}_seconds']:.1f} s and {r[f'{what}_gigabytes']:.2f} GB" for what in ("train", "evaluation")
        )
        figures[name] = f"training {train}, evaluation {evaluation}"
    for method, by_words in records_by_axis("words", records, usual).items():
        if all(words in by_words for words in DOUBLED):
            for what in ("train", "evaluation"):
                few, many = (by_words[words][f"{what}_seconds"] for words in DOUBLED)
                ratio = round(many / few, 2)
                if what == "train" and method == "rapo":
                    targets.append(Target("rapo: training with twice the words", ratio, at_most=MOST))
                else:
                    figures[f"{method}: {what} with twice the words"] = ratio
    return figures, targets


def records_by_axis(axis: str, records: list[Record], usual: Record) -> dict[str, dict[int, Record]]:
    """The records of each method by their value on one axis. All other values are the usual ones."""
    found: dict[str, dict[int, Record]] = {}
    for record in records:
        if all(record[name] == value for name, value in usual.items() if name != axis):
            found.setdefault(label(record), {})[record[axis]] = record
    return found


def label(record: Record) -> str:
    """The method with its settings."""
    return " ".join([record["method"], *record["settings"]])


def draw(folder: Path, records: list[Record], usual: Record) -> None:
    """Draw one plot per axis, with one panel per measured quantity."""
    from bilex.page.plots import draw as drawn

    folder.mkdir(parents=True, exist_ok=True)
    for axis, name in AXES.items():
        found = {
            method: by_value for method, by_value in records_by_axis(axis, records, usual).items() if len(by_value) > 1
        }
        panels = tuple(
            (
                title,
                tuple(
                    Line(method, *points_of({value: record[what] for value, record in by_value.items()}))
                    for method, by_value in found.items()
                ),
            )
            for what, title in MEASURED.items()
        )
        if found:
            chart = Chart(f"scaling-{axis}", f"Cost against {name}", "", name, "", panels, log_x=axis != "threads")
            (folder / f"{chart.name}.svg").write_text(drawn(chart), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
