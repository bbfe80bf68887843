"""Numbers that documents state are those of the code. Settings of methods: tests/methods/test_defaults.py."""

import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from bilex import get_method
from bilex.evaluation.hubness import hubness
from bilex.retrieval import CSLS, InvertedSoftmax

DOCS = Path(__file__).resolve().parents[1] / "docs"
PARTS = ("start", "guides", "reference", "results", "contribute")
"""Where a page is looked for, in this order: `rapo` is the method, not its results."""
STATED = [
    ("rapo", "the 32 nearest words", "methods.rapo.penalties.LIST_SIZE", 32),
    ("rapo", "measured on 256 words", "methods.rapo.penalties.SAMPLE_SIZE", 256),
    ("rapo", "beyond a mean of 0.01", "methods.rapo.penalties.TOLERANCE", 0.01),
    ("rapo", "50,000 words or more", "methods.rapo.penalties.CLUSTER_SEARCH_ROWS", 50_000),
    ("performance", "measured on 256 words", "methods.rapo.penalties.SAMPLE_SIZE", 256),
    ("performance", "above 0.01", "methods.rapo.penalties.TOLERANCE", 0.01),
    ("performance", "50,000 words or more", "methods.rapo.penalties.CLUSTER_SEARCH_ROWS", 50_000),
    ("performance", "groups of 32 candidates", "search.lists.GROUP_SIZE", 32),
    ("performance", "from 2,000 words on", "search.low_precision.MIN_KEYS", 2000),
    ("performance", "less than half of the first 256 queries", "search.shortlist.GIVE_UP_SHARE", 0.5),
    ("performance", "half of the first 256 queries", "search.shortlist.TRIAL_QUERIES", 256),
    ("evaluation", "at least 20,000 words", "retrieval.index.MIN_ROWS", 20_000),
    ("evaluation", "more than half of the target words", "retrieval.partial_penalties.MAX_PARTIAL_SHARE", 0.5),
    ("evaluation", "more than 5 source words", "search.problem.SPARE_NEIGHBOURS", 5),
    ("little-dictionary", "four bands of frequency", "induction.initial.BANDS", (100, 400, 1500)),  # and the rest
    ("formats", "at most 65,536 numbers", "io.size.MAX_DIM", 65_536),
    ("formats", "the first 100 lines", "io.layout.SAMPLE_LINES", 100),
    ("tuning", "eight trials at random", "tune.study.STARTUP_TRIALS", 8),
    ("tuning", "from 20 finished trials on", "tune.plots.MIN_TRIALS", 20),
    ("methods", "| 1,500 source words or more", "methods.rapo.rapo_semi.RapoSemi.enlarge_below", 1500),
    ("rapo", "1,500 source words or more", "methods.rapo.rapo_semi.RapoSemi.enlarge_below", 1500),
    ("faq", "Where a tenth of the pairs or more is lost", "cli.align_messages.MIN_CASE_GAIN", 0.1),
    ("second-stage", "the first 20 candidates", "rerank.learning.SecondStage.candidates", 20),
    ("second-stage", "150 source words or more", "rerank.learning.SecondStage.min_words", 150),
    ("second-stage", "more than 400 letters", "rerank.signals.transliteration.MAX_ALPHABET", 400),
    ("commands", "[default: 30, without --trials]", "cli.tune.MINUTES", 30),
]
SETTINGS = [
    ("little-dictionary", "15,000 most frequent (`induction.max_rank`)", "rapo_semi", "induction.max_rank", 15_000),
    ("little-dictionary", "among 40,000 (`induction.candidates`)", "rapo_semi", "induction.candidates", 40_000),
    ("little-dictionary", "nine in ten dev words (`precision=0.9`)", "rapo_semi", "precision", 0.9),
    ("little-dictionary", "at least a third of all (`min_share=0.35`)", "rapo_semi", "min_share", 0.35),
    ("little-dictionary", "One round of this (`rounds=1`)", "rapo_semi", "rounds", 1),
    ("little-dictionary", "Fewer than 100 dev words (`min_dev_words`)", "rapo_semi", "min_dev_words", 100),
    ("little-dictionary", "fewer than 1,500 source words (`enlarge_below`)", "rapo_semi", "enlarge_below", 1500),
    ("little-dictionary", "the 4,000 most frequent words", "rapo_semi", "initial.dropout_max_rank", 4000),
    ("little-dictionary", "rounds among 20,000", "rapo_semi", "initial.max_rank", 20_000),
    ("little-dictionary", "Under 40 % (`initial.min_agreement`)", "rapo_semi", "initial.min_agreement", 0.4),
    ("little-dictionary", "half of the pairs in the first", "rapo_unsupervised", "min_share", 0.5),
    ("rapo", "its 10 nearest words", "rapo", "k", 10),
    ("rapo", "| `start` | `geomm` |", "rapo", "start", "geomm"),
    ("rapo", "| `count` | `words` |", "rapo", "count", "words"),
    ("rapo", "| `negatives` | `shared` |", "rapo", "negatives", "shared"),
    ("rapo", "| `lambda_1` | `0` |", "rapo", "lambda_1", 0),
    ("rapo", "| `decay` | `true` |", "rapo", "decay", True),
    ("rapo", "| `regularize` | `adapters` |", "rapo", "regularize", "adapters"),
]


def page(name):
    """A document without the places where its lines end."""
    found = (DOCS / part / f"{name}.md" for part in PARTS)
    return re.sub(r"\s+", " ", next(path for path in found if path.exists()).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("document", "words", "place", "value"), STATED, ids=[f"{s[0]}: {s[1]}" for s in STATED])
def test_a_number(document, words, place, value):
    assert words in page(document)
    assert pkgutil.resolve_name(f"bilex.{place}") == value


@pytest.mark.parametrize(("document", "words", "method", "setting", "value"), SETTINGS, ids=[s[1] for s in SETTINGS])
def test_a_setting(document, words, method, setting, value):
    found = get_method(method)
    for name in setting.split("."):
        found = getattr(found, name)
    assert words in page(document)
    assert found == value


def test_retrieval():
    assert "k = 10 unless --k says otherwise" in page("evaluation")
    assert "β is `--beta`" in page("evaluation")
    assert (CSLS().k, InvertedSoftmax().beta, inspect.signature(hubness).parameters["k"].default) == (10, 30.0, 10)


def test_the_explorer():
    pytest.importorskip("uvicorn", reason="the extra `explore` is not installed")
    from bilex.explorer import guard, protocol, server

    assert "at most 16 kB long; only a file of decisions that you add may have up to 64 MB" in page("explore")
    assert (guard.MAX_BODY_BYTES, guard.MAX_FILE_BYTES) == (16 << 10, 64 << 20)
    assert "ten seconds to arrive, header and body, and at most 100 connections are open" in page("explore")
    assert (protocol.REQUEST_SECONDS, protocol.MAX_CONNECTIONS) == (10, 100)
    assert "http://127.0.0.1:8421/" in page("own-vectors")
    assert server.PORT == 8421


COLUMNS = (None, "paper", "authors")
"""The presets of the columns; none: the defaults."""


def documented_settings():
    """The rows of the tables of presets: method, setting, and its value in each column."""
    text, method = (DOCS / "reference" / "rapo.md").read_text(encoding="utf-8"), "rapo"
    for line in text.splitlines():
        method = "rapo_semi" if line.startswith("| setting of `rapo_semi`") else method
        cells = re.findall(r"`([^`]+)`", line)
        if line.startswith("| `") and len(cells) >= 4:
            yield method, cells[0], cells[1:4]


ROWS = list(documented_settings())


@pytest.mark.parametrize(("method", "setting", "values"), ROWS, ids=[f"{row[0]}: {row[1]}" for row in ROWS])
def test_presets_are_those_of_the_documents(method, setting, values):
    for preset, value in zip(COLUMNS, values, strict=True):
        given = {} if preset is None else {"preset": preset}
        assert get_method(method, given) == get_method(method, {**given, setting: value}), (
            f"{preset}: {setting}={value}"
        )


@pytest.mark.parametrize("method", ["rapo", "rapo_semi"])
def test_the_documents_name_all_that_the_presets_change(method):
    """Settings of which another one has the name in the same row, or which are those of a round, are left out."""
    told = {name.partition(".")[0] for kind, name, _ in ROWS if kind == method} | {"tau_target", "base"}
    default = get_method(method).describe()
    for preset in COLUMNS[1:]:
        changed = {k for k, v in get_method(method, {"preset": preset}).describe().items() if v != default[k]}
        assert changed <= told
