"""What a low precision gains on this machine: timed once, and remembered in the user's cache folder."""

from __future__ import annotations

import platform
import re
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from bilex.search.blocks import KEY_BLOCK, score_blocks
from bilex.search.lists import empty_lists, merge
from bilex.search.problem import block_width
from bilex.storage.files import atomic_write
from bilex.storage.folders import cache_folder
from bilex.storage.strict_json import read_json, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bilex.search.blocks import Blocks
    from bilex.search.low_precision import LowPrecision

MIN_SPEEDUP = 1.15
"""A precision is used if it is faster by this factor than what would be used without it."""
QUERIES, KEYS, DIM, N = 1248, 4 * KEY_BLOCK, 304, 10
"""The search that is timed."""
REPEATS = 3
FILE = "speedup.json"


def gains(kind: type[LowPrecision], *slower: type[LowPrecision]) -> bool:
    """Whether this precision is worth its while here: faster than float32, and than those that leave less unproven."""
    others = [speedup(other) for other in slower if other.is_native()]
    return kind.is_native() and speedup(kind) >= MIN_SPEEDUP * max([1.0, *others])


@cache
def speedup(kind: type[LowPrecision]) -> float:
    """How many times as fast as in float32 a large search goes through its blocks of scores in this precision.

    Timed for this processor, number of threads and release of torch, and then remembered, so that later processes
    choose alike.
    """
    path, machine, name = cache_folder() / FILE, _machine(), kind.__name__.lower()
    remembered = _read(path)
    known = remembered.get(machine)
    if isinstance(known, dict) and isinstance(known.get(name), int | float):
        return float(known[name])
    measured = round(_measure(kind), 2)
    _write(path, remembered | {machine: (known if isinstance(known, dict) else {}) | {name: measured}})
    return measured


def _measure(kind: type[LowPrecision]) -> float:
    """Seconds in float32 / seconds in this precision, the best of several, taken in turns."""
    generator = torch.Generator().manual_seed(0)
    queries, keys = (torch.randn(rows, DIM, generator=generator) / DIM**0.5 for rows in (QUERIES, KEYS))
    rounded = kind.of(queries, keys, bias=None, budget=1 << 30)
    if rounded is None:
        return 0.0
    size = kind.shortlist_size(N)
    width = block_width(size, rounded)

    def in_full() -> None:
        _list_best(score_blocks(queries, keys, width=KEY_BLOCK), N + 1, queries.dtype)

    def in_low_precision() -> None:
        _list_best(rounded.blocks(0, QUERIES, width=width, budget=1 << 30), size, rounded.dtype)

    seconds = [(_seconds(in_full), _seconds(in_low_precision)) for _ in range(REPEATS)]
    return min(full for full, _ in seconds) / min(low for _, low in seconds)


def _list_best(blocks: Iterable[Blocks], size: int, dtype: torch.dtype) -> None:
    for rows, parts in blocks:
        best = empty_lists(len(rows), size, rows, dtype)
        for start, scores in parts:
            merge(best, start, scores)


def _seconds(run: Callable[[], None]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def _machine() -> str:
    """What the speed depends on."""
    model = platform.processor() or platform.machine()
    cpus = Path("/proc/cpuinfo")
    if cpus.is_file() and (found := re.search(r"^model name\s*: (.+)$", cpus.read_text(errors="replace"), re.M)):
        model = found[1]
    return f"{model}, {torch.get_num_threads()} threads, torch {torch.__version__}"


def _read(path: Path) -> dict[str, Any]:
    """What is remembered; nothing if that cannot be read."""
    try:
        found = read_json(path)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, value: dict[str, Any]) -> None:
    """Remember, if the folder can be written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as temporary:
            temporary.write_text(to_json(value, indent=2) + "\n", encoding="utf-8")
    except OSError:
        return
