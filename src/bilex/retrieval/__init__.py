"""Which target a mapped source word goes to: nearest neighbour, CSLS, inverted softmax."""

from bilex.retrieval.base import Retrieval
from bilex.retrieval.csls import CSLS
from bilex.retrieval.index import Index
from bilex.retrieval.inverted_softmax import InvertedSoftmax
from bilex.retrieval.nearest import Nearest

RETRIEVALS: dict[str, type[Retrieval]] = {"csls": CSLS, "nn": Nearest, "isf": InvertedSoftmax}

__all__ = ["CSLS", "RETRIEVALS", "Index", "InvertedSoftmax", "Nearest", "Retrieval"]
