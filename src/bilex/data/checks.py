"""Whether a file is what it should be: by a checksum that somebody gave, or else by that of its first fetch."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bilex.data.text import ContentError
from bilex.errors import DataError
from bilex.storage.files import sha256

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bilex.data.catalog import Item
    from bilex.data.folder import Place, Record

CHECKSUM_LINE = re.compile(r"([0-9a-fA-F]{64}) [ *](.+)")


@dataclass(frozen=True)
class Checks:
    """`checksums` are by file name; `verify` hashes files that are there already, too."""

    checksums: Mapping[str, str] = field(default_factory=dict)
    verify: bool = False
    accept_changed: bool = False

    def expected(self, place: Place) -> str | None:
        """The hash that was given for a file."""
        return self.checksums.get(place.path.name)

    def is_enough(self, place: Place, item: Item) -> bool:
        """Whether a file that is there has the words asked for; DataError if it is not what it should be."""
        record, expected = place.current(), self.expected(place)
        if record is None and place.records() and not expected:
            raise DataError(
                f"{place.path}: it is not as it was fetched; fetch it again with `force=True`, or move it away"
            )
        if record and not record.has(item.max_words):
            return False
        wanted = expected or (record.sha256 if record and self.verify else None)
        if wanted and (found := sha256(place.path)) != wanted:
            raise DataError(f"{place.path}: its sha256 is {found}, needed {wanted}; fetch it again with `force=True`")
        return True

    def accept(self, place: Place, record: Record) -> Record:
        """The record of what has come, if it is what it should be; the older one if that says the same."""
        expected = self.expected(place)
        cut = "" if record.max_words is None else f", cut to {record.max_words:,} words,"
        if expected and record.sha256 != expected:
            raise ContentError(f"its sha256{cut} is {record.sha256}, needed {expected}; nothing of it was kept")
        known = place.known(record.max_words)
        if known is None or known.sha256 == record.sha256:
            return known or record
        if not (expected or self.accept_changed):
            raise ContentError(
                f"it has changed since {known.fetched_at}: its sha256{cut} is {record.sha256}, then {known.sha256}; "
                "figures from the two do not compare; to have the new one all the same: `accept_changed=True`"
            )
        return record


def read_checksums(path: Path) -> dict[str, str]:
    """Checksums by file name, from lines as `sha256sum` prints them."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); needed lines of sha256sum") from None
    found = {}
    for number, line in enumerate(lines, start=1):
        match = CHECKSUM_LINE.fullmatch(line)
        if not match:
            raise DataError(f"{path}:{number}: found {line[:80]!r}; needed a sha256, two spaces and a file name")
        found[re.split(r"[/\\]", match[2])[-1]] = match[1].lower()
    return found
