"""RAPO without a dictionary."""

from __future__ import annotations

from dataclasses import dataclass

from bilex.methods.rapo_semi import RapoSemi


@dataclass(frozen=True, kw_only=True)
class RapoUnsupervised(RapoSemi):
    """RAPO on pairs that unsupervised VecMap has found, then rounds on its own; its paper calls this impossible."""

    name = "rapo_unsupervised"
    needs_pairs = False

    rounds: int = 2
