"""Plain nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bilex.retrieval.base import Retrieval


@dataclass(frozen=True, kw_only=True)
class Nearest(Retrieval):
    """s(q, c) = cos(q, c)."""

    name = "nn"

    def penalty(self, *_: Any, **__: Any) -> None:
        """There are no penalties."""
