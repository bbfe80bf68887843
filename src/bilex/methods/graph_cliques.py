"""VecMap without a dictionary, from aligned cliques of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from bilex.errors import AlignmentError
from bilex.induction.cliques import find_cliques, import_networkx
from bilex.induction.confidence import extend_dictionary
from bilex.induction.initial import similar_profiles
from bilex.methods.base import Requirement
from bilex.methods.vecmap_unsupervised import VecMapUnsupervised

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from bilex.training.trace import Trace


@dataclass(frozen=True, kw_only=True)
class GraphCliques(VecMapUnsupervised):
    """Self-learning with score dropout, from aligned cliques of words, after Ren et al. (needs the extra `graph`).

    1. In each language, a graph links words that are mutually among their `neighbours` nearest: the most similar of
       these pairs, so that a word has `degree` links on average.
    2. Each maximal clique with `min_size` words or more has a vector, the mean of its words, and a central word, the
       word nearest to the mean.
    3. Cliques are aligned by their similarity profiles, as words are in `vecmap_unsupervised`: mutual best by CSLS.
    4. The central words of aligned cliques are the first dictionary of VecMap's self-learning. A given dictionary is
       added to it.

    The authors released no program. This follows their paper but is not a reproduction. Our own choices are: which
    words are linked; which cliques are taken (the largest of each central word, then those of the most frequent central
    words); the alignment by profiles in bands of rank; and VecMap's self-learning. Their last step, a separate map for
    each group of words, is left out.
    """

    name = "graph_cliques"
    paper = (
        "Ren, Liu, Zhou and Ma (2020). A graph-based coarse-to-fine method for unsupervised bilingual lexicon "
        "induction. ACL"
    )

    requires = Requirement("networkx", "networkx", "graph")
    renamed: ClassVar[dict[str, str]] = VecMapUnsupervised.renamed | {"least": "min_size"}  # old names

    words: int = 10_000
    """The graph of each language has this many of the most frequent words."""
    neighbours: int = 20
    """Two words can be linked only if each is among this many nearest words of the other."""
    degree: float = 10.0
    """Average number of links per word; the most similar pairs are linked."""
    min_size: int = 3
    """Smallest number of words in a clique."""
    cliques: int = 4000
    """Number of cliques that are aligned, those with the most frequent central words."""
    keep_dictionary: bool = False
    """Whether the first dictionary is used in all rounds, or in the first round only."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._needs_at_least(1, "words", "neighbours", "cliques")
        self._needs_at_least(3, "min_size")  # with two words, none is central
        self._needs_above_zero("degree")

    @property
    def rank_cut(self) -> int:
        """Links and rounds with dropout are among the most frequent words only."""
        return min(self.dropout_max_rank, self.words)

    def induce(self, x: Tensor, z: Tensor, dictionary: Tensor, *, generator: Generator, trace: Trace) -> Tensor:
        """The pairs after self-learning from the central words."""
        central = self.central_pairs(x, z, generator, trace)
        return super().induce(x, z, extend_dictionary(dictionary, central), generator=generator, trace=trace)

    def central_pairs(self, x: Tensor, z: Tensor, generator: Generator, trace: Trace) -> Tensor:
        """The central words of aligned cliques, (p, 2)."""
        import_networkx(self.name)  # fail now, not after the first search
        source, target = (
            find_cliques(rows[: self.words], neighbours=self.neighbours, degree=self.degree, min_size=self.min_size)
            for rows in (x, z)
        )
        fewer = min(len(source.central), len(target.central))
        if fewer < 2:
            raise AlignmentError(
                f"{self.name} has failed: one language has {fewer} cliques of {self.min_size} words or more, needed 2; "
                "set a higher degree, or more neighbours"
            )
        aligned = similar_profiles(source.vectors, target.vectors, generator, max_rank=self.cliques, direction="mutual")
        trace(source_cliques=len(source.central), target_cliques=len(target.central), pairs=len(aligned.pairs))
        return torch.stack([source.central[aligned.pairs[:, 0]], target.central[aligned.pairs[:, 1]]], 1)
