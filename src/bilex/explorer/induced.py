"""The best translations of every word in both directions, found once and kept in the run folder."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes

from bilex.files import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from bilex.linalg.blocks import Progress
    from bilex.retrieval import CSLS, Index
    from bilex.retrieval.base import Direction

DIRECTIONS: tuple[Direction, Direction] = ("forward", "backward")
N = 10
"""Translations kept for each word."""


class Best(NamedTuple):
    """Rows and scores of the best translations of each word of a table, (n, N), best first."""

    rows: Tensor
    scores: Tensor


class Induced:
    """What `bilex explore` keeps in RUN/cache; a folder that cannot be written to just keeps nothing."""

    def __init__(self, index: Index, retrieval: CSLS, folder: Path | None) -> None:
        self.index = index
        self._stem = None if folder is None else folder / "cache" / f"explore-{retrieval.name}-k={retrieval.k}"
        self.best: dict[Direction, Best] = {}
        for direction in DIRECTIONS:
            self._read(direction)

    def find(self, progress: Progress | None = None) -> None:
        """Search the translations of every word, unless they are known."""
        if len(self.best) == len(DIRECTIONS):
            return
        for direction, found in zip(DIRECTIONS, self.index.topk_both(N, progress=progress), strict=True):
            best = Best(found.indices.int().cpu(), found.values.cpu())
            self._write(direction, best)
            self.best[direction] = best

    def _read(self, direction: Direction) -> None:
        if self._stem is None:
            return
        with contextlib.suppress(OSError, SafetensorError, KeyError):
            arrays = load_file(self._file(direction))
            # Copied: a file that is cut short while it is mapped into memory would end the program.
            best = Best(arrays["rows"].clone(), arrays["scores"].clone())
            if self._fits(direction, best):
                self.best[direction] = best

    def _fits(self, direction: Direction, best: Best) -> bool:
        """Whether a file is of these tables; it may have been copied from another run, or be damaged."""
        queries, candidates = (self.index.x, self.index.z) if direction == "forward" else (self.index.z, self.index.x)
        shape = (len(queries), min(N, len(candidates)))
        if best.rows.shape != shape or best.scores.shape != shape:
            return False
        return bool(best.rows.min() >= 0) and bool(best.rows.max() < len(candidates))

    def _write(self, direction: Direction, best: Best) -> None:
        if self._stem is None:
            return
        with contextlib.suppress(OSError, SafetensorError):
            self._stem.parent.mkdir(exist_ok=True)
            with replacing(self._file(direction)) as temporary:
                temporary.write_bytes(to_bytes({"rows": best.rows.contiguous(), "scores": best.scores.contiguous()}))

    def _file(self, direction: Direction) -> Path:
        assert self._stem is not None
        return self._stem.with_name(f"{self._stem.name}.{direction}.safetensors")
