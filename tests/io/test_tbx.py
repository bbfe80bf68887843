import math

import pytest

from bilex import Entry
from bilex.io.entries import write_entries
from bilex.io.tbx import NAMESPACE
from lexicon_files import LANG, read_tbx

ENTRIES = [
    Entry("the", "le", 0.5, 1, "given"),
    Entry("the", "<la> & co", 0.25, 2, "found", 0.75),
    Entry("zoo", "動物園", math.nan, 1, "corrected"),
]


def test_read_back(tmp_path):
    assert write_entries(tmp_path / "l.tbx", ENTRIES, "tbx", ("en", "pt-BR")) == 0
    root, concepts = read_tbx(tmp_path / "l.tbx")
    assert root.get(LANG) == "en"
    assert concepts == [
        [
            ("en", [("the", None)]),
            (
                "pt-BR",
                [
                    ("le", "given, rank 1, score 0.500000"),
                    ("<la> & co", "found, rank 2, score 0.250000, confidence 0.7500"),
                ],
            ),
        ],
        [("en", [("zoo", None)]), ("pt-BR", [("動物園", "corrected, rank 1")])],
    ]
    ids = [element.get("id") for element in root.iter(f"{{{NAMESPACE}}}conceptEntry")]
    assert ids == ["c1", "c2"]


@pytest.mark.parametrize("word", ["\x00", "a\x1f", "\ud800", "\uffff"])
def test_what_xml_cannot_hold_is_left_out(tmp_path, word):
    assert write_entries(tmp_path / "l.tbx", [Entry(word, "x"), Entry("x", "\x85")], "tbx") == 1
    assert len(read_tbx(tmp_path / "l.tbx")[1]) == 1


def test_no_entries(tmp_path):
    write_entries(tmp_path / "l.tbx", [], "tbx")
    assert read_tbx(tmp_path / "l.tbx")[1] == []
