"""Bilingual lexicon induction: from two sets of word vectors and a small dictionary to a large one.

    >>> from bilex import align
    >>> alignment = align("en.vec", "fr.vec", "en-fr.tsv")
    >>> alignment.translate("house")

Names are imported at first use, so that `import bilex` and `bilex --help` do not wait for torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bilex.aligner import Aligner
    from bilex.alignment import Alignment, Translation
    from bilex.candidates import Candidate
    from bilex.entry import Entry
    from bilex.errors import (
        AlignmentError,
        BilexError,
        DataError,
        LexiconError,
        MissingExtraError,
        SettingsError,
        TableError,
        UnknownWordError,
    )
    from bilex.evaluation.held_out import Agreement, HeldOut
    from bilex.evaluation.hubness import Hubness
    from bilex.evaluation.precision import Band, Evaluation, Scores
    from bilex.evaluation.similarity import Judgement, Similarity, read_judgements
    from bilex.fitting.fit import align
    from bilex.frames import to_frame
    from bilex.lexicon import Lexicon, LexiconIndex
    from bilex.mapping import LinearMapping, Mapping
    from bilex.methods.base import Method, all_methods, get_method
    from bilex.normalize import Normalizer
    from bilex.retrieval import CSLS, Index, InvertedSoftmax, Nearest, Retrieval
    from bilex.table import EmbeddingTable, ReadReport
    from bilex.training.trace import Trace

_HOMES = {
    "fitting.fit": ["align"],
    "aligner": ["Aligner"],
    "frames": ["to_frame"],
    "alignment": ["Alignment", "Translation"],
    "candidates": ["Candidate"],
    "entry": ["Entry"],
    "errors": [
        "AlignmentError",
        "BilexError",
        "DataError",
        "LexiconError",
        "MissingExtraError",
        "SettingsError",
        "TableError",
        "UnknownWordError",
    ],
    "evaluation.held_out": ["Agreement", "HeldOut"],
    "evaluation.hubness": ["Hubness"],
    "evaluation.precision": ["Band", "Evaluation", "Scores"],
    "evaluation.similarity": ["Judgement", "Similarity", "read_judgements"],
    "lexicon": ["Lexicon", "LexiconIndex"],
    "mapping": ["LinearMapping", "Mapping"],
    "methods.base": ["Method", "all_methods", "get_method"],
    "normalize": ["Normalizer"],
    "retrieval": ["CSLS", "Index", "InvertedSoftmax", "Nearest", "Retrieval"],
    "table": ["EmbeddingTable", "ReadReport"],
    "training.trace": ["Trace"],
}
_MODULES = {name: f"bilex.{module}" for module, names in _HOMES.items() for name in names}

__version__ = "0.1.0"
__all__ = [
    "CSLS",
    "Agreement",
    "Aligner",
    "Alignment",
    "AlignmentError",
    "Band",
    "BilexError",
    "Candidate",
    "DataError",
    "EmbeddingTable",
    "Entry",
    "Evaluation",
    "HeldOut",
    "Hubness",
    "Index",
    "InvertedSoftmax",
    "Judgement",
    "Lexicon",
    "LexiconError",
    "LexiconIndex",
    "LinearMapping",
    "Mapping",
    "Method",
    "MissingExtraError",
    "Nearest",
    "Normalizer",
    "ReadReport",
    "Retrieval",
    "Scores",
    "SettingsError",
    "Similarity",
    "TableError",
    "Trace",
    "Translation",
    "UnknownWordError",
    "align",
    "all_methods",
    "get_method",
    "read_judgements",
    "to_frame",
]


def __getattr__(name: str) -> Any:
    if name == "sample":  # a module; the bundled data are opened at first use
        return importlib.import_module("bilex.sample")
    if name not in _MODULES:
        raise AttributeError(f"module 'bilex' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
