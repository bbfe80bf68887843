"""Exact mutual induction of a whole lexicon, compared with the bare matrix products that it needs.

    python benchmarks/induction.py [--words 200000] [--threads 2] [--repeat 3] [--json]

Data: Russian vectors and other Russian vectors (`ru`, `ru-news`), aligned by Procrustes on 5,000 shared words.
`Alignment.induce(mutual=True)` starts without cached penalties and ends with the list of entries. There are n source
words and m target words; h target words are the best target of some source. The searches are

    nearest neighbours of all words in both directions, for the penalties    n x m
    best targets of all sources                                              n x m
    best sources of the targets found                                        h x n

The bare products have the same shapes. They are computed in float32 into one buffer, in blocks of the fastest of
several shapes. Runs alternate, and the shortest of several counts. The exit code is 1 if the ratio is above 1.2. The
second and third search reuse the nearest neighbours of the first, and searches begin in low precision if the processor
is faster there. So the ratios to the first product alone, in float32 and in bfloat16, are printed too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bilex import align
from bilex.search.bfloat16 import Bfloat16
from measuring import Target, best_of, make_parser, memory_growth, parse_arguments, report, time_seconds
from open_directions import load_russian_pair
from topk import SHAPES, products

if TYPE_CHECKING:
    from torch import Tensor

    from bilex import Alignment

TRIAL_ROWS = 4096
"""Number of rows for finding the fastest block shape."""


def main() -> int:
    """Time both, and print the ratio."""
    parser = make_parser(__doc__)
    parser.add_argument("--words", type=int, default=200_000)
    args = parse_arguments(parser)
    world = load_russian_pair(args.words)
    alignment = align(world.source, world.target, world.train, method="procrustes", measured=False, vectors_only=True)
    x, z = alignment.source_rows, alignment.target_rows
    found: dict[str, Any] = {}
    memory = memory_growth(lambda: found.update(induce(alignment)))
    shape = min(SHAPES, key=lambda shape: time_seconds(lambda: products(x[:TRIAL_ROWS], z, *shape)))
    parts = searches(x, z, found["hit"])
    best = best_of(
        args.repeat,
        {
            "induction": lambda: induce(alignment),
            "bare products": lambda: [products(queries, keys, *shape) for queries, keys in parts[1:]],
            "the first of them": lambda: products(x, z, *shape),
            "the first, in bfloat16": lambda: products(x, z, *shape, dtype=Bfloat16.dtype),
        },
    )
    best["bare products"] += best["the first of them"]
    figures = {
        "size": f"{len(x)} x {len(z)} x {x.shape[1]}",
        "threads": args.threads,
        "mutual pairs": found["entries"],
        "different best targets": found["hit"],
        "products (of all by all)": round(sum(len(a) * len(b) for a, b in parts) / (len(x) * len(z)), 2),
        "blocks": f"{shape[0]} x {shape[1]}",
        **{f"{name} (s)": round(time, 2) for name, time in best.items()},
        "peak memory (MB)": round(memory / 2**20),
    }
    for name in ("the first of them", "the first, in bfloat16"):
        figures[f"induction / {name}"] = round(best["induction"] / best[name], 3)
    ratio = best["induction"] / best["bare products"]
    return report(figures, [Target("induction / bare products", round(ratio, 3), at_most=1.2)], args)


def induce(alignment: Alignment) -> dict[str, int]:
    """Induce the lexicon from the mapped tables only: the numbers of entries and of different best targets."""
    alignment._indexes.clear()
    sizes: list[int] = []
    entries = alignment.induce(mutual=True, given=False, progress=lambda _, rows: sizes.append(rows))
    return {"entries": len(entries), "hit": sizes[-1]}  # the last search is that of the targets found


def searches(x: Tensor, z: Tensor, hit: int) -> list[tuple[Tensor, Tensor]]:
    """Queries and keys of each search of mutual induction."""
    return [(x, z), (x, z), (z[:hit], x)]


if __name__ == "__main__":
    raise SystemExit(main())
