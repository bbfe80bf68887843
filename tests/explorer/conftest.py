"""A small run of the sample with some hostile words in it, and a client of its page."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from bilex import Alignment, align, sample

pytest.importorskip("fastapi", reason="the extra `explore` is not installed")

HOSTILE = (
    "<img src=x onerror=document.title='gone'>",
    "'); DROP TABLE decisions; --",
    "../../etc/passwd",
    "a/b?c#d&e=f%00",
    "\u202egnitirw",
    "שלום",
    '{"__proto__":1}',
)
ADDRESS = "http://127.0.0.1:8421"
TOKEN = "of-this-test"


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A run folder, prepared, to be copied."""
    data = sample.load("en-fr")
    source, target = data.source.head(600), data.target.head(800)
    source = replace(source, words=source.words[: -len(HOSTILE)] + list(HOSTILE))
    target = replace(target, words=target.words[: -len(HOSTILE)] + list(HOSTILE))
    folder = tmp_path_factory.mktemp("explored") / "run"
    align(source, target, data.train, method="procrustes").save(folder)
    explorer = open_explorer(folder)
    explorer.preparation.start()
    explorer.preparation.wait()
    explorer.close()
    (folder / "corrections.sqlite").unlink()
    return folder


def open_explorer(folder, **more):
    from bilex.explorer.explorer import Explorer
    from bilex.run.corrections import Corrections

    return Explorer(Alignment.load(folder, device="cpu"), Corrections(folder / "corrections.sqlite"), **more)


@pytest.fixture
def run(made, tmp_path):
    """A run folder of one's own."""
    return shutil.copytree(made, tmp_path / "run")


@pytest.fixture
def explorer(run):
    """The run opened, without the web."""
    opened = open_explorer(run)
    yield opened
    opened.close()


@pytest.fixture
def client(run):
    """The page of the run, asked as the page itself asks."""
    from starlette.testclient import TestClient

    from bilex.explorer.app import make_app

    explorer = open_explorer(run)
    with TestClient(make_app(explorer, token=TOKEN), base_url=ADDRESS) as client:
        explorer.preparation.wait()
        client.explorer = explorer
        client.headers["x-bilex-token"] = TOKEN
        yield client


@pytest.fixture
def token():
    """What the page shows when it writes."""
    return TOKEN


@pytest.fixture
def reopened(run):
    """The run opened again and again, for what happens between."""
    opened = []

    def reopen():
        opened.append(open_explorer(run))
        return opened[-1]

    yield reopen
    for explorer in opened:
        explorer.close()


@pytest.fixture(params=HOSTILE, ids=ascii)
def hostile(request):
    """A word that someone might have put into a table on purpose."""
    return request.param
