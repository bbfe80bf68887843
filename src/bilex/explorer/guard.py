"""Who may ask for what: only pages that this server has sent itself, from this machine unless told otherwise."""

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
LARGEST_BODY = 16 * 1024
LONGEST_QUERY = 4 * 1024
READING = ("GET", "HEAD")
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
    """A request that is not answered."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Guard:
    """Stands before the application: checks every request, and puts the headers on every answer."""

    app: ASGIApp
    token: str
    host: str
    """Where the server listens; a name there is one that it may be called by."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":  # there are no web sockets here
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *added]}
            await send(message)

        try:
            self._check(scope)
            body = await _whole_body(scope, receive)
            await self.app(_reading(scope), body, send_with_headers)
        except RefusedError as refused:
            await _refuse(send_with_headers, refused)
        except asyncio.CancelledError:  # the server ends, and has waited for this answer long enough
            if not started:
                await _refuse(send_with_headers, RefusedError(503, "bilex explore has ended"))

    def _check(self, scope: Scope) -> None:
        headers = _headers(scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise RefusedError(421, "this server is not known by that name; open the address that bilex explore shows")
        if len(scope["query_string"]) > LONGEST_QUERY:
            raise RefusedError(414, "the request is too long")
        writes = scope["method"] not in READING
        if scope["path"].startswith("/api/") or writes:
            _check_origin(headers, host)
        if writes and not hmac.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self.token.encode()):
            raise RefusedError(403, "the page is of an earlier session; load it again")

    def _is_ours(self, host: str) -> bool:
        """Whether a Host header names this machine by number, or by a name that no stranger's page can have."""
        parts = HOST.fullmatch(host.lower())
        if parts is None:
            return False
        name = parts["name"].strip("[]")
        return name in ("localhost", self.host.lower()) or _is_number(name)


def _is_number(name: str) -> bool:
    try:
        return not ipaddress.ip_address(name).is_unspecified
    except ValueError:
        return False


def _reading(scope: Scope) -> Scope:
    """HEAD asks for what GET would give, and the server leaves the body out."""
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope


def _headers(scope: Scope) -> dict[str, str]:
    """By lower-case name; where one is there twice, both, so that it fits nothing."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _check_origin(headers: dict[str, str], host: str) -> None:
    """Refuse what a page of another site has sent; browsers say so in these headers, and pages cannot change them."""
    origin = headers.get("origin")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RefusedError(403, "requests from other sites are refused")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        raise RefusedError(403, "requests from other sites are refused")


async def _whole_body(scope: Scope, receive: Receive) -> Receive:
    """The body, if it is not too large, to be received again."""
    length = _headers(scope).get("content-length", "0")
    if not length.isdecimal() or int(length) > LARGEST_BODY:
        raise RefusedError(413, f"the request is too large; at most {LARGEST_BODY:,} bytes are taken")
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "the request broke off")
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > LARGEST_BODY:
            raise RefusedError(413, f"the request is too large; at most {LARGEST_BODY:,} bytes are taken")
    waiting = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


async def _refuse(send: Send, refused: RefusedError) -> None:
    body = to_json({"error": str(refused)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
