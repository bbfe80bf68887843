"""Hashes and checksums that fit what was damaged: without them nothing behind the first check would be tried."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from safetensors import SafetensorError
from safetensors.torch import load, save

from bilex.run.cache import RUN
from bilex.run.files import CACHE, DESCRIPTION
from bilex.storage.array_file import CHECKSUM_KEY, METADATA_KEY, compute_checksum

if TYPE_CHECKING:
    from random import Random

    from fuzzing.inputs import Files


def seal_run(files: Files, rng: Random) -> None:
    """Mostly as a run of this version would be with such files, or of one that had no hashes; sometimes as it is."""
    if rng.random() < 0.15:
        return
    described = files.get(DESCRIPTION)
    with suppress(AttributeError, KeyError, RecursionError, TypeError, ValueError):
        value = json.loads(described)
        if rng.random() < 0.4:
            del value["files"]
        else:
            value["files"].update({name: _described(files[name]) for name in value["files"] if name in files})
        files[DESCRIPTION] = json.dumps(value).encode()
    if isinstance(described := files.get(DESCRIPTION), bytes):
        run = sha256(described).hexdigest()
        for name, content in files.items():
            if name.startswith(f"{CACHE}/") and isinstance(content, bytes):
                files[name] = seal_arrays(content, run)


def seal_arrays(data: bytes, run: str | None = None) -> bytes:
    """With the checksum that its arrays and notes have, and as of that run; the same if it has none any more."""
    with suppress(SafetensorError, ValueError, TypeError, KeyError, AttributeError, RuntimeError, RecursionError):
        arrays, length = load(data), int.from_bytes(data[:8], "little")
        notes = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][METADATA_KEY])
        notes = {name: text for name, text in notes.items() if name != CHECKSUM_KEY} | (
            {} if run is None else {RUN: run}
        )
        return save(
            arrays, metadata={METADATA_KEY: json.dumps({**notes, CHECKSUM_KEY: compute_checksum(arrays, notes)})}
        )
    return data


def _described(content: object) -> dict[str, int | str]:
    data = content if isinstance(content, bytes) else b""
    return {"bytes": len(data), "sha256": sha256(data).hexdigest()}
