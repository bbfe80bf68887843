"""A download that goes on where it broke off, in this call or a later one, and never mixes two states of a file."""

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
"""More than a word and 300 numbers take as text."""


@dataclass(frozen=True)
class Session:
    """How patiently to fetch, and whom to tell: `progress` gets a label, what is done and all there is to do."""

    timeout: float = 30.0
    tries: int = 5
    wait: Callable[[float], None] = time.sleep
    tell: Callable[[str], None] = lambda _: None
    progress: Callable[[str, int, int], None] = lambda *_: None


class PartialDownload:
    """The first bytes of a file, and beside them a note of which file they are of."""

    def __init__(self, path: Path, address: str | Path) -> None:
        self.path, self.address = path, str(address)
        self._note = path.with_name(f"{path.name}.json")

    @property
    def have(self) -> int:
        """Bytes so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    def version(self) -> Version | None:
        """The version that the bytes are of; None if they are of another address, or nobody knows."""
        try:
            note: dict[str, Any] = read_json(self._note)
            same = note.pop("address", None) == self.address and self.path.exists()
            return Version(**note) if same else None
        except (DataError, TypeError):
            return None

    def begin(self, version: Version) -> None:
        """Throw away what is there. The note comes last: without it the bytes count for nothing."""
        self._note.unlink(missing_ok=True)
        self.path.write_bytes(b"")
        write_json(self._note, {"address": self.address, **asdict(version)})

    def discard(self) -> None:
        """Remove the bytes and the note."""
        self._note.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


def download(address: str | Path, part: PartialDownload, *, max_words: int | None, session: Session) -> None:
    """Fill the part: the whole file, or what holds its header and its first `max_words` lines.

    Trouble that may pass is waited for, longer each time, until so many tries in a row have brought nothing new.
    """
    failed = furthest = 0
    while True:
        try:
            return _resume(address, part, max_words, session)
        except TransientError as trouble:
            failed = 1 if part.have > furthest else failed + 1
            furthest = max(furthest, part.have)
            if failed >= session.tries:
                raise DataError(
                    f"{address}: {trouble}, {failed} times; {part.have:,} bytes are kept, and the same command goes on "
                    "from there; check the network, or name a `mirror` (an address or a folder)"
                ) from None
            delay = max(trouble.after, 2.0 ** (failed - 1))
            session.tell(f"{address}: {trouble}; trying again in {delay:.0f} s")
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
    """Append what comes, as long as something does and more is needed."""
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
    """Refuse what the disk has no room for; of a table that is cut, the part and the cut lie side by side."""
    needed = remote.version.total - remote.start
    if max_words is not None:
        needed = min(needed, max_words * BYTES_PER_WORD) + min(remote.version.total, max_words * BYTES_PER_WORD)
    free = free_bytes(part.path)
    if needed > free:
        raise DataError(
            f"{part.path.parent}: {free / 1e9:.1f} GB are free, {part.path.stem} needs {needed / 1e9:.1f} GB; make "
            "room, choose another `folder`, or fetch fewer words (`max_words`)"
        )


def _write(file: Any, chunk: bytes) -> None:
    try:
        file.write(chunk)
        file.flush()
    except OSError as error:
        raise DataError(
            f"{file.name}: cannot be written ({error.strerror}); make room, or choose another `folder`; what has come "
            "is kept"
        ) from None
