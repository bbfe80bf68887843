"""The run folder: an alignment on disk, self-contained, without pickle.

alignment.json        what was aligned, with which settings, versions and file hashes
mapping.safetensors   the mapping and the fitted normalization
reranker.safetensors  the second stage, if there is one, and in cross-fitted.safetensors what it was learnt from
source.safetensors    the tables, not normalized; memory-mapped when opened
target.safetensors
train.tsv, dev.tsv    the dictionaries after the split, if there were any
trace.jsonl           one record per epoch or round
cache/                penalties of retrieval, computed at first use; can be deleted at any time
corrections.sqlite    decisions of people, and in reranker-with-decisions.safetensors the second stage that learnt from
                      them too, which can be deleted at any time
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save as to_bytes

from bilex.alignment import Alignment
from bilex.errors import AlignmentError, SettingsError, TableError, error_text
from bilex.io.dictionary import read_pairs
from bilex.lexicon import Lexicon
from bilex.linalg.device import choose_device
from bilex.mapping import LinearMapping, mapping_from_arrays
from bilex.normalize import Normalizer
from bilex.retrieval.sides import SIDES, Sides
from bilex.run import reranker_file
from bilex.run.files import AGAIN, DESCRIPTION, DEV, MAPPING, TRACE, TRAIN, check_files, check_places, describe_files
from bilex.run.form import FORMAT, Description
from bilex.run.given import given_pairs
from bilex.run.replaceable import check_replaceable
from bilex.storage.array_file import read_arrays
from bilex.storage.array_form import all_finite
from bilex.storage.disk import describe_os_error
from bilex.storage.files import atomic_folder
from bilex.storage.strict_json import check_type, read_json, to_json
from bilex.table import EmbeddingTable
from bilex.text.printable import printable
from bilex.training.trace import Trace

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from bilex.io.contents import Subwords
    from bilex.mapping import Mapping
    from bilex.retrieval.sides import Side

_NOT_PROVENANCE = (*FORMAT, "files", "mapping", "normalize", "subwords", "second_stage")
"""The keys of alignment.json that are not provenance."""
PROBE_ROWS = 8
"""Rows of each table that are mapped to check that the mapping fits the tables."""


def save(alignment: Alignment, path: str | PathLike[str], *, replace: bool = False) -> None:
    """Write a run folder atomically; with `replace`, an existing run is replaced."""
    path = Path(path)
    check_free(path, replace=replace)
    arrays = {f"mapping.{name}": array for name, array in alignment.mapping.arrays().items()}
    arrays |= alignment.source_normalizer.arrays("source_normalizer")
    arrays |= alignment.target_normalizer.arrays("target_normalizer")
    description = {
        **FORMAT,
        "files": {},
        "mapping": alignment.mapping.kind,
        "normalize": alignment.source_normalizer.steps,
        "subwords": {side: _subword_file(getattr(alignment, side)) for side in SIDES},
        **alignment.provenance,
        "second_stage": reranker_file.description(alignment.reranker),
    }
    try:
        check_type(description, Description)
    except ValueError as error:
        raise AlignmentError(
            f"{path}: cannot be written, for it could not be opened again (its provenance: {error}); align again"
        ) from error
    try:
        may_replace = (lambda aside: check_replaceable(path, aside)) if replace else None
        with atomic_folder(path, may_replace=may_replace) as folder:
            (folder / MAPPING).write_bytes(to_bytes({name: _plain(a) for name, a in arrays.items()}))
            alignment.source.write(folder / "source.safetensors")
            alignment.target.write(folder / "target.safetensors")
            if len(alignment.train):
                alignment.train.write(folder / TRAIN)
            if alignment.dev is not None:
                alignment.dev.write(folder / DEV)
            if alignment.reranker is not None:
                reranker_file.write(alignment.reranker, folder)
            alignment.trace.write(folder / TRACE)
            text = to_json({**description, "files": describe_files(folder)}, indent=2)
            (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")
            if alignment.reranker is not None and alignment.reranker.decided is not None:
                reranker_file.write_relearnt(alignment.reranker, folder)
    except (OSError, SafetensorError, TableError) as error:
        system = error if isinstance(error, OSError) else error.__cause__
        reason = describe_os_error(system) if isinstance(system, OSError) else error
        raise AlignmentError(f"{path}: cannot be written: {reason}; no run was left behind") from error


def dictionary(path: str | PathLike[str]) -> Lexicon | None:
    """The dictionary of a run, if there is one, without loading tables; a separate dev dictionary is not included."""
    path, description = Path(path), describe(path)
    separate_dev = description["inputs"]["dev"] is not None
    pairs = given_pairs(_load_train(path, description), None if separate_dev else _load_dev(path), description)
    return pairs if len(pairs) else None


def load(path: str | PathLike[str], *, device: str | None = None) -> Alignment:
    """Open a run folder, after checking that its files are unchanged and valid."""
    path, place = Path(path), choose_device(device)
    description = describe(path)
    try:
        check_files(path, description.get("files"))
        source, target = (_load_table(path, side, description) for side in SIDES)
        mapping, normalizers = _load_mapping(path, description, place)
        alignment = Alignment(
            source=source,
            target=target,
            source_normalizer=normalizers[0],
            target_normalizer=normalizers[1],
            mapping=mapping,
            train=_load_train(path, description),
            dev=_load_dev(path),
            trace=Trace.read(path / TRACE),
            provenance={name: value for name, value in description.items() if name not in _NOT_PROVENANCE},
            device=place,
            folder=path,
            reranker=reranker_file.read(
                description.get("second_stage"), path, Sides(*(len(table) for table in (source, target)))
            ),
        )
    except OSError as error:
        raise AlignmentError(f"{error.filename or path}: cannot be read: {error_text(error)}; {AGAIN}") from error
    _probe(alignment, path / MAPPING)
    return alignment


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """The contents of alignment.json, checked against the schema."""
    path = Path(path)
    file = path / DESCRIPTION
    try:
        check_places(path)
        if not file.exists():
            raise AlignmentError(f"{path}: this is no run folder (it has no {DESCRIPTION}); make one with `align`")
        found = read_json(file)
    except (OSError, ValueError) as error:
        raise AlignmentError(f"{file}: cannot be read: {error_text(error)}; align again") from error
    if not isinstance(found, dict) or any(found.get(name) != value for name, value in FORMAT.items()):
        raise AlignmentError(f"{file}: not a run folder that this version of bilex can open; update bilex")
    try:
        check_type(found, Description)
    except ValueError as error:
        raise AlignmentError(f"{file}: damaged: {error}; align again") from error
    return found


def _load_table(path: Path, side: Side, description: dict[str, Any]) -> EmbeddingTable:
    file, expected = path / f"{side}.safetensors", description["inputs"][side]
    try:
        table = EmbeddingTable.read(file)
    except TableError as error:
        raise AlignmentError(f"{error} (it is a file of a run: {AGAIN})") from error
    if (len(table), table.dim) != (expected["words"], expected["dim"]):
        raise AlignmentError(
            f"{file}: has {len(table):,} words of {table.dim} dimensions, and the run was made of "
            f"{expected['words']:,} of {expected['dim']}; {AGAIN}"
        )
    subwords = description["subwords"][side]
    return table if subwords is None else dataclasses.replace(table, subwords=LaterSubwords(Path(subwords), table.dim))


def _load_train(path: Path, description: dict[str, Any]) -> Lexicon:
    """The train dictionary; an unsupervised run has none."""
    if description["inputs"]["train"]["pairs"] == 0:
        return Lexicon.from_pairs([])
    return _own_dictionary(path / TRAIN)


def _load_dev(path: Path) -> Lexicon | None:
    return _own_dictionary(path / DEV) if (path / DEV).exists() else None


def _own_dictionary(path: Path) -> Lexicon:
    """A dictionary as `Lexicon.write` has written it. Nothing is guessed: any other file is refused."""
    pairs, report = read_pairs(path, separator="tab")
    return Lexicon(pairs, origin=path, report=report)


def _load_mapping(path: Path, description: dict[str, Any], device: torch.device) -> tuple[Mapping, list[Normalizer]]:
    """The mapping and both normalizers, after checking their arrays."""
    prefix, kind, steps = "mapping.", description["mapping"], description["normalize"]
    if kind != LinearMapping.kind:
        import_mapping_kinds()
    sizes = [{"d": description["inputs"][side]["dim"]} for side in SIDES]
    try:
        arrays, _ = read_arrays(path / MAPPING, checksum=False)
        own = {name.removeprefix(prefix): array.to(device) for name, array in arrays.items() if name.startswith(prefix)}
        mapping = mapping_from_arrays(kind, own, sizes[0])
        names = [f"{side}_normalizer" for side in SIDES]
        return mapping, [Normalizer.from_arrays(steps, arrays, *of) for of in zip(names, sizes, strict=True)]
    except SettingsError as error:  # a step of another version, or none
        raise AlignmentError(f"{path / DESCRIPTION}: {error}; update bilex, or align again") from error
    except ValueError as error:
        raise AlignmentError(f"{path / MAPPING}: damaged: {error}; {AGAIN}") from error


def _probe(alignment: Alignment, file: Path) -> None:
    """Map the first rows of both tables, to check that they reach one space with finite numbers."""
    try:
        normalizers = (alignment.source_normalizer, alignment.target_normalizer)
        heads = (torch.from_numpy(table.rows[:PROBE_ROWS]) for table in (alignment.source, alignment.target))
        x, z = (normalizer(rows.to(alignment.device)) for normalizer, rows in zip(normalizers, heads, strict=True))
        mapped = [alignment.mapping.source(x, among=x), alignment.mapping.target(z, among=z)]
        widths = {tuple(rows.shape[1:]) for rows in mapped}
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        reason = str(error).split("\n")[0]
        raise AlignmentError(f"{file}: damaged, it does not fit the tables ({reason}); {AGAIN}") from error
    if len(widths) > 1 or not all(map(all_finite, mapped)):
        raise AlignmentError(f"{file}: damaged, it does not lead into one space of finite numbers; {AGAIN}")


def check_free(path: str | PathLike[str], *, replace: bool = False) -> None:
    """Before any work is done, refuse a path that exists; with `replace`, a run may be there."""
    path = Path(path)
    if replace and path.exists():
        check_replaceable(path)
    elif path.exists():
        known = (path / "alignment.json").is_file()
        way = "replace it with `replace=True`" if known else "remove it first"
        raise AlignmentError(f"{path} exists already and is left as it is: choose another name, or {way}")


def import_mapping_kinds() -> None:
    """Import all methods, which register their kinds of mappings."""
    from bilex.methods.base import all_methods

    all_methods()


def _plain(array: Tensor) -> Tensor:
    return array.cpu().contiguous()


def _subword_file(table: EmbeddingTable) -> str | None:
    if isinstance(table.subwords, LaterSubwords):
        return str(table.subwords.file)
    if table.subwords is None or table.origin is None:
        return None
    return printable(str(table.origin.resolve()))


class LaterSubwords:
    """Subword vectors of a table, too large to copy into a run; its file is opened when first needed."""

    def __init__(self, file: Path, dim: int) -> None:
        self.file, self.dim = file, dim
        self._subwords: Subwords | None = None

    def __call__(self, word: str) -> NDArray[np.float32]:
        """The vector of an unknown word, computed from the subwords of the original file."""
        if self._subwords is None:
            self._subwords = self._open(word)
        return self._subwords(word)

    def _open(self, word: str) -> Subwords:
        try:
            table = EmbeddingTable.read(self.file, max_words=1) if self.file.is_file() else None
        except OSError:  # a name that no file can have
            table = None
        if table is None or table.subwords is None or table.dim != self.dim:
            raise AlignmentError(
                f"{word!r} is not in the table, and {self.file}, whose subwords could give it a vector, is gone or has "
                f"none of {self.dim} dimensions; put the file back, or align again"
            )
        return table.subwords
