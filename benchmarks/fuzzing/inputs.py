"""An input of the fuzzer: a few files, made anew for each try, and kept as one JSON file where they show a fault."""

from __future__ import annotations

import base64
import json
import os
import socket
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bilex.storage.files import atomic_write

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Special:
    """What may stand where a file should: a link to a path, a folder, a socket, a pipe (FIFO) that nobody writes to."""

    kind: str
    to: str = ""


Files = dict[str, bytes | Special]
"""Contents by path inside a folder."""


@dataclass(frozen=True)
class Input:
    """Files for a target; `rng_seed` and `number` also decide what is done with them."""

    target: str
    rng_seed: int
    number: int
    files: Files

    def write(self, folder: Path) -> None:
        """Put the files into an empty folder."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            elif content.kind == "link":
                path.symlink_to(content.to)
            elif content.kind == "folder":
                path.mkdir()
            elif content.kind == "socket":
                with closing(socket.socket(socket.AF_UNIX)) as made:
                    made.bind(str(path))
            else:
                os.mkfifo(path)

    def save(self, path: Path, fault: str) -> None:
        """Keep it, with what went wrong."""
        record = {
            "target": self.target,
            "rng_seed": self.rng_seed,
            "number": self.number,
            "fault": fault,
            "files": {name: _to_json(content) for name, content in self.files.items()},
        }
        with atomic_write(path) as temporary:
            temporary.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Input:
        """The inverse of `save`."""
        record = json.loads(path.read_text(encoding="utf-8"))
        files = {name: _from_json(content) for name, content in record["files"].items()}
        return cls(record["target"], record["rng_seed"], record["number"], files)


def _to_json(content: bytes | Special) -> Any:
    if isinstance(content, bytes):
        return base64.b64encode(content).decode()
    return {"kind": content.kind, "to": content.to}


def _from_json(content: Any) -> bytes | Special:
    return base64.b64decode(content) if isinstance(content, str) else Special(content["kind"], content["to"])
