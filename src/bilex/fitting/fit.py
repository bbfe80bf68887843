"""From two tables and a dictionary to an alignment."""

from __future__ import annotations

import inspect
import platform
import warnings
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import torch

from bilex.alignment import Alignment
from bilex.coverage import Lookup
from bilex.errors import AlignmentError, SettingsError, TableError
from bilex.fitting.default import check_settings, choose
from bilex.fitting.measurement import hold_out, measure_agreement, measure_held_out
from bilex.induction.initial import same_spelling
from bilex.io.directions import find_directions, require_directions
from bilex.io.inspection import doubtful_order
from bilex.lexicon import Lexicon
from bilex.linalg.device import choose_device
from bilex.methods.base import Method, get_method
from bilex.normalize import Normalizer
from bilex.run.decisions import Decisions
from bilex.storage.array_form import all_finite
from bilex.storage.files import sha256
from bilex.table import EmbeddingTable
from bilex.text.printable import printable
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping as Dict
    from pathlib import Path

    from torch import Tensor

    from bilex.coverage import LexiconIndex
    from bilex.induction.initial import Spelling
    from bilex.io.in_memory import LexiconLike, TableLike
    from bilex.mapping import Mapping
    from bilex.run.decisions import DecisionsLike
    from bilex.training.checkpoint import Checkpoint


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """All that decides the result of an alignment; equal inputs on the same machine and threads give equal results."""

    source: EmbeddingTable
    target: EmbeddingTable
    train: Lexicon
    dev: Lexicon | None
    method: Method
    rng_seed: int
    dev_share: float
    fold_case: bool
    spelling: Spelling | None = None
    """How words spelt alike came into `train`."""
    spelt_alike: int = 0
    """How many pairs at the end of `train` came in so."""
    corrections: Decisions | None = None
    """What of the dictionaries is as it was decided in `bilex explore`."""
    why: str | None = None
    """Why it is this method, where none was named."""

    @property
    def least_bytes(self) -> int:
        """A run made of them takes so many at least: those of its tables."""
        return self.source.rows.nbytes + self.target.rows.nbytes

    @cached_property
    def coverage(self) -> LexiconIndex:
        """What the tables have of the whole dictionary, before any of it is held out."""
        return _index(self.train, self)

    @property
    def least_pairs(self) -> int:
        """So many pairs have to have vectors: one, where there is a dictionary or should be."""
        return int(self.method.needs_pairs or len(self.train) > 0)

    def doubts(self) -> list[str]:
        """What may be wrong with the inputs, for people to read."""
        cut = self.method.rank_cut
        order = [
            f"{_name(table, side)} {doubt}, and {self.method.name} looks at the first {cut:,} of its "
            f"{len(table):,} words as the most frequent: sort it by frequency, or let the method look at all of them"
            for side, table in (("source", self.source), ("target", self.target))
            if cut is not None and cut < len(table) and (doubt := doubtful_order(table.words))
        ]
        return order + [
            f"{_name(table, side)} {doubt}"
            for side, table in (("source", self.source), ("target", self.target))
            for doubt in find_directions(table.rows).doubts(table.words)
        ]

    def describe(self) -> dict[str, Any]:
        """The inputs in plain values: settings, and files by hash."""
        return {
            "method": self.method.name,
            "settings": self.method.describe(),
            "rng_seed": self.rng_seed,
            "dev_share": self.dev_share,
            "fold_case": self.fold_case,
            "spelling": self.spelling,
            "source": _describe_table(self.source),
            "target": _describe_table(self.target),
            "train": _describe_lexicon(self.train),
            "dev": None if self.dev is None else _describe_lexicon(self.dev),
            "corrections": None if self.corrections is None else self.corrections.describe(),
        }


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
    **settings: Any,
) -> Alignment:
    """Learn to map two tables into one space.

    Tables are whatever `EmbeddingTable.of` takes (tables, paths of files, KeyedVectors of gensim, ...), `train` and
    `dev` whatever `Lexicon.of` takes (lexicons, paths, pairs, dicts). `settings` are those of the method: `epochs=3`.

    Without a method it is the best that the data allow, which takes minutes with large tables: `rapo` with a
    dictionary, `rapo_semi` with a small one, `rapo_unsupervised` with none; or with `fast` it is `procrustes`, in
    seconds.

    Choices are made on `dev` only: the one given, or `dev_share` of the source words of `train`, held out until they
    are made; some methods then train on these words, too. A method that chooses nothing trains on all of `train`. There
    is no way to hand in a test lexicon. With `spelling`, words that both tables have ("identical", or only "numerals")
    are trained on as well.

    `corrections`, a run folder or a file, are decisions of `bilex explore`: pairs that were accepted or corrected are
    added to `train`, those that were rejected or replaced are taken out; without `train` that is the dictionary of that
    run. Decisions about source words of a `dev` that is given change `dev` instead.

    `alignment.held_out` says how well held-out words are translated, where that can be known at little cost; closed
    forms are fitted a second time for it, without these words, if it is to be `measured`.
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
    for doubt in inputs.doubts():
        warnings.warn(doubt, stacklevel=2)
    return fit(inputs, device=device, trace=trace, checkpoint=checkpoint, measured=measured)


_PARAMETERS = tuple(inspect.signature(align).parameters)[:-1]
"""What `align` takes besides the settings of the method."""


def collect(
    source: EmbeddingTable,
    target: EmbeddingTable,
    train: Lexicon | None,
    *,
    dev: Lexicon | None = None,
    method: str | Method | None = None,
    fast: bool = False,
    settings: Dict[str, Any] | None = None,
    rng_seed: int = 0,
    dev_share: float = 0.1,
    fold_case: bool = False,
    spelling: Spelling | None = None,
    corrections: Decisions | None = None,
) -> Inputs:
    """The inputs of an alignment, checked.

    settings: those of the method, as texts or values of Python.
    """
    if fast and method is not None:
        raise SettingsError("a method was named, and the fast one asked for: leave `method` out, or `fast`")
    if corrections is not None:
        words = (Lookup(table, fold_case) for table in (source, target))
        train, dev = corrections.apply(train, dev, *words, fold_case=fold_case)
        if train is None:
            raise AlignmentError(
                f"{corrections.file}: no pair was accepted or corrected, and there is no dictionary beside it; pass "
                "one as `train`, or leave `corrections` out"
            )
    given, why = 0 if train is None else len(train), None
    if spelling is not None:
        train = _with_spelling(train, source, target, spelling, corrections)
    if method is None:
        found = None if train is None else train.index(source, target, fold_case=fold_case).sources_covered
        method, why = choose(found, only_spelling=not given, fast=fast, settings=settings)
    else:
        method = get_method(method, settings)
    if train is None:
        if method.needs_pairs:
            raise AlignmentError(
                f"method {method.name} learns from a dictionary and none was given: pass one as `train`, or take "
                "words that are spelt alike in both languages: `spelling='identical'`, or `spelling='numerals'`"
            )
        train = Lexicon.from_pairs([])
    if source.dim != target.dim:
        raise TableError(
            f"the source vectors have {source.dim} dimensions and the target vectors {target.dim}; "
            "use tables of the same dimension"
        )
    for side, table in (("source", source), ("target", target)):
        require_directions(_name(table, side), table.rows)
    if dev is not None and (shared := dev.shared_sources(train, fold_case=fold_case)):
        raise AlignmentError(
            f"{len(shared)} source words are in both the train and the dev dictionary (such as {min(shared)!r}); "
            "choices made on words that were trained on are worthless: remove them from one, or leave `dev` out"
        )
    inputs = Inputs(
        source=source,
        target=target,
        train=train,
        dev=dev,
        method=method,
        rng_seed=rng_seed,
        dev_share=dev_share,
        fold_case=fold_case,
        spelling=spelling,
        spelt_alike=0 if spelling is None else len(train) - given,
        corrections=corrections,
        why=why,
    )
    inputs.coverage.require_usable(inputs.least_pairs)
    return inputs


def _index(lexicon: Lexicon, inputs: Inputs) -> LexiconIndex:
    return lexicon.index(inputs.source, inputs.target, fold_case=inputs.fold_case)


def _name(table: EmbeddingTable, side: str) -> str:
    """For messages."""
    return str(table.origin or f"the {side} table")


def _with_spelling(
    train: Lexicon | None,
    source: EmbeddingTable,
    target: EmbeddingTable,
    spelling: Spelling,
    corrections: Decisions | None,
) -> Lexicon:
    """The train lexicon, and words spelt alike that it has no translation for and nobody has refused."""
    shared, given = same_spelling(source, target, spelling), Lexicon.from_pairs([]) if train is None else train
    if not len(shared):
        what = "no numerals" if spelling == "numerals" else "no words"
        raise AlignmentError(f"the two tables have {what} in common; give a dictionary, or an unsupervised method")
    refused = () if corrections is None else corrections.refused
    alike = Lexicon(tuple(pair for pair in shared.without_sources(given.sources) if pair not in refused))
    return given.union(alike)


def fit(
    inputs: Inputs,
    *,
    device: str | None = None,
    trace: Trace | None = None,
    checkpoint: Checkpoint | None = None,
    measured: bool = False,
) -> Alignment:
    """Normalize, split, fit, and measure on held-out words if that is asked for."""
    place, trace = choose_device(device), trace or Trace()
    train, dev = split(inputs)
    method = inputs.method
    found = inputs.coverage if train is inputs.train else _index(train, inputs)
    pairs = found.require_usable(inputs.least_pairs)
    dev_pairs = None if dev is None else _index(dev, inputs)
    source_normalizer, x = Normalizer.fit(torch.from_numpy(inputs.source.rows).to(place), method.normalize)
    target_normalizer, z = Normalizer.fit(torch.from_numpy(inputs.target.rows).to(place), method.normalize)
    _check_finite(x, inputs.source, "source")
    _check_finite(z, inputs.target, "target")
    mapping = _learn(
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
        held_out = measure_held_out(alignment, inputs)
        agreement = measure_agreement(alignment) if held_out is None else None
        alignment.provenance["held_out"] = None if held_out is None else asdict(held_out)
        alignment.provenance["agreement"] = None if agreement is None else asdict(agreement)
    return alignment


def _learn(method: Method, *given: Tensor, **more: Any) -> Mapping:
    """What `fit` gives back, if that is made of finite numbers."""
    diverged = AlignmentError(
        f"method {method.name} diverged: it came to numbers that are not finite; try a smaller learning rate, other "
        "settings or another method"
    )
    try:
        mapping = method.fit(*given, **more)
    except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]
        raise diverged from error
    if not all(bool(array.isfinite().all()) for array in mapping.arrays().values()):
        raise diverged
    return mapping


def split(inputs: Inputs) -> tuple[Lexicon, Lexicon | None]:
    """Train and dev lexicon, as the method is given them."""
    if inputs.dev is not None or not inputs.method.uses_dev or not len(inputs.train):
        return inputs.train, inputs.dev
    return hold_out(inputs)


def _count_spelt_alike(inputs: Inputs, train: Lexicon, dev: Lexicon | None) -> dict[str, int] | None:
    """How many pairs at the end of each dictionary, as it was split, came in by their spelling."""
    if inputs.spelling is None:
        return None
    alike = set(inputs.train.pairs[len(inputs.train) - inputs.spelt_alike :])
    return {name: sum(pair in alike for pair in part or ()) for name, part in {"train": train, "dev": dev}.items()}


def _check_finite(rows: Tensor, table: EmbeddingTable, side: str) -> None:
    """Readers refuse such numbers; arrays that a program hands in may have them."""
    if not all_finite(rows):
        given = torch.from_numpy(table.rows).isfinite().all(1)  # one such number in a table is one in all centred rows
        wrong = (~(rows.cpu().isfinite().all(1) if given.all() else given)).nonzero()[:, 0]
        word = table.words[int(wrong[0])]
        raise TableError(f"the {side} table has numbers that are not finite, first in the row of {word!r}; remove it")


def _describe_table(table: EmbeddingTable) -> dict[str, Any]:
    return {**_describe_file(table.origin), "words": len(table), "dim": table.dim}


def _describe_lexicon(lexicon: Lexicon) -> dict[str, Any]:
    return {**_describe_file(lexicon.origin), "pairs": len(lexicon)}


def _describe_file(path: Path | None) -> dict[str, Any]:
    if path is None or not path.is_file():
        return {"file": None, "sha256": None}
    return {"file": printable(str(path.resolve())), "sha256": sha256(path)}  # a name need not be UTF-8


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
