"""Fetch files of the catalogue into the data folder. A file appears there only when it is complete and checked.

The servers publish no checksums. So the size is checked against the server's answer, a table against its own header,
and every file against the checksum of its first fetch: the first fetch is trusted, a later change is refused until it
is accepted. Checksums that the user gives replace these checks.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bilex.data.catalog import Item, get_collection
from bilex.data.checks import Checks
from bilex.data.download import PartialDownload, Session, download
from bilex.data.folder import Place, Record, data_folder
from bilex.data.mirror import mirror_address
from bilex.data.remote import NotFoundError
from bilex.data.text import ContentError, check_table, first_words, write_head
from bilex.errors import DataError
from bilex.storage.files import atomic_write
from bilex.storage.lock import CannotLockError, wait_for_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Fetched:
    """A file in the data folder. `record` is None for a file that was not fetched but copied there."""

    item: Item
    path: Path
    record: Record | None
    new: bool

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        record = self.record
        return {
            "file": self.path.name,
            "path": str(self.path),
            "status": "fetched" if self.new else "there",
            "licence": get_collection(self.item.collection).sources()[self.item.kind].licence,
            "url": record.url if record else None,
            "bytes": self.path.stat().st_size,
            "words": record.words if record else None,
            "sha256": record.sha256 if record else None,
            "fetched_at": record.fetched_at if record else None,
        }


def fetch(
    items: Iterable[Item],
    *,
    folder: Path | None = None,
    mirror: str | None = None,
    checksums: Mapping[str, str] | None = None,
    force: bool = False,
    verify: bool = False,
    accept_changed: bool = False,
    session: Session | None = None,
) -> list[Fetched]:
    """Fetch the files that are not in the data folder yet. force: fetch existing files again.

    Several processes may fetch the same files at once: one downloads, the others wait and use its file.
    """
    if isinstance(items, str):
        raise DataError(f"found {items!r}; needed files of a collection: get_collection('muse').items('en-es')")
    checks = Checks(checksums or {}, verify, accept_changed)
    root, session = folder or data_folder(), session or Session()
    return [_fetch(item, Place.of(item, root), mirror, checks, session, force=force) for item in items]


def _fetch(item: Item, place: Place, mirror: str | None, checks: Checks, session: Session, *, force: bool) -> Fetched:
    if not force and (existing := _existing_file(item, place, checks)):
        return existing  # without a lock: the folder may be read-only
    place.make()
    with _locked(place, session):
        if not force and (existing := _existing_file(item, place, checks)):
            return existing
        return Fetched(
            item,
            place.path,
            _download_and_check(item, place, mirror_address(item.url, mirror), checks, session),
            new=True,
        )


@contextmanager
def _locked(place: Place, session: Session) -> Iterator[None]:
    def tell(owner: str) -> None:
        session.tell(f"{place.path}: {owner} is fetching it; waiting for that")

    try:
        with wait_for_lock(place.lock, tell, session.wait):
            yield
    except CannotLockError as error:
        raise DataError(
            f"{place.lock}: cannot be locked ({error.strerror}), as on some network file systems; fetch to a `folder` "
            "on another disk, then copy it"
        ) from None


def _existing_file(item: Item, place: Place, checks: Checks) -> Fetched | None:
    if not place.path.exists() or not checks.is_enough(place, item):
        return None
    return Fetched(item, place.path, place.current(), new=False)


def _download_and_check(item: Item, place: Place, address: str | Path, checks: Checks, session: Session) -> Record:
    part = PartialDownload(place.part, address)
    try:
        download(address, part, max_words=item.max_words, session=session)
        record = _check_and_place(item, part, place, checks)
    except NotFoundError as error:
        raise DataError(f"{error}; {item.collection}: {get_collection(item.collection).advice()}") from None
    except ContentError as error:
        part.discard()
        raise DataError(f"{address}: {error}") from None
    part.discard()
    return record


def _check_and_place(item: Item, part: PartialDownload, place: Place, checks: Checks) -> Record:
    """Check the download, save its record, and rename it to its final name."""
    gzipped = item.file.endswith(".gz")
    if part.have == 0:
        raise ContentError("it is empty; use a `mirror`")
    if item.max_words is not None:
        words = first_words(part.path, item.max_words, gzipped=gzipped)
        with atomic_write(place.path) as temporary:
            write_head(part.path, temporary, words, gzipped=gzipped)
            record = checks.accept(place, Record.of(temporary, part.address, item.max_words, words))
            place.remember(record)
        return record
    if item.kind == "vectors" and not checks.expected(place):
        check_table(part.path, gzipped=gzipped)
    record = checks.accept(place, Record.of(part.path, part.address))
    place.remember(record)
    part.path.replace(place.path)
    return record
