"""VecMap without a dictionary, from cliques of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from bilex.errors import AlignmentError
from bilex.induction.cliques import find_cliques, import_networkx
from bilex.induction.confidence import extend_dictionary
from bilex.induction.initial import similar_profiles
from bilex.methods.vecmap_unsupervised import VecMapUnsupervised

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class GraphCliques(VecMapUnsupervised):
    """Self-learning with chance, from aligned groups of words: graph cliques, after Ren et al. (needs extra `graph`).

    In each language, words that are among each other's `neighbours` nearest are linked, the most similar ones of these,
    so that a word has `degree` links on average. Each maximal clique of this graph, of `least` words or more, has the
    mean of their vectors, and a central word, the one nearest to it. Cliques are aligned by their similarity profiles,
    as words are in `vecmap_unsupervised`: those that are each other's best by CSLS. The central words of aligned
    cliques are the first dictionary of VecMap's self-learning; one that is given is added to it.

    The authors released no program, and this is a reading of their paper, not a reproduction: what is linked and which
    cliques are taken (of those of one central word the largest, then those of the most frequent central words), the
    alignment by profiles in bands of rank, and VecMap's self-learning are ours. Their last step, a map of its own for
    each group of words, is left out.
    """

    name = "graph_cliques"
    paper = (
        "Ren, Liu, Zhou and Ma (2020). A graph-based coarse-to-fine method for unsupervised bilingual lexicon "
        "induction. ACL"
    )

    words: int = 10_000
    """So many of the most frequent words make the graph of each language."""
    neighbours: int = 20
    """Two words are linked only if each is among so many nearest of the other."""
    degree: float = 10.0
    """Links of a word on average; of all links the most similar ones are taken."""
    least: int = 3
    """Words that a clique has at least."""
    cliques: int = 4000
    """So many cliques are aligned, those of the most frequent central words."""
    keep_seed: bool = False
    """Whether the first dictionary stays among the pairs of all rounds."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "words", "neighbours", "cliques")
        self._needs_at_least(3, "least")  # of two words none is the central one
        self._needs_above_zero("degree")

    @property
    def rank_cut(self) -> int:
        """Links and chance are among the first words only."""
        return min(self.first, self.words)

    def induce(self, x: Tensor, z: Tensor, seed: Tensor, *, generator: Generator, trace: Trace) -> Tensor:
        """The pairs that self-learning from the central words ends with."""
        central = self.central_pairs(x, z, generator, trace)
        return super().induce(x, z, extend_dictionary(seed, central), generator=generator, trace=trace)

    def central_pairs(self, x: Tensor, z: Tensor, generator: Generator, trace: Trace) -> Tensor:
        """The central words of aligned cliques, (p, 2)."""
        import_networkx(self.name)  # rather now than after the first search
        source, target = (
            find_cliques(rows[: self.words], neighbours=self.neighbours, degree=self.degree, min_size=self.least)
            for rows in (x, z)
        )
        fewer = min(len(source.central), len(target.central))
        if fewer < 2:
            raise AlignmentError(
                f"{self.name} has failed: {fewer} cliques of {self.least} words or more in one of the languages, "
                "needed 2; set a higher degree, or more neighbours"
            )
        found = similar_profiles(source.vectors, target.vectors, generator, max_rank=self.cliques, direction="mutual")
        trace(source_cliques=len(source.central), target_cliques=len(target.central), pairs=len(found.pairs))
        return torch.stack([source.central[found.pairs[:, 0]], target.central[found.pairs[:, 1]]], 1)
