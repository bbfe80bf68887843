import functools
import io
import json
import math
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilex import Entry, Lexicon
from bilex.io.entries import files_of, write_entries
from bilex.io.stardict import sort_key
from bilex.text.printable import printable
from lexicon_files import LANG, read_stardict

ENTRIES = [
    Entry("the", "le", 0.5, 1, "given"),
    Entry("the", "la", 0.25, 2),
    Entry("The", "Le", 0.4, 1),
    Entry("élan", "<élan> & co", 0.3, 1),
    Entry("zoo", "動物園", -0.1, 1),
    Entry("New York", "New York", 0.9, 1),
]


def compare(first, second):
    """The order that the format asks for: g_ascii_strcasecmp, then strcmp."""
    one, other = first.encode() + b"\0", second.encode() + b"\0"
    for fold in (lambda b: b + 32 if 65 <= b <= 90 else b, lambda b: b):
        for a, b in zip(map(fold, one), map(fold, other), strict=False):
            if a != b:
                return a - b
    return 0


class TestStarDict:
    def test_read_back(self, tmp_path):
        path = tmp_path / "en-fr.ifo"
        assert write_entries(path, ENTRIES, "stardict", ("en", "fr")) == 0
        about, found = read_stardict(path)
        assert about["bookname"] == "en-fr"
        assert dict(found) == {
            "New York": "New York",
            "The": "Le",
            "the": "le [given]\nla",
            "zoo": "動物園",
            "élan": "<élan> & co",
        }
        assert [word for word, _ in found] == ["New York", "The", "the", "zoo", "élan"]
        assert sorted(file.name for file in tmp_path.iterdir()) == sorted(p.name for p in files_of(path, "stardict"))

    @given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=8)))
    def test_order(self, words):
        assert sorted(words, key=sort_key) == sorted(words, key=functools.cmp_to_key(compare))

    def test_what_it_cannot_hold_is_left_out(self, tmp_path):
        odd = [
            Entry("a\0b", "x", 0, 1),
            Entry("a" * 256, "x", 0, 1),
            Entry("\ud800", "x", 0, 1),
            Entry("b" * 255, "x", 0, 1),
        ]
        assert write_entries(tmp_path / "o.ifo", odd, "stardict") == 3
        assert [word for word, _ in read_stardict(tmp_path / "o.ifo")[1]] == ["b" * 255]

    def test_nothing_is_left_behind_by_a_failure(self, tmp_path, monkeypatch):
        monkeypatch.setattr("bilex.io.stardict.MAX_ARTICLE_BYTES", 3)
        with pytest.raises(Exception, match="larger than a StarDict"):
            write_entries(tmp_path / "o.ifo", ENTRIES, "stardict")
        assert list(tmp_path.iterdir()) == []


class TestTsv:
    @pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\rb", " a", "a\x0b", "", "\ud800"])
    def test_what_a_line_cannot_hold_is_left_out(self, tmp_path, word):
        path = tmp_path / "l.tsv"
        entries = [Entry(word, "x", 0, 1), Entry("x", word, 0, 1), Entry("#x", "y", 0.5, 1)]
        assert write_entries(path, entries, "tsv") == 2
        assert Lexicon.read(path).pairs == (("#x", "y"),)

    @pytest.mark.parametrize("word", ["=1+1", "+1", "-2", "@x", "\x1b[31m", "a\u2028b", "\x85", "a\u00a0"])
    def test_all_else_stays_as_it_is(self, tmp_path, word):
        path = tmp_path / "l.tsv"
        assert write_entries(path, [Entry(word, word, 0.5, 1)], "tsv") == 0
        assert Lexicon.read(path).pairs == ((word, word),)

    def test_a_pair_without_a_score_is_read_again(self, tmp_path):
        path = tmp_path / "l.tsv"
        entries = [
            Entry("a", "b", math.nan, 1, "corrected"),
            Entry("#c", "d", 0.25, 1, "given"),
            Entry("e", "f", 0.5, 1),
        ]
        assert write_entries(path, entries, "tsv") == 0
        assert path.read_text(encoding="utf-8").splitlines() == [
            "# source\ttarget\tscore\trank\torigin",
            "a\tb\t\t1\tcorrected",
            " #c\td\t0.250000\t1\tgiven",
            "e\tf\t0.500000\t1\tfound",
        ]
        assert Lexicon.read(path).pairs == (("a", "b"), ("#c", "d"), ("e", "f"))

    def test_confidences_are_a_column_if_there_are_any(self, tmp_path):
        path = tmp_path / "l.tsv"
        write_entries(path, [Entry("a", "b", 0.5, 1, "found", 0.87654), Entry("c", "d", 0.5, 1, "given")], "tsv")
        assert path.read_text(encoding="utf-8").splitlines() == [
            "# source\ttarget\tscore\trank\torigin\tconfidence",
            "a\tb\t0.500000\t1\tfound\t0.8765",
            "c\td\t0.500000\t1\tgiven\t",
        ]
        assert Lexicon.read(path).pairs == (("a", "b"), ("c", "d"))

    def test_any_right_is_the_last_column(self, tmp_path):
        path = tmp_path / "l.tsv"
        write_entries(path, [Entry("a", "b", 0.5, 1, "found", 0.5, 0.91234), Entry("c", "d", 0.5, 1, "given")], "tsv")
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].endswith("\torigin\tconfidence\tany_right")
        assert [line.split("\t")[-2:] for line in lines[1:]] == [["0.5000", "0.9123"], ["", ""]]
        assert Lexicon.read(path).pairs == (("a", "b"), ("c", "d"))


class TestJsonLines:
    def test_any_right_is_a_key_if_it_is_known(self, tmp_path):
        for known in (0.91234, math.nan):
            write_entries(tmp_path / "l.jsonl", [Entry("a", "b", 0.5, 1, "found", 0.5, known)], "jsonl")
            line = json.loads((tmp_path / "l.jsonl").read_text(encoding="utf-8"))
            assert line.get("any_right") == (None if math.isnan(known) else 0.9123)
            assert list(line)[-1] == ("confidence" if math.isnan(known) else "any_right")

    def test_confidences_are_a_key_if_there_are_any(self, tmp_path):
        entries = [Entry("a", "b", 0.5, 1, "found", 0.87654), Entry("c", "d", 0.5, 1)]
        write_entries(tmp_path / "l.jsonl", entries, "jsonl")
        lines = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [line["confidence"] for line in lines] == [0.8765, None]

    def test_a_pair_without_a_score(self, tmp_path):
        write_entries(tmp_path / "l.jsonl", [Entry("a", "b", math.nan, 1, "given")], "jsonl")
        line = json.loads((tmp_path / "l.jsonl").read_text(encoding="utf-8"))
        assert line == {"source": "a", "target": "b", "score": None, "rank": 1, "origin": "given"}

    @pytest.mark.parametrize("word", ["a\tb", "\ud800", "\x1b]0;x\x07", "a\u2028b", "", "é日"])
    def test_any_word(self, tmp_path, word):
        path = tmp_path / "l.jsonl"
        assert write_entries(path, [Entry(word, "x", 0.5, 1)], "jsonl") == 0
        (line,) = path.read_text(encoding="utf-8").split("\n")[:-1]
        assert json.loads(line) == {"source": word, "target": "x", "score": 0.5, "rank": 1, "origin": "found"}
        assert printable(line) == line


class TestTmx:
    def test_read_back(self, tmp_path):
        write_entries(tmp_path / "o.tmx", ENTRIES, "tmx", ("en", "pt-BR"))
        root = ElementTree.parse(tmp_path / "o.tmx").getroot()
        assert (root.tag, root.get("version")) == ("tmx", "1.4")
        head, body = root
        needed = {"creationtool", "creationtoolversion", "segtype", "o-tmf", "adminlang", "srclang", "datatype"}
        assert set(head.attrib) == needed
        assert (head.get("srclang"), head.get("segtype")) == ("en", "phrase")
        units = [
            (
                *(unit.findtext("seg") for unit in tu.iter("tuv")),
                *(unit.get(LANG) for unit in tu.iter("tuv")),
                *(prop.text for prop in tu.iter("prop")),
            )
            for tu in body
        ]
        assert units == [(e.source, e.target, "en", "pt-BR", f"{e.score:.6f}", str(e.rank), e.origin) for e in ENTRIES]
        assert [child.tag for child in body[0]] == ["prop", "prop", "prop", "tuv", "tuv"]
        assert [tu[2].get("type") for tu in body] == ["x-origin"] * len(ENTRIES)

    @pytest.mark.parametrize("word", ["\x00", "a\x1f", "\ud800", "\uffff"])
    def test_what_xml_cannot_hold_is_left_out(self, tmp_path, word):
        assert write_entries(tmp_path / "o.tmx", [Entry(word, "x", 0, 1), Entry("x", "\x85", 0, 1)], "tmx") == 1
        assert len(list(ElementTree.parse(tmp_path / "o.tmx").iter("tu"))) == 1

    def test_a_confidence_is_a_property(self, tmp_path):
        write_entries(tmp_path / "o.tmx", [Entry("a", "b", 0.5, 1, "found", 0.25)], "tmx")
        found = {prop.get("type"): prop.text for prop in ElementTree.parse(tmp_path / "o.tmx").iter("prop")}
        assert found["x-confidence"] == "0.2500"

    def test_a_pair_without_a_score_has_none(self, tmp_path):
        write_entries(tmp_path / "o.tmx", [Entry("a", "b", float("nan"), 1)], "tmx")
        assert [prop.get("type") for prop in ElementTree.parse(tmp_path / "o.tmx").iter("prop")] == [
            "x-rank",
            "x-origin",
        ]

    def test_standard_output(self, monkeypatch):
        from pathlib import Path

        monkeypatch.setattr(sys, "stdout", io.StringIO())
        write_entries(Path("-"), ENTRIES, "tmx")
        found = ElementTree.fromstring(sys.stdout.getvalue().encode())
        assert len(list(found.iter("tu"))) == len(ENTRIES)
