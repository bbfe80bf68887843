"""A file on a web server, requested with Range and If-Range, so that an interrupted download can be resumed."""

from __future__ import annotations

import re
import urllib.request
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bilex import __version__
from bilex.data.remote import RangeError, Remote, TransientError, Version, translate_network_errors
from bilex.errors import DataError

if TYPE_CHECKING:
    from http.client import HTTPMessage, HTTPResponse

MIN_DATE_AGE = 60.0
"""Seconds after which a Last-Modified date identifies a version: dates have no fractions, and clocks differ."""


def open_url(url: str, have: int, version: Version | None, timeout: float) -> Remote:
    """Open a file after its first `have` bytes, or from its start if the version on the server has changed.

    Some servers answer with a range of another version. So the answer is checked, too.
    """
    known = version if version and version.validator and have else None
    try:
        response = _request(url, have, known, timeout)
    except RangeError:
        return open_url(url, 0, None, timeout)
    try:
        if response.status != 206:
            return Remote(url, 0, _checked_version(url, response), response)
        if known and _is_continuation(response.headers, have, known):
            return Remote(url, have, known, response)
    except BaseException:
        response.close()
        raise
    response.close()
    if not known:
        raise TransientError("the server sent a part of the file, but the whole file was requested")
    return open_url(url, 0, None, timeout)


def _request(url: str, have: int, known: Version | None, timeout: float) -> HTTPResponse:
    headers = {"User-Agent": f"bilex/{__version__}", "Accept-Encoding": "identity"}
    if known and known.validator:
        headers |= {"Range": f"bytes={have}-", "If-Range": known.validator}
    with translate_network_errors(url):
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 (the opener knows http and https only)
        response: HTTPResponse = _opener().open(request, timeout=timeout)
    return response


def _checked_version(url: str, response: HTTPResponse) -> Version:
    """The version of a complete file. DataError if the answer cannot be checked."""
    headers = response.headers
    if headers.get_content_type() == "text/html":
        raise DataError(f"{url}: found a web page, needed data; does this network want a login? Or use a `mirror`")
    if headers.get("Content-Encoding", "identity") != "identity" and not url.endswith(".gz"):
        raise DataError(f"{url}: the server sends it compressed, which was not requested; use a `mirror`")
    size = headers.get("Content-Length", "")
    if not size.isdecimal():
        raise DataError(f"{url}: the server does not tell the size, so the download cannot be checked; use a `mirror`")
    return Version(int(size), _validator(headers))


def _is_continuation(headers: HTTPMessage, have: int, known: Version) -> bool:
    """Whether the answer is the rest of the known version. Some servers ignore If-Range."""
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", headers.get("Content-Range", ""))
    if not found or (int(found[1]), int(found[2])) != (have, known.total):
        return False
    return known.validator in (headers.get("ETag"), headers.get("Last-Modified"))


def _validator(headers: HTTPMessage) -> str | None:
    """A strong ETag, or a date so old that no later version can have the same. None if there is neither."""
    etag, changed = headers.get("ETag", ""), headers.get("Last-Modified", "")
    if etag.startswith('"'):
        return etag
    try:
        age = parsedate_to_datetime(headers.get("Date", "")) - parsedate_to_datetime(changed)
    except (TypeError, ValueError):
        return None
    return changed if age.total_seconds() >= MIN_DATE_AGE else None


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https only, and never from https to http."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """The request to the new address. DataError if it must not be followed."""
        before, after = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if after not in ("http", "https") or (before, after) == ("https", "http"):
            fp.close()
            raise DataError(
                f"{req.full_url}: it redirects to {newurl}, and bilex does not follow redirects to {after}; use a "
                "`mirror`"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """An opener for http and https only. urllib's default opener would accept further schemes."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    return opener
