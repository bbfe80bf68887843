"""Addresses: the published ones, or the same paths below a mirror, which may be a folder."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from bilex.errors import DataError

MIRROR_VARIABLE = "BILEX_MIRROR"
SCHEMES = ("http", "https", "file")


def mirror_address(url: str, mirror: str | None = None) -> str | Path:
    """The address to fetch `url` from: itself, or the same path below the mirror (default: $BILEX_MIRROR)."""
    chosen = mirror or os.environ.get(MIRROR_VARIABLE)
    if not chosen:
        return url
    below = urlsplit(url).path.lstrip("/")
    place = check_mirror(chosen)
    return place / below if isinstance(place, Path) else f"{place}/{below}"


def check_mirror(mirror: str) -> str | Path:
    """The mirror as an address without a slash at its end, or as a folder."""
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
