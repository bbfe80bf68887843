"""How good an alignment is on words of its own dictionary that were held out, as far as that costs little."""

from __future__ import annotations

from dataclasses import asdict, replace
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

LARGEST = 10**10
"""Pairs of words of the two tables up to which the evaluation of a closed form takes seconds."""
FREQUENT = 4000
"""Words of both tables among which pairs are looked for that agree with each other."""


def hold_out(inputs: Inputs) -> tuple[Lexicon, Lexicon]:
    """The rest of train, and dev: `dev_share` of those source words that have a translation in the tables."""
    covered = inputs.coverage.require_usable().sources
    return inputs.train.split(inputs.dev_share, rng_seed=inputs.rng_seed, fold_case=inputs.fold_case, among=covered)


def measure_agreement(alignment: Alignment, words: int = FREQUENT) -> Agreement:
    """How far the pairs among the most frequent words agree with each other."""
    x, z = alignment.source_rows[:words], alignment.target_rows[:words]
    share = mutual_agreement(x, z, torch.Generator().manual_seed(0), max_rank=words)
    return Agreement(words=min(words, len(x), len(z)), percent=100 * share)


def measure_held_out(alignment: Alignment, inputs: Inputs) -> HeldOut | None:
    """What is known of held-out words at little cost: nothing, where a method trains on all of them for long."""
    method = inputs.method
    if method.closed_form and len(inputs.source) * len(inputs.target) > LARGEST:
        return None  # it would take longer than the fit
    if alignment.dev is not None:
        return _told(alignment, method.name) if method.learns_dev else _evaluated(alignment, inputs, "never learnt")
    return _second_fit(alignment, inputs) if method.closed_form and len(inputs.train) else None


def _told(alignment: Alignment, method: str) -> HeldOut | None:
    """What the method has said while it worked."""
    said = (r for r in reversed(alignment.trace.records) if r.get("stage") == HELD_OUT and r.get("method") == method)
    record = next(said, None)
    return None if record is None else HeldOut.read({**record, "way": "before they were learnt"})


def _second_fit(alignment: Alignment, inputs: Inputs) -> HeldOut | None:
    """Fit once more without some of the words; nothing, where what is left is too little."""
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
    second = replace(alignment, mapping=mapping, train=train, dev=dev, folder=None, _indexes={})
    return _evaluated(second, inputs, "second fit")


def _evaluated(alignment: Alignment, inputs: Inputs, way: Way) -> HeldOut:
    assert alignment.dev is not None
    result = alignment.evaluate(alignment.dev, fold_case=inputs.fold_case)
    return HeldOut(words=result.covered, **asdict(result.scores), way=way)
