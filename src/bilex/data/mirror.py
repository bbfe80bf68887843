"""Addresses of files: the published ones, or the same paths on a mirror. A mirror may be a folder."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from bilex.errors import DataError

MIRROR_VARIABLE = "BILEX_MIRROR"
SCHEMES = ("http", "https", "file")


def mirror_address(url: str, mirror: str | None = None) -> str | Path:
    """The address to fetch `url` from: the url itself, or the same path on the mirror (default: $BILEX_MIRROR)."""
    chosen = mirror or os.environ.get(MIRROR_VARIABLE)
    if not chosen:
        return url
    path = urlsplit(url).path.lstrip("/")
    base = check_mirror(chosen)
    return base / path if isinstance(base, Path) else f"{base}/{path}"


def check_mirror(mirror: str) -> str | Path:
    """The mirror as an address without a trailing slash, or as a folder."""
    if "://" not in mirror:
        return Path(mirror).expanduser()
    parts = urlsplit(mirror)
    if parts.scheme not in SCHEMES:
        raise DataError(f"mirror {mirror}: found {parts.scheme}://, needed http://, https://, file:// or a folder")
    if parts.username is not None or parts.query or parts.fragment:
        raise DataError("mirror: needed an address without user name, password, ? and #; use a folder or another host")
    if (parts.scheme == "file") is (parts.hostname not in (None, "localhost")):
        raise DataError(f"mirror {mirror}: needed https://HOST/PATH, or file:///PATH without a host")
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return mirror.rstrip("/")
