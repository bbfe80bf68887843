"""Word similarity: correlation of cosines in the shared space with human judgements."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bilex.errors import LexiconError
from bilex.io.encoding import decode, read_bytes
from bilex.normalize import unit
from bilex.text.words import describe_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

    from bilex.table import EmbeddingTable

    JudgementsLike: TypeAlias = str | PathLike[str] | Iterable["Judgement | tuple[str, str, float]"]


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """Spearman's rank correlation of cosines with judgements, over the pairs with vectors for both words."""

    spearman: float
    p_value: float
    covered: int
    pairs: int

    def to_json(self) -> dict[str, object]:
        """All fields by name."""
        return asdict(self)


@dataclass(frozen=True)
class Judgement:
    """Two words and their similarity, as judged by people."""

    first: str
    second: str
    score: float


def read_judgements(path: str | PathLike[str], *, encoding: str = "utf-8") -> list[Judgement]:
    """Read lines of word, word, score, separated by tabs or spaces; lines that begin with # are comments."""
    judgements = []
    text, _ = decode(Path(path), read_bytes(Path(path)), encoding)
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.strip("\r").split("\t") if "\t" in line else line.split()
        try:
            first, second, score = fields[0], fields[1], float(fields[2])
            if not math.isfinite(score):
                raise ValueError(score)
        except (IndexError, ValueError):
            raise LexiconError(
                f"{path}:{number}: found {line.strip()!r}; needed two words and a number, separated by tabs or spaces"
            ) from None
        judgements.append(Judgement(first.strip(), second.strip(), score))
    if not judgements:
        raise LexiconError(f"{path}: found no word pairs; needed lines of two words and a number")
    return judgements


def judgement_list(given: JudgementsLike) -> list[Judgement]:
    """Judgements from a file, or from triples (word, word, number)."""
    if isinstance(given, str | PathLike):
        return read_judgements(given)
    return [one if isinstance(one, Judgement) else _judgement(number, one) for number, one in enumerate(given, 1)]


def similarity(
    judgements: list[Judgement], first: tuple[EmbeddingTable, Tensor], second: tuple[EmbeddingTable, Tensor]
) -> Similarity:
    """Look up first words in `first` and second words in `second`: each a table and its rows in the shared space."""
    from scipy.stats import spearmanr  # it takes half a second to import

    rows = [(first[0].index.get(j.first), second[0].index.get(j.second), j.score) for j in judgements]
    covered = [(a, b, score) for a, b, score in rows if a is not None and b is not None]
    if len(covered) < 3:
        raise LexiconError(
            f"{len(covered)} of {len(judgements)} word pairs have vectors for both words; at least 3 are needed: "
            "check the languages and their order (`sides`), and letter case"
        )
    left, right, scores = zip(*covered, strict=True)
    if len(set(scores)) == 1:
        raise LexiconError(f"all {len(covered)} covered word pairs have the score {scores[0]}: needed different ones")
    cosines = (unit(first[1][list(left)]) * unit(second[1][list(right)])).sum(1)
    if bool((cosines == cosines[0]).all()):
        raise LexiconError(f"all {len(covered)} covered word pairs have the same cosine: needed different ones")
    result = spearmanr(cosines.cpu().numpy(), scores)
    return Similarity(
        spearman=float(result.statistic), p_value=float(result.pvalue), covered=len(covered), pairs=len(judgements)
    )


def _judgement(number: int, given: tuple[str, str, float]) -> Judgement:
    match given:
        case (str(first), str(second), int() | float() as score) if math.isfinite(score):
            return Judgement(first, second, float(score))
    raise LexiconError(f"judgement {number}: found {describe_value(given)}; needed two words and a number")
