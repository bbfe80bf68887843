"""The files of the page. The list is fixed, so that no name in a request reaches the file system."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PAGE = "index.html"
TOKEN = "{{ token }}"  # noqa: S105 (a placeholder)
NAMES = (
    "style.css",
    "icon.svg",
    "main.js",
    "api.js",
    "session.js",
    "dom.js",
    "keys.js",
    "dialog.js",
    "download.js",
    "completion.js",
    "home.js",
    "learning.js",
    "lexicon.js",
    "filters.js",
    "row.js",
    "bulk.js",
    "evidence.js",
    "word.js",
    "figures.js",
    "chart.js",
    "decisions.js",
    "checks.js",
    "people.js",
)


class File(NamedTuple):
    """The content of a file and its media type."""

    content: bytes
    media_type: str


@cache
def static_files() -> dict[str, File]:
    """All files except the page itself, by name."""
    return {name: File(_read(name), TYPES[name.rpartition(".")[2]]) for name in NAMES}


def page(token: str) -> File:
    """The page, with the token that its requests must send."""
    return File(_read(PAGE).replace(TOKEN.encode(), token.encode()), TYPES["html"])


@cache
def _read(name: str) -> bytes:
    return (files(__package__) / "static" / name).read_bytes()
