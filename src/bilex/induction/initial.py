"""First pairs without a dictionary: identical spelling, numerals, or similarity profiles."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal

import torch
from torch.nn.functional import normalize

from bilex.induction.induction import RANK_OFFSET, Induction
from bilex.induction.neighbours import NearestNeighbours
from bilex.io.dictionary import is_writable
from bilex.lexicon import Lexicon
from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.induction.induction import InducedPairs
    from bilex.table import EmbeddingTable

Spelling = Literal["identical", "numerals"]
NUMERAL = re.compile(r"[0-9]+([.,:/-][0-9]+)*%?")

POWERS = (0.5, 1.0, 2.0)
"""Exponents p of the singular values."""
BANDS = (100, 400, 1500)
"""Ranks at which a band ends."""
RANK_WEIGHT = 0.3
"""The similarity of two words is lower by this if the rank of one is e times that of the other."""
RANK_STEP = 0.05
SHORTLIST_SIZE = 120
"""Nearest profiles that are searched: profiles are so long that a shortlist, which saves products, pays here."""


def same_spelling(source: EmbeddingTable, target: EmbeddingTable, which: Spelling) -> Lexicon:
    """Words that both tables have and a dictionary can hold, or the numerals among them, in order of frequency."""
    shared = [word for word in source.words if word in target and is_writable(word)]
    if which == "numerals":
        shared = [word for word in shared if NUMERAL.fullmatch(word)]
    return Lexicon.from_pairs((word, word) for word in shared)


def similar_profiles(
    x: Tensor,
    z: Tensor,
    generator: Generator,
    *,
    max_rank: int = 4000,
    ranks: bool = True,
    direction: Literal["union", "mutual"] = "union",
) -> InducedPairs:
    """Pairs of frequent words with the most similar profiles:  sort(U S^p Uᵀ) of X = U S Vᵀ, p = ½, 1, 2.  X: (n, d).

    A profile has the sorted similarities of a word to the other words of its language. It does not depend on the axes
    of the table. Words with the same meaning have about the same rank in most languages: with `ranks`, similarities are
    sorted within bands of rank, and the rank of the word is part of its profile. Rows may also be of other things than
    words, in such an order.

    Artetxe, Labaka and Agirre (2018), A robust self-learning method for fully unsupervised cross-lingual mappings, ACL,
    have p = 1 and no ranks. The other powers and the ranks make at least three times as many of the first pairs right.
    """
    n = min(max_rank, len(x), len(z))
    profiles = [_profiles(table[:n], [edge for edge in BANDS if ranks and edge < n]) for table in (x, z)]
    if ranks:
        profiles = [unit(torch.cat([profile, _rank_code(n).to(profile)], 1)) for profile in profiles]
    neighbours = NearestNeighbours.search(profiles[0], profiles[1], min(n, SHORTLIST_SIZE))
    return Induction(max_rank=n, direction=direction)(profiles[0], profiles[1], generator, neighbours)


def _profiles(table: Tensor, edges: list[int]) -> Tensor:
    """Profiles of the rows of a table (n, d): (n, 3 n); edges: ranks at which bands end."""
    u, s, _ = torch.linalg.svd(table, full_matrices=False)
    profiles = table.new_empty(len(table), len(POWERS) * len(table))
    for power, part in zip(POWERS, profiles.chunk(len(POWERS), dim=1), strict=True):
        part.copy_(_normalize_(_sort_in_bands_((u * s**power) @ u.T, edges)))
    return _normalize_(profiles)


def _sort_in_bands_(similarities: Tensor, edges: list[int]) -> Tensor:
    """Sort each row within each band, in place; all bands get the same weight."""
    for band in torch.tensor_split(similarities, edges, dim=1):
        _sort_(band)
        band /= band.shape[1] ** 0.5
    return similarities


def _sort_(rows: Tensor) -> None:
    """Sort each row, in place; on CPUs by NumPy, which is several times as fast."""
    if rows.device.type != "cpu":
        rows.copy_(rows.sort(1).values)
        return
    parts = [part.numpy() for part in torch.tensor_split(rows, torch.get_num_threads())]
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(lambda part: part.sort(axis=1), parts))


def _rank_code(n: int) -> Tensor:
    """Vectors (n, t) with a_i · a_j = const − RANK_WEIGHT / 2 · |log rank_i − log rank_j|."""
    log_rank = torch.log(torch.arange(n) + RANK_OFFSET)
    steps = torch.arange(float(log_rank[0]), float(log_rank[-1]), RANK_STEP) + RANK_STEP / 2
    code: Tensor = torch.where(log_rank[:, None] > steps, 1.0, -1.0) * (RANK_WEIGHT * RANK_STEP) ** 0.5 / 2
    return code


def _normalize_(rows: Tensor) -> Tensor:
    """Unit, center, unit, in place: no other tables here are as large."""
    normalize(rows, dim=1, out=rows)
    rows -= rows.mean(0)
    return normalize(rows, dim=1, out=rows)
