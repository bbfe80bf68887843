"""A small run of the sample with some hostile words in it, and a client of its page."""

from __future__ import annotations

import shutil
import signal
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
    "</s>",
    "1984",
)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# Without its sandbox it also starts where the tests run as root, as in containers; it asks the network for nothing.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
WAIT = 600_000  # milliseconds, for machines that have other work; nothing waits that long if all is well
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
    align(source, target, data.train, method="procrustes", vectors_only=True).save(folder)
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


@pytest.fixture
def kept(run):
    """What is stored of a run: verdict and right translations by pair."""
    from bilex.run.corrections import Corrections

    def read():
        corrections = Corrections(run / "corrections.sqlite")
        decisions = corrections.current().values()
        corrections.close()
        return {d.pair: (d.verdict, ", ".join(d.targets) or None) for d in decisions if d.verdict != "open"}

    return read


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed here")
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=WAIT)
        yield started
        started.close()


@pytest.fixture
def served(explore, run):
    """Start and end the real program; gives its address."""

    def start(*options):
        start.program = explore(run, *options)
        return start.program.url

    start.kill = lambda: start.program.end(signal.SIGKILL)
    return start


@pytest.fixture(scope="module")
def shown(exploring, made, tmp_path_factory):
    """The address of one program for all tests that only look."""
    with exploring(shutil.copytree(made, tmp_path_factory.mktemp("shown") / "run")) as program:
        yield program.url


@pytest.fixture
def page(browser):
    """A page that takes note of every error and of every request to elsewhere."""
    context = browser.new_context(viewport={"width": 1100, "height": 800})
    context.set_default_timeout(WAIT)
    opened = context.new_page()
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("console", lambda message: opened.problems.append(message.text) if message.type == "error" else None)
    opened.on(
        "request", lambda asked: None if "127.0.0.1" in asked.url else opened.problems.append(f"request to {asked.url}")
    )
    yield opened
    context.close()
    assert opened.problems == []


@pytest.fixture
def saved(page):
    """Wait until every decision is on disk."""
    return lambda: page.wait_for_selector('body[data-pending="0"]')
