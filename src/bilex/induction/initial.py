"""First pairs without a dictionary: words spelt alike, numerals, or alike in how similar they are to the others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import torch

from bilex.induction.neighbours import Induction
from bilex.lexicon import Lexicon
from bilex.normalize import Normalizer

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.induction.neighbours import Induced
    from bilex.table import EmbeddingTable

Spelling = Literal["identical", "numerals"]
NUMERAL = re.compile(r"[0-9]+([.,:/-][0-9]+)*%?")


def same_spelling(source: EmbeddingTable, target: EmbeddingTable, which: Spelling) -> Lexicon:
    """Words that both tables have, or those of them that are numerals, as a dictionary, in order of frequency."""
    shared = [word for word in source.words if word in target]
    if which == "numerals":
        shared = [word for word in shared if NUMERAL.fullmatch(word)]
    return Lexicon.from_pairs((word, word) for word in shared)


def similar_profiles(x: Tensor, z: Tensor, generator: Generator, *, max_rank: int = 4000) -> Induced:
    """Pairs of frequent words whose sorted similarities to all others of their language are most alike.

    M = (X Xᵀ)^½, rows sorted, normalized: a description of each word that does not depend on the language's axes.
    Artetxe, Labaka and Agirre (2018). A robust self-learning method for fully unsupervised cross-lingual mappings. ACL.
    """
    n = min(max_rank, len(x), len(z))
    profiles = [_profiles(table[:n]) for table in (x, z)]
    return Induction(max_rank=n, direction="union")(profiles[0], profiles[1], generator)


def _profiles(table: Tensor) -> Tensor:
    u, s, _ = torch.linalg.svd(table, full_matrices=False)
    return Normalizer.fit(((u * s) @ u.T).sort(1).values, ("unit", "center", "unit"))[1]
