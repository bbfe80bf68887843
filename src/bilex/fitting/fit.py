"""From two tables and a dictionary to an alignment."""

from __future__ import annotations

import inspect
import platform
import warnings
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import torch

from bilex.alignment import Alignment
from bilex.errors import AlignmentError, TableError
from bilex.fitting.default import check_settings
from bilex.fitting.inputs import Inputs, collect
from bilex.fitting.measurement import hold_out, measure_agreement, measure_held_out
from bilex.fitting.second_stage import fit_second_stage
from bilex.lexicon import Lexicon
from bilex.linalg.device import choose_device
from bilex.methods.base import Method, get_method
from bilex.normalize import Normalizer
from bilex.run.decisions import Decisions
from bilex.storage.array_form import all_finite
from bilex.table import EmbeddingTable
from bilex.training.checkpoint import NO_CHECKPOINT
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.induction.initial import Spelling
    from bilex.io.in_memory import LexiconLike, TableLike
    from bilex.mapping import Mapping
    from bilex.run.decisions import DecisionsLike
    from bilex.training.checkpoint import Checkpoint


def align(
    source: TableLike,
    target: TableLike,
    train: LexiconLike | None = None,
    *,
    dev: LexiconLike | None = None,
    method: str | Method | None = None,
    fast: bool = False,
    rng_seed: int = 0,
    dev_share: float = 0.1,
    fold_case: bool = False,
    spelling: Spelling | None = None,
    corrections: DecisionsLike | None = None,
    device: str | None = None,
    trace: Trace | None = None,
    checkpoint: Checkpoint | None = None,
    measured: bool = True,
    vectors_only: bool = False,
    **settings: Any,
) -> Alignment:
    """Fit a mapping of two tables into one space.

    source, target: anything that `EmbeddingTable.of` accepts (tables, paths, KeyedVectors of gensim, ...). train, dev:
    anything that `Lexicon.of` accepts (lexicons, paths, pairs, dicts). settings: those of the method, as in `epochs=3`.

    The default method is the best one for the data, which takes minutes with large tables: `rapo` with a dictionary,
    `rapo_semi` with a small one, `rapo_unsupervised` without one. With `fast` it is `procrustes`, in seconds.

    All choices are made on dev: the given one, or `dev_share` of the source words of `train`, which are held out. After
    its choices, a method may train on dev too. A method without choices trains on all of `train`. There is no parameter
    for a test lexicon. With `spelling`, words that both tables have ("identical", or only "numerals") are added to
    train.

    corrections: a run folder or a file with decisions of `bilex explore`. Accepted and corrected pairs are added to
    `train`, rejected and replaced pairs are removed from it; without `train`, the dictionary of that run is used.
    Decisions about source words of a given `dev` change `dev` instead.

    With a dictionary, the alignment ends with a second stage, which ranks the candidates of a word by further signals
    and gives each a probability. It is left out with `vectors_only` or `fast`, and if it does not help on held-out
    words.

    `alignment.held_out` has the precision on held-out words, where it costs little. With `measured`, methods in closed
    form are fitted a second time for it, without these words.
    """
    if method is not None:
        method, settings = get_method(method, settings, others=_PARAMETERS), {}
    else:
        dictionary = any(given is not None for given in (train, spelling, corrections))
        check_settings(settings, fast=fast, dictionary=dictionary, others=_PARAMETERS)
    inputs = collect(
        EmbeddingTable.of(source),
        EmbeddingTable.of(target),
        None if train is None else Lexicon.of(train),
        dev=None if dev is None else Lexicon.of(dev),
        method=method,
        fast=fast,
        settings=settings,
        rng_seed=rng_seed,
        dev_share=dev_share,
        fold_case=fold_case,
        spelling=spelling,
        corrections=None if corrections is None else Decisions.of(corrections),
    )
    for message in inputs.doubts():
        warnings.warn(message, stacklevel=2)
    alignment = fit(inputs, device=device, trace=trace, checkpoint=checkpoint, measured=measured)
    return alignment if vectors_only or fast else with_second_stage(alignment, inputs, checkpoint=checkpoint)


_PARAMETERS = tuple(inspect.signature(align).parameters)[:-1]
"""The parameters of `align`, without the settings of the method."""


def fit(
    inputs: Inputs,
    *,
    device: str | None = None,
    trace: Trace | None = None,
    checkpoint: Checkpoint | None = None,
    measured: bool = False,
) -> Alignment:
    """Normalize, split, fit, and if `measured` evaluate on held-out words."""
    place, trace = choose_device(device), trace or Trace()
    train, dev = split(inputs)
    method = inputs.method
    indexed = inputs.coverage if train is inputs.train else inputs.index(train)
    pairs = indexed.require_usable(inputs.least_pairs)
    dev_pairs = None if dev is None else inputs.index(dev)
    source_normalizer, x = Normalizer.fit(torch.from_numpy(inputs.source.rows).to(place), method.normalize)
    target_normalizer, z = Normalizer.fit(torch.from_numpy(inputs.target.rows).to(place), method.normalize)
    _check_finite(x, inputs.source, "source")
    _check_finite(z, inputs.target, "target")
    mapping = _fit_method(
        method,
        x,
        z,
        torch.from_numpy(pairs.sorted_pairs).to(place),
        dev=None if dev_pairs is None else torch.from_numpy(dev_pairs.require_usable().sorted_pairs).to(place),
        generator=torch.Generator().manual_seed(inputs.rng_seed),
        trace=trace,
        **({"checkpoint": checkpoint} if method.resumes and checkpoint is not None else {}),
    )
    alignment = Alignment(
        source=inputs.source,
        target=inputs.target,
        source_normalizer=source_normalizer,
        target_normalizer=target_normalizer,
        mapping=mapping,
        train=train,
        dev=dev,
        trace=trace,
        device=place,
        provenance={
            "inputs": inputs.describe(),
            "protocol": _describe_protocol(inputs, dev),
            "train_coverage": inputs.coverage.to_json(),
            "dev_coverage": None if dev_pairs is None else dev_pairs.to_json(),
            "spelt_alike": _count_spelt_alike(inputs, train, dev),
            "made_with": _versions(place),
        },
    )
    if measured:
        measure(alignment, inputs)
    return alignment


def with_second_stage(alignment: Alignment, inputs: Inputs, *, checkpoint: Checkpoint | None = None) -> Alignment:
    """The alignment with a second stage, if its dictionary is large enough and it helps; else as it is."""
    reranker = fit_second_stage(alignment, inputs, checkpoint=checkpoint or NO_CHECKPOINT)
    return alignment if reranker is None else alignment.reranked(reranker)


def measure(alignment: Alignment, inputs: Inputs) -> None:
    """Evaluate a new alignment on held-out words, and add the result to its provenance."""
    held_out = measure_held_out(alignment, inputs)
    agreement = measure_agreement(alignment) if held_out is None else None
    alignment.provenance["held_out"] = None if held_out is None else asdict(held_out)
    alignment.provenance["agreement"] = None if agreement is None else asdict(agreement)


def _fit_method(method: Method, *arrays: Tensor, **options: Any) -> Mapping:
    """The mapping from `method.fit`; AlignmentError if it has numbers that are not finite."""
    diverged = AlignmentError(
        f"method {method.name} diverged: its numbers became infinite or undefined; try a smaller learning rate, other "
        "settings or another method"
    )
    try:
        mapping = method.fit(*arrays, **options)
    except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]
        raise diverged from error
    if not all(bool(array.isfinite().all()) for array in mapping.arrays().values()):
        raise diverged
    return mapping


def split(inputs: Inputs) -> tuple[Lexicon, Lexicon | None]:
    """(train, dev) for the method."""
    if inputs.dev is not None or not inputs.method.uses_dev or not len(inputs.train):
        return inputs.train, inputs.dev
    return hold_out(inputs)


def _count_spelt_alike(inputs: Inputs, train: Lexicon, dev: Lexicon | None) -> dict[str, int] | None:
    """Number of pairs of words spelt alike, which are the last ones, in train and in dev after the split."""
    if inputs.spelling is None:
        return None
    alike = set(inputs.train.pairs[len(inputs.train) - inputs.spelt_alike :])
    return {name: sum(pair in alike for pair in part or ()) for name, part in {"train": train, "dev": dev}.items()}


def _check_finite(rows: Tensor, table: EmbeddingTable, side: str) -> None:
    """Refuse numbers that are not finite. Readers refuse them too, but arrays from a program may have them."""
    if not all_finite(rows):
        finite = torch.from_numpy(table.rows).isfinite().all(1)  # centering spreads one such number to all rows
        bad_rows = (~(rows.cpu().isfinite().all(1) if finite.all() else finite)).nonzero()[:, 0]
        word = table.words[int(bad_rows[0])]
        raise TableError(f"the {side} table has numbers that are not finite, first in the row of {word!r}; remove it")


def _describe_protocol(inputs: Inputs, dev: Lexicon | None) -> str:
    if dev is None or not inputs.method.uses_dev:
        return "no choices made; all of train is trained on"
    if inputs.dev is not None:
        return "choices on the dev dictionary given"
    share = f"{inputs.dev_share:.0%} of the source words of train"
    return f"choices on {share}, held out with rng_seed {inputs.rng_seed} until they are made"


def _versions(device: torch.device) -> dict[str, Any]:
    return {
        "bilex": version("bilex"),
        "torch": torch.__version__,
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "device": str(device),
        "threads": torch.get_num_threads(),
    }
