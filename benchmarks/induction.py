"""The whole lexicon, mutual and exact, against the bare matrix products that it takes.

    python benchmarks/induction.py [--words 200000] [--threads 2] [--repeat 3] [--json]

Russian vectors against other Russian vectors (`ru`, `ru-news`), mapped by Procrustes from 5,000 words that both have.
`Alignment.induce(mutual=True)` begins with no penalty known and ends with the list of entries. For n by m words, of
which h are the best target of somebody, the searches are

    the nearest of all words, both ways, for their penalties    n x m
    the best targets of all sources                             n x m
    the best sources of the targets found                       h x n

and the bare products are of these shapes, one after the other, in blocks of the fastest of several shapes, into one
buffer, in float32. All take turns; the least of several runs counts. The exit code is 1 above 1.2 times. As the nearest
words are known after the first search, little of the other two has to be computed; and processors that are faster with
rounded rows begin with these. So the ratios to the first product alone are told, too, as it is and in 16 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bilex import align
from bilex.search.bfloat16 import Sixteen
from measuring import Target, begin, best_of, growth, options, report, seconds
from open_directions import two_russians
from topk import SHAPES, products

if TYPE_CHECKING:
    from torch import Tensor

    from bilex import Alignment

TRIED = 4096
"""Rows on which the shapes of blocks are tried."""


def main() -> int:
    """Time both, print the ratio."""
    parser = options(__doc__)
    parser.add_argument("--words", type=int, default=200_000)
    args = begin(parser)
    world = two_russians(args.words)
    alignment = align(world.source, world.target, world.train, method="procrustes", measured=False)
    x, z = alignment.source_rows, alignment.target_rows
    found: dict[str, Any] = {}
    memory = growth(lambda: found.update(induce(alignment)))
    shape = min(SHAPES, key=lambda shape: seconds(lambda: products(x[:TRIED], z, *shape)))
    parts = searches(x, z, found["hit"])
    best = best_of(
        args.repeat,
        {
            "induction": lambda: induce(alignment),
            "bare products": lambda: [products(queries, keys, *shape) for queries, keys in parts[1:]],
            "the first of them": lambda: products(x, z, *shape),
            "the first, in 16 bits": lambda: products(x, z, *shape, dtype=Sixteen.dtype),
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
    for name in ("the first of them", "the first, in 16 bits"):
        figures[f"induction / {name}"] = round(best["induction"] / best[name], 3)
    ratio = best["induction"] / best["bare products"]
    return report(figures, [Target("induction / bare products", round(ratio, 3), at_most=1.2)], args)


def induce(alignment: Alignment) -> dict[str, int]:
    """The lexicon, from tables that are mapped and nothing else: entries, and different best targets."""
    alignment._indexes.clear()
    sizes: list[int] = []
    entries = alignment.induce(mutual=True, given=False, progress=lambda _, rows: sizes.append(rows))
    return {"entries": len(entries), "hit": sizes[-1]}  # the last search is that of the targets found


def searches(x: Tensor, z: Tensor, hit: int) -> list[tuple[Tensor, Tensor]]:
    """Queries and keys of the searches of mutual induction, each made in full."""
    return [(x, z), (x, z), (z[:hit], x)]


if __name__ == "__main__":
    raise SystemExit(main())
