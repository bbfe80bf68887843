"""First pairs without a dictionary: words spelt alike, numerals, or alike in how similar they are to the others."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal

import torch
from torch.nn.functional import normalize

from bilex.induction.neighbours import RARE_FROM, Induction, Near
from bilex.io.dictionary import fits_line
from bilex.lexicon import Lexicon
from bilex.normalize import unit

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.induction.neighbours import Induced
    from bilex.table import EmbeddingTable

Spelling = Literal["identical", "numerals"]
NUMERAL = re.compile(r"[0-9]+([.,:/-][0-9]+)*%?")

POWERS = (0.5, 1.0, 2.0)
"""Of the singular values."""
BANDS = (100, 400, 1500)
"""Ranks where bands end."""
RANK_WEIGHT = 0.3
"""By so much two words are less similar if the rank of one is e times that of the other."""
RANK_STEP = 0.05
LISTED = 120
"""Nearest profiles that are listed: profiles are so long that whatever needs no more of their products is fast."""


def same_spelling(source: EmbeddingTable, target: EmbeddingTable, which: Spelling) -> Lexicon:
    """Words that both tables have and a dictionary can hold, or the numerals among them, in order of frequency."""
    shared = [word for word in source.words if word in target and fits_line(word)]
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
) -> Induced:
    """Pairs of frequent words whose similarities to the others of their language are distributed most alike.

    A word's profile does not depend on its language's axes. From the singular values of a table, X = U S Vᵀ, come three
    sorts of similarity between its words: U S^p Uᵀ with p = ½, 1 and 2, which is X Xᵀ. Sorted, they are the profile.
    Words that mean the same have about the same rank in most languages: with `ranks`, the similarities are sorted
    within bands of rank, and the word's own rank is part of its profile. Rows may be anything else in such an order.

    Artetxe, Labaka and Agirre (2018), A robust self-learning method for fully unsupervised cross-lingual mappings, ACL,
    have p = 1 and no ranks. With these, three times as many of the first pairs are right, or more.
    """
    n = min(max_rank, len(x), len(z))
    profiles = [_profiles(table[:n], [edge for edge in BANDS if ranks and edge < n]) for table in (x, z)]
    if ranks:
        profiles = [unit(torch.cat([profile, _rank_code(n).to(profile)], 1)) for profile in profiles]
    near = Near.search(profiles[0], profiles[1], min(n, LISTED))
    return Induction(max_rank=n, direction=direction)(profiles[0], profiles[1], generator, near)


def _profiles(table: Tensor, edges: list[int]) -> Tensor:
    u, s, _ = torch.linalg.svd(table, full_matrices=False)
    profiles = table.new_empty(len(table), len(POWERS) * len(table))
    for power, part in zip(POWERS, profiles.chunk(len(POWERS), dim=1), strict=True):
        part.copy_(_normalize_(_sort_in_bands_((u * s**power) @ u.T, edges)))
    return _normalize_(profiles)


def _sort_in_bands_(similarities: Tensor, edges: list[int]) -> Tensor:
    """Each row sorted within each band, in place; all bands have the same weight."""
    for band in torch.tensor_split(similarities, edges, dim=1):
        _sort_(band)
        band /= band.shape[1] ** 0.5
    return similarities


def _sort_(rows: Tensor) -> None:
    """Each row, in place; on CPUs by NumPy, which is several times as fast."""
    if rows.device.type != "cpu":
        rows.copy_(rows.sort(1).values)
        return
    parts = [part.numpy() for part in torch.tensor_split(rows, torch.get_num_threads())]
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(lambda part: part.sort(axis=1), parts))


def _rank_code(n: int) -> Tensor:
    """Which ranks each is above: (n, t); inner products are less by RANK_WEIGHT / 2 · |log rank − log rank'|."""
    log_rank = torch.log(torch.arange(n) + RARE_FROM)
    steps = torch.arange(float(log_rank[0]), float(log_rank[-1]), RANK_STEP) + RANK_STEP / 2
    code: Tensor = torch.where(log_rank[:, None] > steps, 1.0, -1.0) * (RANK_WEIGHT * RANK_STEP) ** 0.5 / 2
    return code


def _normalize_(rows: Tensor) -> Tensor:
    """Unit, center, unit, in place: these tables are the largest there are here."""
    normalize(rows, dim=1, out=rows)
    rows -= rows.mean(0)
    return normalize(rows, dim=1, out=rows)
