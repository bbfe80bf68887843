#!/usr/bin/env python3
"""Reading, opening and writing 200,000 x 300 word vectors, compared with gensim and with a plain write.

    python benchmarks/read_tables.py [--words 200000] [--dim 300] [--skip-gensim] [--threads 2] [--repeat 3] [--json]

Uses the table `ru` of BILEX_SHARED (default ../shared), or random rows if it is missing. Times are wall clock. The
memory of reading is the growth of the peak resident set of a new process, divided by the size of the matrix. A plain
write writes the same bytes from memory to the same folder. Most systems buffer writes in memory; then neither waits for
the disk. gensim reads and writes once. The exit code is 1 if reading text is less than 10 times faster than gensim or
takes more than 2.5 times the memory of the matrix, if opening the native format takes more than 0.2 s, or if writing it
takes more than 1.5 times a plain write.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bilex.table import EmbeddingTable
from measuring import Target, best_of, make_parser, memory_growth, parse_arguments, report, run_script, time_seconds
from open_directions import load_table, missing_data_reason

if TYPE_CHECKING:
    import argparse


def main() -> int:
    """Measure everything, and print the figures."""
    parser = make_parser(__doc__)
    parser.add_argument("--words", type=int, default=200_000, help="rows of the table")
    parser.add_argument("--dim", type=int, default=300, help="columns of random rows")
    parser.add_argument("--skip-gensim", action="store_true", help="measure ours only")
    parser.add_argument("--memory", metavar="FILE", help="what reading this takes, over its matrix, and nothing else")
    args = parse_arguments(parser)
    if args.memory:
        print(memory_of_reading(args.memory))
        return 0
    table, origin = make_table(args)
    with tempfile.TemporaryDirectory() as folder:
        figures, targets = measure(table, Path(folder), args)
    size = {"data": origin, "rows": len(table), "dim": table.dim, "threads": args.threads}
    return report(size | figures, targets, args)


def make_table(args: argparse.Namespace) -> tuple[EmbeddingTable, str]:
    """A table of real rows, or of random rows if the shared data are missing, and which of the two it is."""
    if not missing_data_reason():
        return load_table("ru", args.words), "ru"
    rows = np.random.default_rng(0).normal(size=(args.words, args.dim)).astype(np.float32)
    return EmbeddingTable([f"word{i}" for i in range(args.words)], rows), "random"


def measure(table: EmbeddingTable, folder: Path, args: argparse.Namespace) -> tuple[dict[str, Any], list[Target]]:
    """All figures by name."""
    vec, native = folder / "table.vec", folder / "table.safetensors"
    table.write(vec)
    table.write(native)
    again = EmbeddingTable.read(vec)
    assert again.words == table.words
    assert np.array_equal(again.rows, table.rows)
    del again
    contents = {path: path.read_bytes() for path in (vec, native)}
    plain = folder / "plain"
    best = best_of(
        args.repeat,
        {
            "read .vec": lambda: EmbeddingTable.read(vec),
            "open native": lambda: EmbeddingTable.read(native).words[-1],
            "open native, with index": lambda: EmbeddingTable.read(native).index,
            "write .vec": lambda: table.write(vec),
            "write native": lambda: table.write(native),
            "plain write of .vec": lambda: plain.write_bytes(contents[vec]),
            "plain write of native": lambda: plain.write_bytes(contents[native]),
        },
    )
    megabytes = len(contents[vec]) / 1e6
    memory = run_script(__file__, "--memory", vec, "--threads", args.threads)
    figures: dict[str, Any] = {
        ".vec (MB)": round(megabytes, 1),
        **{f"{name} (s)": round(time, 4) for name, time in best.items()},
        "read .vec (MB/s)": round(megabytes / best["read .vec"], 1),
        "write .vec (MB/s)": round(megabytes / best["write .vec"], 1),
        "write native (MB/s)": round(len(contents[native]) / 1e6 / best["write native"], 1),
        "write .vec / plain write": round(best["write .vec"] / best["plain write of .vec"], 2),
    }
    native_ratio = best["write native"] / best["plain write of native"]
    targets = [
        Target("reading: peak memory / matrix", round(memory, 3), at_most=2.5),
        Target("open native, with index (s)", round(best["open native, with index"], 4), at_most=0.2),
        Target("write native / plain write", round(native_ratio, 2), at_most=1.5),
    ]
    if not args.skip_gensim:
        theirs = measure_gensim(table, vec, folder)
        figures |= {f"gensim {name} (s)": round(time, 3) for name, time in theirs.items()}
        figures["writing: times faster than gensim"] = round(theirs["write"] / best["write .vec"], 2)
        ratio = theirs["read"] / best["read .vec"]
        targets.append(Target("reading: times faster than gensim", round(ratio, 2), at_least=10))
    return figures, targets


def measure_gensim(table: EmbeddingTable, vec: Path, folder: Path) -> dict[str, float]:
    """Seconds that gensim takes to read and write the same file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from gensim.models import KeyedVectors
    keyed = table.to_gensim()
    return {
        "write": time_seconds(lambda: keyed.save_word2vec_format(str(folder / "gensim.vec"))),
        "read": time_seconds(lambda: KeyedVectors.load_word2vec_format(str(vec))),
    }


def memory_of_reading(path: str) -> float:
    """Growth of the peak resident set while reading, divided by the size of the matrix (Linux only)."""
    import polars as _  # noqa: F401 (its own size is not counted)

    import bilex.io.text as _text  # noqa: F401

    table: list[EmbeddingTable] = []
    grown = memory_growth(lambda: table.append(EmbeddingTable.read(path)))
    return grown / table[0].rows.nbytes


if __name__ == "__main__":
    raise SystemExit(main())
