"""The data folder with the fetched files, and a record of each fetch.

FOLDER/muse/wiki.en.vec                   a file
FOLDER/muse/wiki.en.vec.part, .part.json  an unfinished download, and its version on the server
FOLDER/muse/.fetched/wiki.en.vec.json     records: address, size, checksum and time of each fetch
FOLDER/muse/.fetched/wiki.en.vec.lock     lock file while a process fetches the file; harmless if left over
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.errors import DataError
from bilex.storage import strict_json
from bilex.storage.files import atomic_write, sha256
from bilex.storage.folders import cache_folder

if TYPE_CHECKING:
    from bilex.data.catalog import Item

FOLDER_VARIABLE = "BILEX_DATA"


def data_folder() -> Path:
    """$BILEX_DATA, or the folder `bilex` in the user's cache folder."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given).expanduser()
    return cache_folder()


@dataclass(frozen=True)
class Record:
    """One fetch: address, size, checksum and time. `words` is the number of words of a file cut to `max_words`."""

    url: str
    bytes: int
    sha256: str
    fetched_at: str
    max_words: int | None = None
    words: int | None = None

    @classmethod
    def of(cls, path: Path, url: str, max_words: int | None = None, words: int | None = None) -> Record:
        """A record of a file that was just fetched."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(url, path.stat().st_size, sha256(path), now, max_words, words)

    def has(self, max_words: int | None) -> bool:
        """Whether the file has the first `max_words` words of the table (None: all words)."""
        if self.max_words is None or self.words is None or self.words < self.max_words:
            return True
        return max_words is not None and max_words <= self.max_words


@dataclass(frozen=True)
class Place:
    """The path of a file in the data folder, and the paths of its partial download, lock file and records."""

    path: Path

    @classmethod
    def of(cls, item: Item, folder: Path) -> Place:
        """The paths of an item of the catalogue."""
        return cls(folder / item.collection / item.name)

    @property
    def part(self) -> Path:
        """The partial download."""
        return self.path.with_name(f"{self.path.name}.part")

    @property
    def lock(self) -> Path:
        """The lock file, held while the file is fetched."""
        return self._notes / f"{self.path.name}.lock"

    @property
    def _notes(self) -> Path:
        return self.path.parent / ".fetched"

    @property
    def _records(self) -> Path:
        return self._notes / f"{self.path.name}.json"

    def make(self) -> None:
        """Create the folders."""
        try:
            self._notes.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(
                f"{self.path.parent}: cannot be created ({error.strerror}); choose another `folder`, or set "
                f"{FOLDER_VARIABLE}"
            ) from None

    def records(self) -> list[Record]:
        """The records of this file, one for each `max_words`: the first fetch, or the last accepted change."""
        try:
            return [Record(**entry) for entry in read_json(self._records).get("records", [])]
        except TypeError:
            raise DataError(
                f"{self._records}: damaged or not written by bilex; remove it and fetch again with `force=True`"
            ) from None

    def known(self, max_words: int | None) -> Record | None:
        """The record of the file cut to `max_words`."""
        return next((record for record in self.records() if record.max_words == max_words), None)

    def current(self) -> Record | None:
        """The record of the current file. None if it was not fetched, or has changed since."""
        size = self.path.stat().st_size
        return next((record for record in self.records() if record.bytes == size), None)

    def remember(self, record: Record) -> None:
        """Save the record. It replaces a record with the same `max_words`."""
        others = [known for known in self.records() if known.max_words != record.max_words]
        write_json(self._records, {"records": [asdict(known) for known in (*others, record)]})


def list_fetched(folder: Path, collection: str) -> list[Place]:
    """The files of a collection in the data folder."""
    found = sorted((folder / collection).glob("[!.]*"))
    return [Place(path) for path in found if path.is_file() and not path.name.endswith((".part", ".part.json"))]


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file, or an empty dict if the file does not exist."""
    try:
        found = strict_json.read_json(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}); remove it and fetch again") from None
    return found if isinstance(found, dict) else {}


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON object to a file, atomically."""
    with atomic_write(path) as temporary:
        temporary.write_text(strict_json.to_json(value, indent=2) + "\n", encoding="utf-8")
