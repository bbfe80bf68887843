"""The messages of `bilex align`: the expected time before the training, and the accuracy after it."""

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
    from bilex.rerank.summary import Summary

MIN_SECONDS = 10
"""The expected time of a method that the user named is printed if it is at least this long."""
FEW_WORDS = 30
"""With fewer held-out words than these, a percentage is not reliable."""
MIN_COVERAGE = 0.2
"""A warning is given if less than this share of the dictionary is in the tables."""
MIN_CASE_GAIN = 0.1
"""--fold-case is suggested if it would add at least this share of the dictionary."""


def expected_seconds(inputs: Inputs, device: str) -> float | None:
    """A rough estimate for the CPU; None where there is none, such as for other devices."""
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
    """The decisions that are trained on, and the dictionary if none was named."""
    found = inputs.corrections
    if found is None:
        return []
    message = f"with the decisions in {found.file}: {counted_decisions(found.counts)}"
    if train is not None or found.dictionary is None:
        return [message]
    return [f"{message}; the dictionary is that of {found.file.parent} ({len(found.dictionary):,} pairs)"]


def before(inputs: Inputs, seconds: float | None) -> list[str]:
    """The method, the reason, and the expected time. If the user named the method, only a long time is reported."""
    import torch

    from bilex.fitting.duration import rough

    if inputs.why is None and (seconds is None or seconds < MIN_SECONDS):
        return []
    chosen = f"method {inputs.method.name}" + (f", because {as_options(inputs.why)}" if inputs.why else "")
    threads = torch.get_num_threads()
    time = "" if seconds is None else f": {rough(seconds)} on {threads} thread{'s' * (threads > 1)}"
    fast_is_possible = bool(inputs.why) and inputs.coverage.pairs_covered > 0 and (seconds or 0) > MIN_SECONDS
    return [chosen + time + ("; with --fast a few seconds" if fast_is_possible else "")]


def warnings(inputs: Inputs) -> Iterator[str]:
    """Problems of the dictionary, reported before a long training."""
    coverage, dim = inputs.coverage, inputs.source.dim
    if (folded := _pairs_with_folding(inputs)) is not None:
        yield (
            f"{coverage.pairs_covered:,} of {coverage.pairs_total:,} pairs of the dictionary are in both tables as "
            f"they are spelt; {folded:,} are if letter case is ignored: use --fold-case"
        )
    elif coverage.pairs_covered < MIN_COVERAGE * coverage.pairs_total:
        yield "few pairs of the dictionary are in both tables; check its languages, or read more words (--max-words)"
    if not inputs.method.finds_pairs and coverage.sources_covered < dim:
        yield (
            f"{coverage.sources_covered:,} source words are too few to learn {dim} dimensions well; add more "
            "pairs, or use a method for small dictionaries, such as rapo_semi"
        )


def _pairs_with_folding(inputs: Inputs) -> int | None:
    """How many pairs would be found if letter case were ignored; None unless that is many more."""
    coverage = inputs.coverage
    min_pairs = coverage.pairs_covered + MIN_CASE_GAIN * coverage.pairs_total
    if inputs.fold_case or coverage.pairs_total < min_pairs or not coverage.pairs_total:
        return None
    folded = inputs.train.index(inputs.source, inputs.target, fold_case=True).pairs_covered
    return folded if folded >= min_pairs else None


def after(alignment: Alignment, output: Path, seconds: float) -> list[str]:
    """The training data, the accuracy, and the next command."""
    method, train = alignment.provenance["inputs"]["method"], alignment.provenance["train_coverage"]
    learnt = _learnt_from(alignment, train) if train["pairs_total"] else "without a dictionary"
    stage = [] if alignment.reranker is None else [second_stage(alignment.reranker.summary)]
    return [f"{method}: learnt {learnt} in {seconds:.1f} s; written to {output}", quality(alignment, output), *stage]


def second_stage(found: Summary) -> str:
    """How good the second stage is on cross-fitted words."""
    return (
        f"second stage: on {found.words:,} words that were held out in turn, the first translation is right for "
        f"{found.vectors_only:.1f} % by the vectors and for {found.p_at_1:.1f} % with all signals; "
        f"{found.confident_right:.0%} of the entries with a probability of 80 % or more are right"
    )


def quality(alignment: Alignment, output: Path) -> str:
    """The accuracy, or how to measure it, and the next command."""
    translate = f"bilex translate {output} WORD"
    if alignment.held_out is not None:
        return f"{_held_out(alignment, alignment.held_out)}; next: {translate}"
    measure = f"bilex evaluate {output} DICT"
    known = "" if alignment.agreement is None else f"; {_agreement(alignment.agreement)}"
    return f"No words were held out, so the accuracy is not known{known}; next: {measure}, or {translate}"


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
        result = f"the first translation was right {shares}, before the final training on these words too"
    else:
        result = f"the first translation is right {shares}"
    few = "; with so few words this is not reliable" if found.words < FEW_WORDS else ""
    return f"On {where}{spelt} {result}{few}"


def _agreement(found: Agreement) -> str:
    return (
        f"of the pairs found among the {found.words:,} most frequent words {found.percent:.0f} % agree with each other "
        "(90 % is very good; below 40 % the alignment has failed)"
    )
