"""Access control: only pages sent by this server may send requests to it, and only under a known host name."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bilex.storage.strict_json import to_json

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "x-bilex-token"  # noqa: S105 (its name, not its value)
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\s:/@\[\]]+)(:\d+)?")
MAX_BODY_BYTES = 16 * 1024
MAX_FILE_BYTES = 64 * 1024 * 1024
FILE_PATH = "/api/merge"
"""The only path that takes a file."""
MAX_QUERY_BYTES = 4 * 1024
SAFE_METHODS = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class RefusedError(Exception):
    """A request that is refused."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Guard:
    """Middleware: checks every request, and adds security headers to every response."""

    app: ASGIApp
    token: str
    host: str
    """The address that the server listens on; requests may name it in the Host header."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":  # web sockets are not supported
            await self._handle(scope, receive, send)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                security = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *security]}
            await send(message)

        try:
            self._check(scope)
            receive_body = await _read_body(scope, receive)
            await self.app(_as_get(scope), receive_body, send_with_headers)
        except RefusedError as refused:
            await _refuse(send_with_headers, refused)
        except asyncio.CancelledError:  # at shutdown, after the grace period
            if not started:
                await _refuse(send_with_headers, RefusedError(503, "bilex explore has stopped; start it again"))

    def _check(self, scope: Scope) -> None:
        headers = _headers(scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise RefusedError(421, "this server has another address; open the address that bilex explore printed")
        if len(scope["query_string"]) > MAX_QUERY_BYTES:
            raise RefusedError(414, "the request is too long")
        writes = scope["method"] not in SAFE_METHODS
        if scope["path"].startswith("/api/") or writes:
            _check_origin(headers, host)
        if writes and not hmac.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self.token.encode()):
            raise RefusedError(403, "the page is from an earlier session; reload it")

    def _is_ours(self, host: str) -> bool:
        """Whether a Host header is an IP address, localhost, or the name that the server listens on."""
        parts = HOST.fullmatch(host.lower())
        if parts is None:
            return False
        name = parts["name"].strip("[]")
        return name in ("localhost", self.host.lower()) or _is_ip_address(name)


def _is_ip_address(name: str) -> bool:
    try:
        return not ipaddress.ip_address(name).is_unspecified
    except ValueError:
        return False


def _as_get(scope: Scope) -> Scope:
    """A HEAD request as a GET request; the server leaves out the body of the response."""
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope


def _headers(scope: Scope) -> dict[str, str]:
    """Headers by lower-case name. Repeated headers are joined, so that they match no expected value."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _check_origin(headers: dict[str, str], host: str) -> None:
    """Refuse requests from pages of other sites. Browsers set these headers, and pages cannot change them."""
    origin = headers.get("origin")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RefusedError(403, "requests from other sites are refused")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        raise RefusedError(403, "requests from other sites are refused")


async def _read_body(scope: Scope, receive: Receive) -> Receive:
    """Read the whole body, unless it is too large. Returns a `receive` that gives it to the application."""
    limit = MAX_FILE_BYTES if scope["path"] == FILE_PATH and scope["method"] == "POST" else MAX_BODY_BYTES
    too_large = RefusedError(413, f"the request is too large; the limit is {limit:,} bytes")
    length = _headers(scope).get("content-length", "0")
    if not length.isdecimal() or int(length) > limit:
        raise too_large
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "the connection was closed before the request was complete")
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > limit:
            raise too_large
    messages = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


async def _refuse(send: Send, refused: RefusedError) -> None:
    body = to_json({"error": str(refused)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
