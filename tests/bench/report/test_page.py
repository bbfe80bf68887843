import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

from bilex.bench.report.curves import charts
from bilex.bench.report.page import page
from bilex.bench.report.report import PRINTABLE, make_report
from bilex.errors import ResultsError
from bilex.page.plots import draw

RESOURCES = {"src", "href", "srcset", "action", "data", "poster"}


class Links(HTMLParser):
    """Everything that a page would load or lead to, and the tags it has."""

    def __init__(self, text):
        super().__init__()
        self.links, self.tags = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.links += [value for name, value in attributes if name.split(":")[-1] in RESOURCES]


@pytest.fixture
def text(folder):
    report = make_report(folder)
    return page(report, [(chart, draw(chart)) for chart in charts(report.grid)])


def test_it_is_well_formed_and_loads_nothing(text):
    ElementTree.fromstring(text)
    found = Links(text)
    assert all(link.startswith("#") for link in found.links)
    assert "http" not in text
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert "script" not in found.tags


def test_what_it_says_comes_first_then_tables_plots_and_origin(text):
    marks = [
        'class="summary"',
        "P@1, over the covered",
        "Against the best peer",
        "<h2>Plots",
        "<svg",
        "Provenance",
    ]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)


def test_light_and_dark_and_phones(text):
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text
    assert text.count("<table>") == text.count('<div class="frame" role="region"')


def test_provenance_is_folded_and_names_no_folders(text):
    origin = text[text.index("Provenance") :]
    for part in ("bilex bench run made-up", "2.13.0", "en.vec", "enenenen", "&quot;protocol&quot;: &quot;honest&quot;"):
        assert part in origin
    assert "/home/somebody" not in text
    assert "<h2>" not in origin.split("</h2>", 1)[1]


def test_words_and_folders_in_old_results_stay_there(text, folder):
    report = make_report(folder)
    for made in (text, json.dumps(report.to_json()), *(report.text(kind) for kind in PRINTABLE)):
        assert "secretword" not in made
        assert "somebody" not in made


def test_a_string_is_one_name(folder):
    one, several = (
        make_report(folder, metrics=metrics, named=named) for metrics, named in (("mrr", "r*"), (["mrr"], ["r*"]))
    )
    assert one.text("markdown") == several.text("markdown")
    with pytest.raises(ResultsError, match=r"pairs=\('rapo', 'geomm'\): needed pairs of systems, such as"):
        make_report(folder, pairs=("rapo", "geomm"))


def test_ids_are_unique(text):
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_hostile_text_stays_text(cell, folder_of, hostile):
    suite = {"name": hostile, "title": hostile, "notes": [hostile], "systems": [hostile], "directions": []}
    broken = cell("\x00\ud800", status="failed", error=hostile, method="x")
    folder = folder_of(cell(hostile, method=hostile, settings={hostile: hostile}), broken, suite=suite)
    report = make_report(folder)
    text = page(report, [(chart, draw(chart)) for chart in charts(report.grid)])
    ElementTree.fromstring(text)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert text.encode("utf-8")
