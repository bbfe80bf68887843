"""VecMap with self-learning from a dictionary."""

from __future__ import annotations

from dataclasses import dataclass

from bilex.methods.vecmap_unsupervised import VecMapUnsupervised


@dataclass(frozen=True, kw_only=True)
class VecMapSemi(VecMapUnsupervised):
    """Self-learning with chance, from a dictionary: VecMap, semi-supervised; from words spelt alike, VecMap, identical.

    What `vecmap_unsupervised` is without similarity profiles.
    """

    name = "vecmap_semi"
    needs_pairs = True
