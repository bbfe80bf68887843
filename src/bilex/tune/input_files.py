"""The inputs of a search as files, which another process on this or another machine can read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bilex.lexicon import Lexicon
from bilex.storage.files import sha256
from bilex.table import EmbeddingTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bilex.fitting.inputs import Inputs

TABLES, DICTIONARIES = ("source", "target"), ("train", "dev")


@dataclass(frozen=True, kw_only=True)
class Packed:
    """The tables in a format that is mapped into memory, the dictionaries, and all other inputs in plain values."""

    files: dict[str, str]
    """Paths by the name of the input."""
    hashes: dict[str, str]
    method: str
    given: dict[str, str]
    rng_seed: int
    dev_share: float
    fold_case: bool

    @classmethod
    def write(cls, inputs: Inputs, given: Mapping[str, str], folder: Path) -> Packed:
        """Write inputs with a dev lexicon to a folder.  given: the fixed settings of their method."""
        folder.mkdir(parents=True)
        files = {name: folder / f"{name}.safetensors" for name in TABLES}
        files |= {name: folder / f"{name}.tsv" for name in DICTIONARIES}
        for name, path in files.items():
            getattr(inputs, name).write(path)
        return cls(
            files={name: str(path) for name, path in files.items()},
            hashes={name: sha256(path) for name, path in files.items()},
            method=inputs.method.name,
            given=dict(given),
            rng_seed=inputs.rng_seed,
            dev_share=inputs.dev_share,
            fold_case=inputs.fold_case,
        )

    def read(self) -> Inputs:
        """Read the inputs."""
        from bilex.fitting.inputs import Inputs
        from bilex.methods.base import get_method

        source, target = (EmbeddingTable.read(self.files[name]) for name in TABLES)
        train, dev = (Lexicon.read(self.files[name]) for name in DICTIONARIES)
        return Inputs(
            source=source,
            target=target,
            train=train,
            dev=dev,
            method=get_method(self.method, self.given),
            rng_seed=self.rng_seed,
            dev_share=self.dev_share,
            fold_case=self.fold_case,
        )

    def by_hash(self) -> dict[str, Path]:
        """Paths by the hashes of the files."""
        return {self.hashes[name]: Path(path) for name, path in self.files.items()}

    def elsewhere(self, paths: Mapping[str, Path]) -> Packed:
        """The same inputs with other paths, by the hashes of the files."""
        return replace(self, files={name: str(paths[key]) for name, key in self.hashes.items()})
