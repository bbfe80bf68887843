"""Quality of an alignment on held-out words of its own dictionary, where this costs little time."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import torch

from bilex.errors import BilexError
from bilex.evaluation.agreement import mutual_agreement
from bilex.evaluation.held_out import HELD_OUT, Agreement, HeldOut
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from bilex.alignment import Alignment
    from bilex.evaluation.held_out import Way
    from bilex.fitting.inputs import Inputs
    from bilex.lexicon import Lexicon

MAX_WORD_PAIRS = 10**10
"""Largest product of the table sizes for which the evaluation of a closed form takes only seconds."""
AGREEMENT_WORDS = 4000
"""Most frequent words of both tables whose pairs are checked for agreement."""


def hold_out(inputs: Inputs) -> tuple[Lexicon, Lexicon]:
    """(train, dev): dev has `dev_share` of the source words that have a translation in the tables."""
    covered = inputs.coverage.require_usable().sources
    return inputs.train.split(inputs.dev_share, rng_seed=inputs.rng_seed, fold_case=inputs.fold_case, among=covered)


def measure_agreement(alignment: Alignment, words: int = AGREEMENT_WORDS) -> Agreement:
    """How much the pairs of the most frequent words agree with each other."""
    x, z = alignment.source_rows[:words], alignment.target_rows[:words]
    share = mutual_agreement(x, z, torch.Generator().manual_seed(0), max_rank=words)
    return Agreement(words=min(words, len(x), len(z)), percent=100 * share)


def measure_held_out(alignment: Alignment, inputs: Inputs) -> HeldOut | None:
    """Precision on held-out words; None if it would need a second long training."""
    method = inputs.method
    if method.closed_form and len(inputs.source) * len(inputs.target) > MAX_WORD_PAIRS:
        return None  # it would take longer than the fit
    if alignment.dev is not None:
        if method.learns_dev:
            return _recorded(alignment, method.name)
        return _evaluated(alignment, inputs, "never learnt")
    return _second_fit(alignment, inputs) if method.closed_form and len(inputs.train) else None


def _recorded(alignment: Alignment, method: str) -> HeldOut | None:
    """The precision that the method has recorded before its last training."""
    records = (r for r in reversed(alignment.trace.records) if r.get("stage") == HELD_OUT and r.get("method") == method)
    record = next(records, None)
    return None if record is None else HeldOut.read({**record, "way": "before they were learnt"})


def _second_fit(alignment: Alignment, inputs: Inputs) -> HeldOut | None:
    """Fit once more without some of the words, and evaluate on these; None if there are too few pairs for that."""
    try:
        train, dev = hold_out(inputs)
        pairs = train.index(inputs.source, inputs.target, fold_case=inputs.fold_case).require_usable()
        mapping = inputs.method.fit(
            alignment.normalized("source"),
            alignment.normalized("target"),
            torch.from_numpy(pairs.sorted_pairs).to(alignment.device),
            dev=None,
            generator=torch.Generator().manual_seed(inputs.rng_seed),
            trace=Trace(),
        )
    except (BilexError, torch.linalg.LinAlgError):  # type: ignore[attr-defined]
        return None
    return _evaluated(alignment.refitted(mapping, train=train, dev=dev), inputs, "second fit")


def _evaluated(alignment: Alignment, inputs: Inputs, way: Way) -> HeldOut:
    assert alignment.dev is not None
    result = alignment.evaluate(alignment.dev, fold_case=inputs.fold_case)
    return HeldOut(words=result.covered, **asdict(result.scores), way=way)
