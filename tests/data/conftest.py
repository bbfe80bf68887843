"""A web server in a thread that misbehaves as told, and a patient client that does not really wait."""

from __future__ import annotations

import gzip
import hashlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bilex.data.download import Session


@dataclass(frozen=True)
class Act:
    """How to answer one request. `body` replaces the file from then on; `stop` bytes are sent, then nothing more."""

    status: int = 200
    headers: dict = field(default_factory=dict)
    body: bytes | None = None
    stop: int | None = None
    stall: bool = False
    ranges: bool = True
    if_range: bool = True
    validators: bool = True
    longer: int = 0


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        site = self.server.site
        site.requests.append((self.path, dict(self.headers)))
        act = site.acts.pop(0) if site.acts else Act()
        if act.body is not None:
            site.files[self.path] = act.body
        if act.status != 200 or self.path not in site.files:
            self.answer(act.status if act.status != 200 else 404, b"", act, {"Content-Length": "0"})
            return
        body = site.files[self.path]
        start, said = self.asked(body, act), {}
        if start > len(body) or (start == len(body) and start):
            self.answer(416, b"", act, {"Content-Length": "0"})
            return
        if start:
            said["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        if act.validators:
            said["ETag"] = etag(body)
        said["Content-Length"] = str(len(body) - start + act.longer)
        self.answer(206 if start else 200, body[start:], act, said)

    def asked(self, body, act):
        """The first byte asked for, as far as the server cares."""
        wanted = self.headers.get("Range")
        if not wanted or not act.ranges or (act.if_range and self.headers.get("If-Range") != etag(body)):
            return 0
        return int(wanted.removeprefix("bytes=").removesuffix("-"))

    def answer(self, status, body, act, headers):
        self.send_response(status)
        for name, value in (headers | act.headers).items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if act.stop is None else body[: act.stop])
        self.wfile.flush()
        if act.stall:
            self.server.site.stopped.wait(20)
        self.close_connection = True

    def log_message(self, *_):
        pass


def etag(body):
    return f'"{hashlib.sha256(body).hexdigest()[:16]}"'


class Site:
    """The files by path, the acts to come, and the requests that came."""

    def __init__(self):
        self.files, self.acts, self.requests = {}, [], []
        self.stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.site = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self):
        self.stopped.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def forget(self):
        self.files.clear()
        self.acts.clear()
        self.requests.clear()

    def ranges(self):
        return [headers.get("Range") for _, headers in self.requests]


@pytest.fixture(scope="session")
def act():
    return Act


@pytest.fixture(scope="session")
def running_site():
    site = Site()
    yield site
    site.close()


@pytest.fixture
def site(running_site, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    running_site.forget()
    return running_site


class Waits(list):
    """A session's waits and messages, none of which takes time."""

    def __init__(self):
        super().__init__()
        self.told = []
        self.session = Session(timeout=60, wait=self.append, tell=self.told.append)


@pytest.fixture
def waits():
    return Waits()


def table(words=200, width=3):
    """A table as text, with a header."""
    lines = [f"w{i} " + " ".join(f"{i + j / 7:.3f}" for j in range(width)) + "\n" for i in range(words)]
    return f"{words} {width}\n{''.join(lines)}".encode()


@pytest.fixture
def vec():
    return table()


@pytest.fixture
def zipped(vec):
    return gzip.compress(vec, mtime=0)
