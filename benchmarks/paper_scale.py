"""A supervised RAPO run at the size of the paper's: 200,000 x 200,000 words, 300 dimensions; where the time goes.

    python benchmarks/paper_scale.py [--max-words 200000] [--threads 2] [--set KEY=VALUE ...]

Russian vectors against other Russian vectors (`ru`, `ru-news`). Of the words that both have, in order of frequency,
the first 5,000 are the train dictionary and the next 1,500 the test dictionary. Loading the tables is not counted.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import defaultdict

import torch

from bilex import Lexicon, Trace, align, get_method
from open_directions import load_table

SECONDS = ("seconds", "refresh_seconds", "train_seconds")


def main() -> int:
    """Align, evaluate, tell; exit code 1 above 20 minutes or 6 GB."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max-words", type=int, default=200_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    source, target = load_table("ru", args.max_words), load_table("ru-news", args.max_words)
    shared = [(word, word) for word in source.words if word in target]
    train, test = Lexicon.from_pairs(shared[:5000]), Lexicon.from_pairs(shared[5000:6500])
    for name in ("vecmap", "rapo"):
        method = get_method(name, dict(text.split("=", 1) for text in args.settings) if name == "rapo" else None)
        trace, started = Trace(lambda record: print(record, flush=True)), time.perf_counter()
        alignment = align(source, target, train, method=method, trace=trace)
        fitted = time.perf_counter()
        found = alignment.evaluate(test)
        ended = time.perf_counter()
        print(f"{name}: P@1 {found.scores.p_at_1:.2f} of {found.covered} words", flush=True)
    spent: dict[str, float] = defaultdict(float)
    for record in trace.records:
        for key in SECONDS:
            if key in record:
                spent[f"{record['stage']} {key.removesuffix('seconds').strip('_')}".strip()] += float(record[key] or 0)
    spent["the rest of fit"] = fitted - started - sum(spent.values())
    spent["evaluation"] = ended - fitted
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"{len(source):,} x {len(target):,} words, {args.threads} threads, torch {torch.__version__}")
    for what, seconds in spent.items():
        print(f"{what:20} {seconds:8.1f} s")
    print(f"{'all':20} {ended - started:8.1f} s, peak {gigabytes:.2f} GB")
    return int(ended - started > 20 * 60 or gigabytes > 6)


if __name__ == "__main__":
    raise SystemExit(main())
