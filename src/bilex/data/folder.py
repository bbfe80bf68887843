"""The data folder: where fetched files lie, and what is known about each of them.

FOLDER/muse/wiki.en.vec                   a file
FOLDER/muse/wiki.en.vec.part, .part.json  a download that is not finished, and what the server said about it
FOLDER/muse/.fetched/wiki.en.vec.json     what was fetched when, with its hash
FOLDER/muse/.fetched/wiki.en.vec.lock     locked while a process fetches the file, and says which; harmless when left
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilex.errors import DataError
from bilex.storage import strict_json
from bilex.storage.files import atomic_write, sha256

if TYPE_CHECKING:
    from bilex.data.catalog import Item

FOLDER_VARIABLE = "BILEX_DATA"


def data_folder() -> Path:
    """$BILEX_DATA, or the folder `bilex` among the user's caches."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given).expanduser()
    return _cache_folder() / "bilex"


def _cache_folder() -> Path:
    """Where the system keeps what a program can get again."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    given = os.environ.get("XDG_CACHE_HOME", "")
    return Path(given) if Path(given).is_absolute() else Path.home() / ".cache"


@dataclass(frozen=True)
class Record:
    """One fetch: from where, what came, and when. `words` is how many the file has, if it was cut to `max_words`."""

    url: str
    bytes: int
    sha256: str
    fetched_at: str
    max_words: int | None = None
    words: int | None = None

    @classmethod
    def of(cls, path: Path, url: str, max_words: int | None = None, words: int | None = None) -> Record:
        """A record of a file that has just come."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(url, path.stat().st_size, sha256(path), now, max_words, words)

    def has(self, max_words: int | None) -> bool:
        """Whether the first `max_words` words (None: all there are) are in it."""
        if self.max_words is None or self.words is None or self.words < self.max_words:
            return True
        return max_words is not None and max_words <= self.max_words


@dataclass(frozen=True)
class Place:
    """Where a file is, or will be, and what lies around it."""

    path: Path

    @classmethod
    def of(cls, item: Item, folder: Path) -> Place:
        """The place of an item of the catalogue."""
        return cls(folder / item.collection / item.name)

    @property
    def part(self) -> Path:
        """What has come of it so far."""
        return self.path.with_name(f"{self.path.name}.part")

    @property
    def lock(self) -> Path:
        """The file that is locked while it is fetched."""
        return self._notes / f"{self.path.name}.lock"

    @property
    def _notes(self) -> Path:
        return self.path.parent / ".fetched"

    @property
    def _records(self) -> Path:
        return self._notes / f"{self.path.name}.json"

    def make(self) -> None:
        """Make the folders."""
        try:
            self._notes.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(
                f"{self.path.parent}: cannot be made ({error.strerror}); choose another `folder`, or set "
                f"{FOLDER_VARIABLE}"
            ) from None

    def records(self) -> list[Record]:
        """What was fetched to here, one for each `max_words`: the first, or the last that was accepted."""
        try:
            return [Record(**entry) for entry in read_json(self._records).get("records", [])]
        except TypeError:
            raise DataError(
                f"{self._records}: not as bilex wrote it; remove it and fetch again with `force=True`"
            ) from None

    def known(self, max_words: int | None) -> Record | None:
        """The record of the file cut to `max_words`."""
        return next((record for record in self.records() if record.max_words == max_words), None)

    def current(self) -> Record | None:
        """The record of the file as it is; None if it was not fetched, or is not as it was."""
        size = self.path.stat().st_size
        return next((record for record in self.records() if record.bytes == size), None)

    def remember(self, record: Record) -> None:
        """Keep the record, in place of one for the same `max_words`."""
        others = [known for known in self.records() if known.max_words != record.max_words]
        write_json(self._records, {"records": [asdict(known) for known in (*others, record)]})


def list_fetched(folder: Path, collection: str) -> list[Place]:
    """The files of a collection that are there."""
    found = sorted((folder / collection).glob("[!.]*"))
    return [Place(path) for path in found if path.is_file() and not path.name.endswith((".part", ".part.json"))]


def read_json(path: Path) -> dict[str, Any]:
    """An object from a file of notes, or an empty one if there is no such file."""
    try:
        found = strict_json.read_json(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}); remove it and fetch again") from None
    return found if isinstance(found, dict) else {}


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a file of notes."""
    with atomic_write(path) as temporary:
        temporary.write_text(strict_json.to_json(value, indent=2) + "\n", encoding="utf-8")
