#!/usr/bin/env python3
"""Reading, opening and writing 200,000 x 300 word vectors, next to gensim in the same run.

    python benchmarks/read_tables.py [--words N] [--json] [--skip-gensim]

Takes the table `ru` of BILEX_SHARED (default ../shared), or makes random rows when it is not there. Times are wall
clock; the memory of reading is the growth of the peak resident size of a fresh process, over the size of the matrix.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bilex.table import EmbeddingTable

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
MEASURE_MEMORY = """
import re, sys
from pathlib import Path
import numpy, polars
import bilex.io.text
from bilex.table import EmbeddingTable

def peak():  # not ru_maxrss, which a child process inherits from its parent
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

before = peak()
table = EmbeddingTable.read(sys.argv[1])
print((peak() - before) / table.rows.nbytes)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=200_000, help="rows of the table")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--skip-gensim", action="store_true", help="measure ours only")
    args = parser.parse_args()
    table, origin = load_table(args.words)
    with tempfile.TemporaryDirectory() as folder:
        results = {"data": origin, "rows": len(table), "dim": table.dim, "threads": threads()}
        results |= measure(table, Path(folder), with_gensim=not args.skip_gensim)
    print(json.dumps(results, indent=2) if args.json else as_text(results))


def load_table(n: int) -> tuple[EmbeddingTable, str]:
    """Real rows where the shared data are, random ones otherwise; and which of the two."""
    shared = Path(os.environ.get("BILEX_SHARED", ROOT.parent / "shared")) / "data"
    if (shared / "vectors" / "ru.npz").is_file():
        sys.path.insert(0, str(shared))
        from unpack import load

        words, rows = load("ru", n)
        return EmbeddingTable(words, np.ascontiguousarray(rows, np.float32)), f"ru of {shared}"
    print(f"no table 'ru' under {shared} (set BILEX_SHARED); random rows instead", file=sys.stderr)
    rows = np.random.default_rng(0).normal(size=(n, 300)).astype(np.float32)
    return EmbeddingTable([f"word{i}" for i in range(n)], rows), "random"


def measure(table: EmbeddingTable, folder: Path, *, with_gensim: bool) -> dict[str, Any]:
    """All figures by name."""
    vec, native = folder / "table.vec", folder / "table.safetensors"
    write, _ = best_of(1, lambda: table.write(vec))
    native_write, _ = best_of(1, lambda: table.write(native))
    read, again = best_of(3, lambda: EmbeddingTable.read(vec))
    assert again.words == table.words
    assert np.array_equal(again.rows, table.rows)
    del again
    reopen, _ = best_of(3, lambda: EmbeddingTable.read(native).index)
    results = {
        "file_mb": vec.stat().st_size / 1e6,
        "read_vec_s": read,
        "read_vec_peak_memory_over_matrix": peak_memory(vec),
        "write_vec_s": write,
        "write_native_s": native_write,
        "reopen_native_and_index_s": reopen,
        "reopen_native_s": best_of(3, lambda: EmbeddingTable.read(native).words[-1])[0],
    }
    return results | (measure_gensim(table, vec, folder, results) if with_gensim else {})


def measure_gensim(table: EmbeddingTable, vec: Path, folder: Path, ours: dict[str, Any]) -> dict[str, Any]:
    """The same file read and written once by gensim, and the ratios."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from gensim.models import KeyedVectors
    keyed = table.to_gensim()
    write, _ = best_of(1, lambda: keyed.save_word2vec_format(str(folder / "gensim.vec")))
    read, _ = best_of(1, lambda: KeyedVectors.load_word2vec_format(str(vec)))
    return {
        "gensim_read_s": read,
        "gensim_write_s": write,
        "times_faster_than_gensim_reading": read / ours["read_vec_s"],
        "times_faster_than_gensim_writing": write / ours["write_vec_s"],
    }


def best_of(n: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """Shortest wall-clock time of n runs, and the last result."""
    times, result = [], None
    for _ in range(n):
        result = None
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def peak_memory(vec: Path) -> float:
    """Growth of the peak resident size while reading, over the size of the matrix (Linux only)."""
    if sys.platform != "linux":
        return float("nan")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE_MEMORY, str(vec)], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def threads() -> int:
    """Threads that reading text uses."""
    import polars as pl

    return pl.thread_pool_size()


def as_text(results: dict[str, Any]) -> str:
    """One figure on each line."""
    width = max(map(len, results))
    return "\n".join(
        f"{k:{width}}  {v:.3f}" if isinstance(v, float) else f"{k:{width}}  {v}" for k, v in results.items()
    )


if __name__ == "__main__":
    main()
