"""Time and peak memory of training and of evaluation against vocabulary, dimension, dictionary size and threads.

    python benchmarks/scaling.py OUTPUT.jsonl [--methods procrustes,vecmap,geomm,rapo] [--axes words,dim,pairs,threads]
        [--words 10000,20000,50000,100000,200000] [--dim 50,100,200,300] [--pairs 500,1000,2000,5000,10000,20000]
        [--among 50000] [--threads 2] [--repeat 1] [--plot FOLDER] [--json]

Russian vectors against other Russian vectors (`ru`, `ru-news`), the first columns of both, trained on words that both
have. One thing varies at a time, the others are 300 dimensions, 5,000 pairs (fewer where the tables share fewer words;
the line says how many) and --threads; dimensions, dictionaries and threads vary among --among words of each table.

Each point is measured in a process of its own and is one line of OUTPUT, written when it is done; points that are in it
already are not measured again, so that a study can be interrupted and extended. Memory is the largest resident set
while training and while evaluating 1,500 words (the tables included). With --repeat, the best of several lines counts.
--plot draws all that is in OUTPUT as SVG files. What 200,000 words on both sides cost is told as a multiple of what
100,000 do; the exit code is 1 if that of training `rapo` is above 2.3.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex import align, get_method
from bilex.page.charts import Chart, Line, points_of
from measuring import Target, add_line, begin, forget_peak, lines, lines_of, options, own_process, peak, report, timed
from open_directions import two_russians

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
    """Measure what is missing, tell what there is."""
    parser = options(__doc__, repeat=1)
    parser.add_argument("output", type=Path)
    parser.add_argument("--methods", default="procrustes,vecmap,geomm,rapo")
    parser.add_argument("--axes", default=",".join(AXES))
    for name in ("words", "dim", "pairs"):
        parser.add_argument(f"--{name}", default=SIZES[name])
    parser.add_argument("--among", type=int, default=50_000)
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="of rapo")
    parser.add_argument("--plot", type=Path, metavar="FOLDER")
    parser.add_argument("--point", help="only this one, in this process")
    args = begin(parser)
    if args.point:
        print(json.dumps(measure(json.loads(args.point))))
        return 0
    usual = {"words": args.among, "dim": DIM, "pairs": PAIRS, "threads": args.threads}
    for point in points(args, usual):
        for _ in range(len(lines_of(args.output, point)), args.repeat):
            add(args.output, point)
    records = best(lines(args.output))
    if args.plot:
        draw(args.plot, records, usual)
    return report(*told(records, usual), args)


def points(args: argparse.Namespace, usual: Record) -> list[Record]:
    """What to measure, the cheap methods first; what two axes share is there once."""
    chosen = {name: [int(text) for text in getattr(args, name).split(",")] for name in ("words", "dim", "pairs")}
    chosen["threads"] = [int(text) for text in SIZES["threads"].split(",")]
    found: list[Record] = []
    for method in args.methods.split(","):
        settings = args.settings if method.startswith("rapo") else []
        for axis in args.axes.split(","):
            found += [{"method": method, "settings": settings, **usual, axis: value} for value in chosen[axis]]
    return [point for i, point in enumerate(found) if point not in found[:i]]


def add(output: Path, point: Record) -> None:
    """Measure a point and add its line."""
    print("measuring", point, file=sys.stderr, flush=True)
    found = own_process(__file__, output, "--threads", point["threads"], "--point", json.dumps(point))
    add_line(output, point | found)


def measure(point: Record) -> Record:
    """One training and one evaluation."""
    world = two_russians(point["words"], pairs=point["pairs"], dim=point["dim"])
    method = get_method(point["method"], dict(text.split("=", 1) for text in point["settings"]))
    forget_peak()
    alignment, training = timed(lambda: align(world.source, world.target, world.train, method=method, measured=False))
    train_peak = peak()
    forget_peak()
    result, evaluating = timed(lambda: alignment.evaluate(world.test))
    return {
        "pairs_used": len(world.train),
        "train_seconds": training,
        "train_gigabytes": train_peak / 1e9,
        "evaluation_seconds": evaluating,
        "evaluation_gigabytes": peak() / 1e9,
        "p_at_1": result.scores.p_at_1,
    }


def best(records: list[Record]) -> list[Record]:
    """One record for each point, with the least of everything that was measured several times."""
    found: dict[str, Record] = {}
    for record in records:
        key = json.dumps([record[name] for name in ("method", "settings", *AXES)])
        known = found.setdefault(key, record)
        found[key] = known | {name: min(known[name], record[name]) for name in MEASURED}
    return list(found.values())


def told(records: list[Record], usual: Record) -> tuple[dict[str, Any], list[Target]]:
    """A line for each point, and the ratios of doubling the vocabulary."""
    figures: dict[str, Any] = {}
    targets: list[Target] = []
    for r in records:
        name = f"{label(r)}, {r['words']} words, dim {r['dim']}, {r['pairs_used']} pairs, {r['threads']} threads"
        train, evaluation = (
            f"{r[f'{what}_seconds']:.1f} s and {r[f'{what}_gigabytes']:.2f} GB" for what in ("train", "evaluation")
        )
        figures[name] = f"training {train}, evaluation {evaluation}"
    for method, by_words in along("words", records, usual).items():
        if all(words in by_words for words in DOUBLED):
            for what in ("train", "evaluation"):
                few, many = (by_words[words][f"{what}_seconds"] for words in DOUBLED)
                ratio = round(many / few, 2)
                if what == "train" and method == "rapo":
                    targets.append(Target("rapo: training with twice the words", ratio, at_most=MOST))
                else:
                    figures[f"{method}: {what} with twice the words"] = ratio
    return figures, targets


def along(axis: str, records: list[Record], usual: Record) -> dict[str, dict[int, Record]]:
    """Of each method the records by one axis, where the others are as usual."""
    found: dict[str, dict[int, Record]] = {}
    for record in records:
        if all(record[name] == value for name, value in usual.items() if name != axis):
            found.setdefault(label(record), {})[record[axis]] = record
    return found


def label(record: Record) -> str:
    """The method with its settings."""
    return " ".join([record["method"], *record["settings"]])


def draw(folder: Path, records: list[Record], usual: Record) -> None:
    """A plot for each axis: what was measured, in a panel each."""
    from bilex.page.plots import draw as drawn

    folder.mkdir(parents=True, exist_ok=True)
    for axis, name in AXES.items():
        found = {method: by_value for method, by_value in along(axis, records, usual).items() if len(by_value) > 1}
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
