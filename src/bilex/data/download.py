"""Downloads that resume after an interruption, also in a later call, and never mix two versions of a file."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.data.folder import read_json, write_json
from bilex.data.remote import Remote, TransientError, Version, open_file
from bilex.data.text import LineCounter
from bilex.data.web import open_url
from bilex.errors import DataError
from bilex.storage.disk import free_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

BYTES_PER_WORD = 3600
"""An upper estimate for a word with 300 numbers as text."""


@dataclass(frozen=True)
class Session:
    """Timeout, number of tries, and callbacks of a download. `progress` gets a label, the amount done and the total."""

    timeout: float = 30.0
    tries: int = 5
    wait: Callable[[float], None] = time.sleep
    tell: Callable[[str], None] = lambda _: None
    progress: Callable[[str, int, int], None] = lambda *_: None


class PartialDownload:
    """The first bytes of a file, and a JSON file beside it that says which version of which file they are."""

    def __init__(self, path: Path, address: str | Path) -> None:
        self.path, self.address = path, str(address)
        self._note = path.with_name(f"{path.name}.json")

    @property
    def have(self) -> int:
        """Number of bytes received so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    def version(self) -> Version | None:
        """The version of the file that the bytes belong to. None if unknown, or if the address differs."""
        try:
            note: dict[str, Any] = read_json(self._note)
            same = note.pop("address", None) == self.address and self.path.exists()
            return Version(**note) if same else None
        except (DataError, TypeError):
            return None

    def begin(self, version: Version) -> None:
        """Start again with no bytes. The note is written last: without it the bytes are not used."""
        self._note.unlink(missing_ok=True)
        self.path.write_bytes(b"")
        write_json(self._note, {"address": self.address, **asdict(version)})

    def discard(self) -> None:
        """Remove the bytes and the note."""
        self._note.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


def download(address: str | Path, part: PartialDownload, *, max_words: int | None, session: Session) -> None:
    """Download the whole file, or enough for its header and its first `max_words` lines.

    Transient errors are retried with exponential backoff, until `session.tries` tries in a row have brought no new
    bytes.
    """
    failed = furthest = 0
    while True:
        try:
            return _resume(address, part, max_words, session)
        except TransientError as error:
            failed = 1 if part.have > furthest else failed + 1
            furthest = max(furthest, part.have)
            if failed >= session.tries:
                raise DataError(
                    f"{address}: {error}, {failed} times; {part.have:,} bytes are kept, and the same command continues "
                    "from there; check the network, or name a `mirror` (an address or a folder)"
                ) from None
            delay = max(error.after, 2.0 ** (failed - 1))
            session.tell(f"{address}: {error}; trying again in {delay:.0f} s")
            session.wait(delay)


def _resume(address: str | Path, part: PartialDownload, max_words: int | None, session: Session) -> None:
    version = part.version()
    if version and _is_complete(part, version, max_words):
        return
    with _open(address, part.have, version, session.timeout) as remote:
        if remote.start == 0:
            part.begin(remote.version)
        _require_disk_space(part, remote, max_words)
        _receive(remote, part, max_words, session)
    if not _is_complete(part, remote.version, max_words):
        raise TransientError(f"the connection ended after {part.have:,} of {remote.version.total:,} bytes")


def _open(address: str | Path, have: int, version: Version | None, timeout: float) -> Remote:
    if isinstance(address, Path):
        return open_file(address, have, version)
    return open_url(address, have, version, timeout)


def _is_complete(part: PartialDownload, version: Version, max_words: int | None) -> bool:
    return part.have == version.total or (max_words is not None and _count_lines(part).count > max_words)


def _receive(remote: Remote, part: PartialDownload, max_words: int | None, session: Session) -> None:
    """Append the received bytes until enough have come or the connection ends."""
    lines = None if max_words is None else _count_lines(part)
    with part.path.open("ab") as file:
        have = remote.start
        while chunk := remote.read():
            _write(file, chunk)
            have += len(chunk)
            if lines is None or max_words is None:
                session.progress(part.path.stem, have, remote.version.total)
                continue
            lines.feed(chunk)
            session.progress(part.path.stem, min(lines.count, max_words), max_words)
            if lines.count > max_words:
                break


def _count_lines(part: PartialDownload) -> LineCounter:
    return LineCounter(gzipped=part.address.endswith(".gz")).feed_file(part.path)


def _require_disk_space(part: PartialDownload, remote: Remote, max_words: int | None) -> None:
    """Refuse a download that does not fit on the disk. A table to cut needs space for download and result."""
    needed = remote.version.total - remote.start
    if max_words is not None:
        needed = min(needed, max_words * BYTES_PER_WORD) + min(remote.version.total, max_words * BYTES_PER_WORD)
    free = free_bytes(part.path)
    if needed > free:
        raise DataError(
            f"{part.path.parent}: {free / 1e9:.1f} GB are free, {part.path.stem} needs {needed / 1e9:.1f} GB; free "
            "some space, choose another `folder`, or fetch fewer words (`max_words`)"
        )


def _write(file: Any, chunk: bytes) -> None:
    try:
        file.write(chunk)
        file.flush()
    except OSError as error:
        raise DataError(
            f"{file.name}: cannot be written ({error.strerror}); free some space, or choose another `folder`; the "
            "bytes received so far are kept"
        ) from None
