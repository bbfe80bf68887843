"""The run folder: an alignment on disk, self-contained, without pickle.

alignment.json        what was aligned, with which settings, versions and file hashes
mapping.safetensors   the mapping and the fitted normalization
source.safetensors    the tables as they were used, memory-mapped when opened
target.safetensors
train.tsv, dev.tsv    the dictionaries as they were used, where there were any
trace.jsonl           one record per epoch or round
cache/                penalties of retrieval, computed at first use; may be deleted at any time
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes

from bilex.alignment import Alignment
from bilex.disk import why
from bilex.errors import AlignmentError, TableError
from bilex.files import replacing_folder
from bilex.lexicon import Lexicon
from bilex.mapping import mapping_from_arrays
from bilex.normalize import Normalizer
from bilex.printable import printable
from bilex.replaceable import check_replaceable
from bilex.table import EmbeddingTable
from bilex.trace import Trace

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from bilex.io.contents import Subwords
    from bilex.retrieval.base import Side

FORMAT = {"format": "bilex-alignment", "version": 1}


def save(alignment: Alignment, path: str | PathLike[str], *, replace: bool = False) -> None:
    """Write a run folder, whole or not at all; with `replace` in place of another run."""
    path = Path(path)
    check_free(path, replace=replace)
    arrays = {f"mapping.{name}": array for name, array in alignment.mapping.arrays().items()}
    arrays |= alignment.source_normalizer.arrays("source_normalizer")
    arrays |= alignment.target_normalizer.arrays("target_normalizer")
    description = {
        **FORMAT,
        "mapping": alignment.mapping.kind,
        "normalize": alignment.source_normalizer.steps,
        "subwords": {side: _subword_file(getattr(alignment, side)) for side in ("source", "target")},
        **alignment.provenance,
    }
    try:
        may_replace = (lambda aside: check_replaceable(path, aside)) if replace else None
        with replacing_folder(path, may_replace=may_replace) as folder:
            (folder / "mapping.safetensors").write_bytes(to_bytes({name: _plain(a) for name, a in arrays.items()}))
            alignment.source.write(folder / "source.safetensors")
            alignment.target.write(folder / "target.safetensors")
            if len(alignment.train):
                alignment.train.write(folder / "train.tsv")
            if alignment.dev is not None:
                alignment.dev.write(folder / "dev.tsv")
            alignment.trace.write(folder / "trace.jsonl")
            text = json.dumps(description, indent=2, ensure_ascii=False)
            (folder / "alignment.json").write_text(text + "\n", encoding="utf-8")
    except (OSError, SafetensorError, TableError) as error:
        system = error if isinstance(error, OSError) else error.__cause__
        reason = why(system) if isinstance(system, OSError) else error
        raise AlignmentError(f"{path}: cannot be written: {reason}; no run was left behind") from error


def load(path: str | PathLike[str], *, device: str | None = None) -> Alignment:
    """Open a run folder."""
    from bilex.fitting import choose_device

    path, place = Path(path), choose_device(device)
    description = describe(path)
    arrays = _load_arrays(path / "mapping.safetensors")
    prefix = "mapping."
    import_mapping_kinds()
    own = {name.removeprefix(prefix): array.to(place) for name, array in arrays.items() if name.startswith(prefix)}
    try:
        mapping = mapping_from_arrays(description["mapping"], own)
        names = ("source_normalizer", "target_normalizer")
        normalizers = [Normalizer.from_arrays(description["normalize"], arrays, name) for name in names]
    except (KeyError, TypeError) as error:
        raise AlignmentError(f"{path / 'mapping.safetensors'}: damaged, arrays are missing; align again") from error
    return Alignment(
        source=_load_table(path, "source", description),
        target=_load_table(path, "target", description),
        source_normalizer=normalizers[0],
        target_normalizer=normalizers[1],
        mapping=mapping,
        train=_load_train(path, description),
        dev=Lexicon.read(path / "dev.tsv", separator="tab") if (path / "dev.tsv").exists() else None,
        trace=Trace.read(path / "trace.jsonl"),
        provenance={name: value for name, value in description.items() if name not in _OWN},
        device=place,
        folder=path,
    )


def _load_train(path: Path, description: dict[str, Any]) -> Lexicon:
    """The train dictionary; an unsupervised run has none."""
    if description["inputs"]["train"]["pairs"] == 0:
        return Lexicon.from_pairs([])
    return Lexicon.read(path / "train.tsv", separator="tab")


_OWN = (*FORMAT, "mapping", "normalize", "subwords")


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """The contents of a run's alignment.json."""
    file = Path(path) / "alignment.json"
    if not file.is_file():
        raise AlignmentError(f"{path}: this is no run folder (it has no alignment.json); make one with bilex align")
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise AlignmentError(f"{file}: cannot be read: {error}; align again") from error
    if not isinstance(found, dict) or any(found.get(name) != value for name, value in FORMAT.items()):
        raise AlignmentError(f"{file}: not a run folder that this version of bilex can open; update bilex")
    if missing := [name for name in _OWN if name not in found]:
        raise AlignmentError(f"{file}: damaged, it has no {', '.join(missing)}; align again")
    return found


def check_free(path: str | PathLike[str], *, replace: bool = False) -> None:
    """Refuse a place that is taken, before any work is done; with `replace` a run may be there."""
    path = Path(path)
    if replace and path.exists():
        check_replaceable(path)
    elif path.exists():
        known = (path / "alignment.json").is_file()
        way = "replace it with --force (in Python replace=True)" if known else "remove it first"
        raise AlignmentError(f"{path} exists already and is left as it is: choose another name, or {way}")


def import_mapping_kinds() -> None:
    """Kinds of mappings live beside their methods: have them all known."""
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


def _load_table(path: Path, side: Side, description: dict[str, Any]) -> EmbeddingTable:
    table = EmbeddingTable.read(path / f"{side}.safetensors")
    file = description["subwords"][side]
    return table if file is None else dataclasses.replace(table, subwords=LaterSubwords(Path(file)))


class LaterSubwords:
    """Subword vectors of a table that is too large to copy into a run: its file is opened when a word asks for it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._subwords: Subwords | None = None

    def __call__(self, word: str) -> NDArray[np.float32]:
        """The vector that the original file makes for an unknown word."""
        if self._subwords is None:
            self._subwords = self._open(word)
        return self._subwords(word)

    def _open(self, word: str) -> Subwords:
        subwords = EmbeddingTable.read(self.file, max_words=1).subwords if self.file.is_file() else None
        if subwords is None:
            raise AlignmentError(
                f"{word!r} is not in the table, and {self.file}, whose subwords could give it a vector, is gone or has "
                "none; put the file back, or align again"
            )
        return subwords


def _load_arrays(path: Path) -> dict[str, Tensor]:
    try:
        arrays: dict[str, Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise AlignmentError(f"{path}: cannot be read: {error}; align again") from error
    return arrays
