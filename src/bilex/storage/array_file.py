"""Named arrays in a safetensors file, with a checksum: what is read is what was written, or refused."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from bilex.storage.disk import require_regular_file
from bilex.storage.files import atomic_write
from bilex.storage.strict_json import check_type, from_json, to_json

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

METADATA_KEY, CHECKSUM_KEY = "bilex", "sha256"
"""The only key, since safetensors would write several in any order, and the one beside the notes in its JSON text."""


def write_arrays(path: Path, arrays: dict[str, Tensor], notes: dict[str, str] | None = None) -> None:
    """Write arrays and notes, whole or not at all. OSError if that cannot be done."""
    import torch
    from safetensors.torch import save

    plain = {name: array.detach().cpu().clone(memory_format=torch.contiguous_format) for name, array in arrays.items()}
    told = to_json({**(notes or {}), CHECKSUM_KEY: compute_checksum(plain, notes or {})})
    with atomic_write(path) as temporary:
        temporary.write_bytes(save(plain, metadata={METADATA_KEY: told}))


def read_arrays(path: Path, *, checksum: bool = True) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Arrays, on the CPU, and notes. OSError or ValueError if the file cannot be read or is damaged.

    Without `checksum` it may be any safetensors file, and has no notes.
    """
    from safetensors import SafetensorError, safe_open

    require_regular_file(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            # Copied: a file that is cut short while it is mapped into memory would end the program.
            arrays = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 (it is no dict)
    except (SafetensorError, AttributeError, KeyError, RuntimeError, TypeError) as error:
        raise ValueError(f"it is no safetensors file: {error}") from error
    if not checksum:
        return arrays, {}
    notes = from_json(metadata.get(METADATA_KEY, "{}"))
    check_type(notes, dict[str, str])
    if (known := notes.pop(CHECKSUM_KEY, None)) != compute_checksum(arrays, notes):
        raise ValueError("its checksum is wrong" if known else "it has no checksum")
    return arrays, notes


def compute_checksum(arrays: dict[str, Tensor], notes: dict[str, str]) -> str:
    """SHA-256 over names, types, shapes and bytes."""
    import torch

    found = hashlib.sha256(repr(sorted(notes.items())).encode(errors="surrogatepass"))
    for name in sorted(arrays):
        array = arrays[name]
        found.update(f"{name!r} {array.dtype} {tuple(array.shape)}".encode())
        found.update(array.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()
