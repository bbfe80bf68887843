"""Facts about the installation for bug reports, and a self-check."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
import time
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from bilex.io.memory import container_limit, free_memory

PACKAGES = ("torch", "numpy", "scipy", "polars", "safetensors", "click", "rich")
DEVELOPMENT_EXTRAS = ("test", "docs", "benchmark")
"""Extras that users do not need."""


def examine() -> dict[str, Any]:
    """All facts in plain values; None for what is unknown on this system."""
    return {
        "bilex": version("bilex"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: installed(name) for name in PACKAGES},
        "extras": extras(),
        "processors": processors(),
        "threads": threads(),
        "blas": blas(),
        "gpus": gpus(),
        "memory": memory(),
        "data_folder": data_folder(),
    }


def self_check() -> dict[str, Any]:
    """Align two tiny tables, one a rotation of the other; save, load and evaluate. P@1 must be 100."""
    started = time.perf_counter()
    try:
        found = _p_at_1_of_rotation()
        error = None if found == 100 else f"P@1 is {found:.1f}; a working installation gives 100"
    except Exception as problem:  # of any kind: the report is there to show it
        error = f"{type(problem).__name__}: {problem}"
    return {"passed": error is None, "error": error, "seconds": round(time.perf_counter() - started, 2)}


def installed(package: str) -> str | None:
    """The version of a package, or None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def extras() -> dict[str, dict[str, Any]]:
    """Optional dependencies by extra: packages with their versions, and the command that installs missing ones."""
    found: dict[str, dict[str, Any]] = {}
    for requirement in requires("bilex") or []:
        match = re.fullmatch(r"([\w.-]+).*;.*extra == ['\"]([\w-]+)['\"]", requirement)
        if match and match[2] not in DEVELOPMENT_EXTRAS:
            found.setdefault(match[2], {"packages": {}})["packages"][match[1]] = installed(match[1])
    for name, extra in found.items():
        complete = all(extra["packages"].values())
        extra["install"] = None if complete else f"pip install 'bilex[{name}]'"
    return dict(sorted(found.items()))


def processors() -> dict[str, Any]:
    """Processors of the machine, how many this process may use, and the low precisions that large searches start with.

    speedup: how many times as fast as in float32 a search is in a precision that the processor has, as timed here.
    """
    from bilex.search.speedup import gains, speedup
    from bilex.search.topk import PRECISIONS

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    kinds = {kind.__name__.lower(): (kind, PRECISIONS[i + 1 :]) for i, kind in enumerate(PRECISIONS)}
    return {
        "all": os.cpu_count(),
        "usable": usable,
        "fast_with": [name for name, (kind, slower) in kinds.items() if gains(kind, *slower)],
        "speedup": {name: speedup(kind) for name, (kind, _) in kinds.items() if kind.is_native()},
    }


def threads() -> dict[str, Any]:
    """The number of threads of torch, and the environment variables that set it."""
    import torch

    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return {"torch": torch.get_num_threads(), **{name: os.environ[name] for name in names if name in os.environ}}


def blas() -> dict[str, str | None]:
    """The linear algebra libraries of torch and numpy."""
    import numpy as np
    import torch

    own = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
    config: Any = np.show_config(mode="dicts")
    return {
        "torch": own[1] if own else None,
        "numpy": ((config or {}).get("Build Dependencies") or {}).get("blas", {}).get("name"),
    }


def gpus() -> list[dict[str, Any]]:
    """The GPUs that torch can use."""
    import torch

    if not torch.cuda.is_available():
        return []
    found = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    return [{"name": one.name, "gigabytes": _gigabytes(one.total_memory)} for one in found]


def memory() -> dict[str, float | None]:
    """Gigabytes of the machine, free gigabytes, and the limit of the container; None for what is unknown."""
    total = None
    if hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= set(os.sysconf_names):
        total = _gigabytes(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    free, limit = free_memory(), container_limit()
    return {
        "total": total,
        "free": None if free is None else _gigabytes(free),
        "limit": None if limit is None else _gigabytes(limit),
    }


def data_folder() -> dict[str, Any]:
    """The folder of fetched data, whether it exists, and the free disk space. The home folder is shown as ~."""
    from bilex.data.folder import data_folder as get_folder

    folder = get_folder().absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return {
        "folder": str(folder).replace(str(Path.home()), "~", 1),
        "exists": folder.exists(),
        "free_gigabytes": _gigabytes(shutil.disk_usage(existing).free),
    }


def _p_at_1_of_rotation() -> float:
    """P@1 on words that were not trained on, of a run that was saved and loaded again."""
    import numpy as np

    from bilex import Alignment, EmbeddingTable, Lexicon, align

    rng = np.random.default_rng(0)
    x, rotation = rng.standard_normal((60, 8)), np.linalg.qr(rng.standard_normal((8, 8)))[0]
    tables = [EmbeddingTable([f"{i}" for i in range(60)], rows.astype(np.float32)) for rows in (x, x @ rotation)]
    pairs = [(f"{i}", f"{i}") for i in range(60)]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        align(
            tables[0], tables[1], Lexicon.from_pairs(pairs[:40]), method="procrustes", device="cpu", vectors_only=True
        ).save(run)
        return Alignment.load(run, device="cpu").evaluate(Lexicon.from_pairs(pairs[40:])).scores.p_at_1


def _gigabytes(count: int) -> float:
    return round(count / 1e9, 1)
