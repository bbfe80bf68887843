"""What `bilex align` says: before a run how long it may take, and after it how good it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bilex.cli.explore import counted_decisions
from bilex.cli.parameters import as_options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bilex.alignment import Alignment
    from bilex.evaluation.held_out import Agreement, HeldOut
    from bilex.fitting.inputs import Inputs

LONG = 10
"""Seconds from which on it is said how long a method that was named may take."""
FEW_WORDS = 30
"""Held-out words below which a percentage of them says little."""
FEW_PAIRS = 0.2
"""The share of a dictionary in the tables below which a warning is given."""
OTHER_CASE = 0.1
"""The share of a dictionary from which on it is said that only letter case keeps it out of the tables."""


def expected_seconds(inputs: Inputs, device: str) -> float | None:
    """Roughly, on the processor; none where nothing is known, as of other devices."""
    import torch

    from bilex.fitting.duration import estimate
    from bilex.linalg.device import choose_device

    if choose_device(device).type != "cpu":
        return None
    return estimate(
        inputs.method,
        words=(len(inputs.source), len(inputs.target)),
        dim=inputs.source.dim,
        pairs=inputs.coverage.pairs_covered,
        source_words=len(inputs.coverage.gold),
        threads=torch.get_num_threads(),
    )


def decisions(inputs: Inputs, train: Path | None) -> list[str]:
    """Which decisions are learnt from, and with which dictionary where none was named."""
    found = inputs.corrections
    if found is None:
        return []
    said = f"with the decisions in {found.file}: {counted_decisions(found.counts)}"
    if train is not None or found.dictionary is None:
        return [said]
    return [f"{said}; the dictionary is that of {found.file.parent} ({len(found.dictionary):,} pairs)"]


def before(inputs: Inputs, seconds: float | None) -> list[str]:
    """Which method it is, why, and about how long it takes; of a method that was named, only that it takes long."""
    import torch

    from bilex.fitting.duration import rough

    if inputs.why is None and (seconds is None or seconds < LONG):
        return []
    chosen = f"method {inputs.method.name}" + (f", because {as_options(inputs.why)}" if inputs.why else "")
    threads = torch.get_num_threads()
    time = "" if seconds is None else f": {rough(seconds)} on {threads} thread{'s' * (threads > 1)}"
    quick = bool(inputs.why) and inputs.coverage.pairs_covered > 0 and (seconds or 0) > LONG
    return [chosen + time + ("; with --fast a few seconds" if quick else "")]


def warnings(inputs: Inputs) -> Iterator[str]:
    """What is wrong with the dictionary, told before a long run."""
    coverage, dim = inputs.coverage, inputs.source.dim
    if (folded := _pairs_with_folding(inputs)) is not None:
        yield (
            f"{coverage.pairs_covered:,} of {coverage.pairs_total:,} pairs of the dictionary are in both tables as "
            f"they are spelt; {folded:,} are if letter case is ignored: --fold-case"
        )
    elif coverage.pairs_covered < FEW_PAIRS * coverage.pairs_total:
        yield "few pairs of the dictionary are in both tables; check its languages, or read more words (--max-words)"
    if not inputs.method.finds_pairs and coverage.sources_covered < dim:
        yield (
            f"{coverage.sources_covered:,} source words are few to learn {dim} dimensions from; give more "
            "pairs, or take a method for little dictionaries, such as rapo_semi"
        )


def _pairs_with_folding(inputs: Inputs) -> int | None:
    """How many pairs would be found if letter case were ignored, where that are many more."""
    coverage = inputs.coverage
    least = coverage.pairs_covered + OTHER_CASE * coverage.pairs_total
    if inputs.fold_case or coverage.pairs_total < least or not coverage.pairs_total:
        return None
    folded = inputs.train.index(inputs.source, inputs.target, fold_case=True).pairs_covered
    return folded if folded >= least else None


def after(alignment: Alignment, output: Path, seconds: float) -> list[str]:
    """What was learnt from, how good it is, and the next command."""
    method, train = alignment.provenance["inputs"]["method"], alignment.provenance["train_coverage"]
    learnt = _learnt_from(alignment, train) if train["pairs_total"] else "without a dictionary"
    return [f"{method}: learnt {learnt} in {seconds:.1f} s; written to {output}", quality(alignment, output)]


def quality(alignment: Alignment, output: Path) -> str:
    """The last sentence."""
    look = f"bilex translate {output} WORD"
    if alignment.held_out is not None:
        return f"{_held_out(alignment, alignment.held_out)}; next: {look}"
    measure = f"bilex evaluate {output} DICT"
    known = "" if alignment.agreement is None else f"; {_agreement(alignment.agreement)}"
    return f"No words were held out to measure it on{known}; next: {measure}, or {look}"


def _learnt_from(alignment: Alignment, train: dict[str, Any]) -> str:
    words = f"{train['sources_covered']:,} source words"
    found = alignment.held_out
    if found is not None and found.way != "second fit" and alignment.provenance["inputs"]["dev"] is None:
        words += f", {found.words:,} of them held out{' at first' if found.way == 'before they were learnt' else ''}"
    return f"from {train['pairs_covered']:,} of {train['pairs_total']:,} pairs ({words})"


def _held_out(alignment: Alignment, found: HeldOut) -> str:
    inputs, number = alignment.provenance["inputs"], f"{found.words:,}"
    if inputs["dev"] is not None:
        where = f"{number} words of the dev dictionary"
    elif found.way == "second fit":
        where = f"{number} dictionary words left out of a second fit"
    else:
        where = f"{number} held-out dictionary words"
    spelt = ", some of them only spelt alike," if inputs["spelling"] and inputs["dev"] is None else ""
    shares = f"for {found.p_at_1:.1f} % (P@1), and one of the first five for {found.p_at_5:.1f} % (P@5)"
    if found.way == "before they were learnt":
        said = f"the first translation was right {shares}, before the last training learnt these words too"
    else:
        said = f"the first translation is right {shares}"
    few = "; so few words say little" if found.words < FEW_WORDS else ""
    return f"On {where}{spelt} {said}{few}"


def _agreement(found: Agreement) -> str:
    return (
        f"of the pairs found among the {found.words:,} most frequent words {found.percent:.0f} % agree with each other "
        "(90 is very good, below 40 is nonsense)"
    )
