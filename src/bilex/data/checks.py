"""Checks of fetched files: against a given checksum, or else against the checksum of the first fetch."""

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
    """How to check files. checksums: by file name; verify: also hash files that exist already."""

    checksums: Mapping[str, str] = field(default_factory=dict)
    verify: bool = False
    accept_changed: bool = False

    def expected(self, place: Place) -> str | None:
        """The given checksum of a file, or None."""
        return self.checksums.get(place.path.name)

    def is_enough(self, place: Place, item: Item) -> bool:
        """Whether an existing file has all requested words. DataError if it has changed or its checksum is wrong."""
        record, expected = place.current(), self.expected(place)
        if record is None and place.records() and not expected:
            raise DataError(
                f"{place.path}: it has changed since it was fetched; fetch it again with `force=True`, or move it away"
            )
        if record and not record.has(item.max_words):
            return False
        needed = expected or (record.sha256 if record and self.verify else None)
        if needed and (found := sha256(place.path)) != needed:
            raise DataError(f"{place.path}: its sha256 is {found}, needed {needed}; fetch it again with `force=True`")
        return True

    def accept(self, place: Place, record: Record) -> Record:
        """Check the record of a new download. Returns it, or the older record if the checksum is the same."""
        expected = self.expected(place)
        cut = "" if record.max_words is None else f", cut to {record.max_words:,} words,"
        if expected and record.sha256 != expected:
            raise ContentError(f"its sha256{cut} is {record.sha256}, needed {expected}; the download was removed")
        known = place.known(record.max_words)
        if known is None or known.sha256 == record.sha256:
            return known or record
        if not (expected or self.accept_changed):
            raise ContentError(
                f"it has changed since {known.fetched_at}: its sha256{cut} is {record.sha256}, then {known.sha256}; "
                "results from the two versions cannot be compared; to use the new one: `accept_changed=True`"
            )
        return record


def read_checksums(path: Path) -> dict[str, str]:
    """Checksums by file name, from a file in the format of `sha256sum`."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); needed lines of sha256sum") from None
    checksums = {}
    for number, line in enumerate(lines, start=1):
        match = CHECKSUM_LINE.fullmatch(line)
        if not match:
            raise DataError(f"{path}:{number}: found {line[:80]!r}; needed a sha256, two spaces and a file name")
        checksums[re.split(r"[/\\]", match[2])[-1]] = match[1].lower()
    return checksums
