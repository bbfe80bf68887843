"""Named arrays in a safetensors file with a checksum. A damaged file is refused."""

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
"""The only metadata key of the file, and the key of the checksum in its JSON text.

There is only one metadata key because safetensors does not keep the order of several: the same arrays should always
give the same bytes.
"""


def write_arrays(path: Path, arrays: dict[str, Tensor], notes: dict[str, str] | None = None) -> None:
    """Write arrays and notes atomically. OSError if the file cannot be written."""
    import torch
    from safetensors.torch import save

    copies = {name: array.detach().cpu().clone(memory_format=torch.contiguous_format) for name, array in arrays.items()}
    metadata = to_json({**(notes or {}), CHECKSUM_KEY: compute_checksum(copies, notes or {})})
    with atomic_write(path) as temporary:
        temporary.write_bytes(save(copies, metadata={METADATA_KEY: metadata}))


def read_arrays(path: Path, *, checksum: bool = True) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read arrays (on the CPU) and notes. OSError or ValueError if the file cannot be read or is damaged.

    With `checksum=False` any safetensors file is accepted, and the notes are empty.
    """
    from safetensors import SafetensorError, safe_open

    require_regular_file(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            # Copied, because the process would crash if the file were truncated while it is mapped into memory.
            arrays = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, AttributeError, KeyError, RuntimeError, TypeError) as error:
        raise ValueError(f"it is not a safetensors file: {error}") from error
    if not checksum:
        return arrays, {}
    notes = from_json(metadata.get(METADATA_KEY, "{}"))
    check_type(notes, dict[str, str])
    if (expected := notes.pop(CHECKSUM_KEY, None)) != compute_checksum(arrays, notes):
        none = "it has no checksum; it was saved by an early version of bilex, or it is damaged"
        raise ValueError("its checksum is wrong" if expected else none)
    return arrays, notes


def compute_checksum(arrays: dict[str, Tensor], notes: dict[str, str]) -> str:
    """SHA-256 of the notes, and of the names, dtypes, shapes and bytes of the arrays."""
    import torch

    digest = hashlib.sha256(repr(sorted(notes.items())).encode(errors="surrogatepass"))
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name!r} {array.dtype} {tuple(array.shape)}".encode())
        digest.update(array.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
