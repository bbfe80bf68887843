"""The schema of alignment.json, which a run is checked against when it is opened.

Additional keys are allowed everywhere: another version may have more.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from bilex.evaluation.held_out import Agreement, HeldOut  # noqa: TC001 (read by msgspec)
from bilex.rerank.summary import Summary  # noqa: TC001

FORMAT = {"format": "bilex-alignment", "version": 1}
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Table(TypedDict):
    """A table of word vectors."""

    file: str | None
    sha256: Hash | None
    words: Positive
    dim: Positive


class Dictionary(TypedDict):
    """A dictionary."""

    file: str | None
    sha256: Hash | None
    pairs: Count


class Decisions(TypedDict):
    """Decisions of `bilex explore` that were applied; the hash is that of the pairs."""

    file: str | None
    sha256: Hash
    accepted: Count
    rejected: Count
    corrected: Count


class Inputs(TypedDict):
    """All that determines the result, as returned by `fitting.Inputs.describe`."""

    method: str
    settings: dict[str, Any]
    rng_seed: int
    dev_share: float
    fold_case: NotRequired[bool]
    spelling: NotRequired[str | None]
    source: Table
    target: Table
    train: Dictionary
    dev: Dictionary | None
    corrections: NotRequired[Decisions | None]


class SpeltAlike(TypedDict):
    """Number of pairs at the end of each dictionary that were added because both words are spelt alike."""

    train: Count
    dev: Count


class Coverage(TypedDict):
    """Coverage of a dictionary by the tables."""

    pairs_total: Count
    pairs_covered: Count
    sources_total: Count
    sources_covered: Count


class Versions(TypedDict):
    """Versions of the software."""

    bilex: str


class Subwords(TypedDict):
    """The files of tables that have subwords."""

    source: str | None
    target: str | None


class File(TypedDict):
    """A file of the run folder."""

    bytes: Count
    sha256: Hash


class SecondStage(TypedDict):
    """The second stage, whose arrays are in a file of their own."""

    signals: list[str]
    columns: list[str]
    candidates: Positive
    held_out: Summary


class Relearnt(SecondStage):
    """A second stage that was learnt from decisions too: the number of source words that were decided about."""

    words: Positive


class Description(TypedDict):
    """alignment.json. Runs of earlier versions have no `files` and no `second_stage`."""

    format: Literal["bilex-alignment"]
    version: Literal[1]
    files: NotRequired[dict[str, File]]
    mapping: str
    normalize: list[str]
    subwords: Subwords
    inputs: Inputs
    protocol: str
    train_coverage: Coverage
    dev_coverage: Coverage | None
    held_out: NotRequired[HeldOut | None]
    agreement: NotRequired[Agreement | None]
    spelt_alike: NotRequired[SpeltAlike | None]
    second_stage: NotRequired[SecondStage | None]
    made_with: Versions
