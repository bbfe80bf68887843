"""A remote file, opened at an offset. Network errors are either transient (worth a retry) or permanent."""

from __future__ import annotations

import http.client
import ssl
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError

from bilex.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

CHUNK_BYTES = 1 << 20
MISSING_STATUSES = (403, 404, 410)  # some object stores answer 403 for a missing file
TRANSIENT_STATUSES = (408, 425, 429)
MAX_RETRY_AFTER = 60.0


class NotFoundError(DataError):
    """The server has no such file."""


class TransientError(Exception):
    """A network error that is worth a retry. after: seconds to wait, if the server says so."""

    def __init__(self, message: str, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


class RangeError(Exception):
    """The file on the server ends before the offset."""


@dataclass(frozen=True)
class Version:
    """A version of a file: its size, and its ETag or date if that is reliable."""

    total: int
    validator: str | None


class Remote:
    """An open remote file, from the byte `start` on."""

    def __init__(self, address: str | Path, start: int, version: Version, body: IO[bytes]) -> None:
        self.address, self.start, self.version = address, start, version
        self._body: Any = body

    def read(self) -> bytes:
        """Read the available bytes, at least one. Empty at the end of the file or of the connection."""
        with translate_network_errors(self.address):
            chunk: bytes = self._body.read1(CHUNK_BYTES)
        return chunk

    def __enter__(self) -> Remote:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._body.close()


def open_file(path: Path, have: int, version: Version | None) -> Remote:
    """Open a file of a mirror folder after its first `have` bytes, or from its start if its version has changed."""
    try:
        body = path.open("rb")
        status = path.stat()
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no such file in the mirror") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the `mirror`") from None
    found = Version(status.st_size, str(status.st_mtime_ns))
    return Remote(path, body.seek(have if found == version else 0), found, body)


@contextmanager
def translate_network_errors(address: str | Path) -> Iterator[None]:
    """Turn what urllib, ssl and sockets raise into TransientError, or into DataError if a retry cannot help."""
    try:
        yield
    except HTTPError as error:
        with error:
            raise _http_error(address, error) from None
    except (ssl.SSLCertVerificationError, URLError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(error, ssl.SSLCertVerificationError) or isinstance(reason, ssl.SSLCertVerificationError):
            raise DataError(
                f"{address}: the server's certificate is not trusted ({reason}); check the clock, name your network's "
                "certificates in SSL_CERT_FILE, or use a `mirror`"
            ) from None
        raise TransientError(f"no connection ({reason})") from None
    except http.client.InvalidURL as error:
        raise DataError(f"{address}: not an address ({error}); check the `mirror`") from None
    except TimeoutError:
        raise TransientError("no data before the timeout") from None
    except (OSError, http.client.HTTPException) as error:
        raise TransientError(f"the connection broke ({str(error) or type(error).__name__})") from None


def _http_error(address: str | Path, error: HTTPError) -> Exception:
    found = f"HTTP {error.code} {error.reason}"
    if error.code == 416:
        return RangeError()
    if error.code in MISSING_STATUSES:
        return NotFoundError(f"{address}: not there ({found})")
    if error.code in TRANSIENT_STATUSES or error.code >= 500:
        after = error.headers.get("Retry-After", "")
        return TransientError(
            f"the server answered {found}", min(MAX_RETRY_AFTER, float(after)) if after.isdecimal() else 0
        )
    return DataError(f"{address}: the server answered {found}; check the address, or name another `mirror`")
