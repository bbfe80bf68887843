"""P@1 of methods on the open directions, one line per run: honest protocol, mean over random seeds at the end.

    python benchmarks/supervised_table.py [--methods vecmap,rcsls,rapo] [--directions en-fr,en-fi] [--rng-seeds 0,1,2]

A method that makes choices holds a tenth of the source words of train out for them; the others train on all of it. The
test dictionary is only evaluated on.
"""

from __future__ import annotations

import argparse
import json
import time

from bilex import align
from open_directions import DIRECTIONS


def main() -> None:
    """Print one JSON line per run, then the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="procrustes,vecmap,rcsls,rapo")
    parser.add_argument("--directions", default=",".join(DIRECTIONS))
    parser.add_argument("--rng-seeds", default="0")
    args = parser.parse_args()
    methods, directions = args.methods.split(","), args.directions.split(",")
    found: dict[tuple[str, str], list[float]] = {}
    for name in directions:
        source, target = DIRECTIONS[name].load()
        for method in methods:
            for rng_seed in map(int, args.rng_seeds.split(",")):
                started = time.perf_counter()
                alignment = align(source, target, DIRECTIONS[name].train(), method=method, rng_seed=rng_seed)
                seconds = time.perf_counter() - started
                result = alignment.evaluate(DIRECTIONS[name].test())
                found.setdefault((method, name), []).append(result.scores.p_at_1)
                record = {"direction": name, "method": method, "rng_seed": rng_seed, "seconds": round(seconds, 1)}
                kept = {
                    key: round(result.to_json()[key], 4) for key in ("p_at_1", "p_at_5", "p_at_10", "mrr", "covered")
                }
                print(json.dumps({**record, **kept}), flush=True)
    print(f"{'P@1':12}" + "".join(f"{name:>8}" for name in directions) + f"{'mean':>8}")
    for method in methods:
        means = [sum(found[method, name]) / len(found[method, name]) for name in directions]
        print(f"{method:12}" + "".join(f"{mean:8.2f}" for mean in [*means, sum(means) / len(means)]))


if __name__ == "__main__":
    main()
