"""Texts of all kinds, given as they stand in a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilex.errors import LexiconError, SettingsError
from bilex.lexicon import Lexicon


@pytest.fixture
def read(tmp_path):
    def read(content, name="words.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Lexicon.read(path, **options)

    return read


class TestPlainFilesStayAsTheyAre:
    """A file without a heading, in which every line is a pair between tabs, commas or spaces, is not interpreted."""

    @pytest.mark.parametrize(
        ("content", "pairs"),
        [
            ("the le\nof de\n", [("the", "le"), ("of", "de")]),
            ("English French\nthe le\n", [("English", "French"), ("the", "le")]),
            ("a,b c,d\n", [("a,b", "c,d")]),
            ("dog\tchien, cabot\n", [("dog", "chien, cabot")]),
            ("dog\tchien (m)\n", [("dog", "chien (m)")]),
            ("it\tes\n", [("it", "es")]),
            ('"le,autre",x\n', [("le,autre", "x")]),
            ("dog\tchien\tn\ncat\tchat\tn\n", [("dog", "chien"), ("cat", "chat")]),
        ],
    )
    def test_pairs(self, read, content, pairs):
        lexicon = read(content)
        assert list(lexicon) == pairs
        assert lexicon.report.understood is None

    def test_nothing_is_said_of_words(self, read):
        assert read("the le\nof de\n").report.summary() == []
        assert read("ice cream\tcrème glacée\n").report.summary() == []

    def test_lists_that_were_not_split_are_said(self, read):
        assert read("dog\tchien, cabot (m)\ncat\tchat\n").report.summary() == [
            "1 of the words may be lists or have remarks, such as 'chien, cabot (m)'; they were read as they are, "
            "`cells='split'` takes them apart"
        ]
        assert read("dog\tchien, cabot\n", cells="whole").report.summary() == []
        assert read("dog\tchien, cabot\n", cells="split").pairs == (("dog", "chien"), ("dog", "cabot"))

    def test_columns_that_were_not_read_are_said(self, read):
        assert read("dog\tchien\tHund\ncat\tchat\tKatze\n").report.summary() == [
            "columns after the second were not read (2 lines); to read others, name them with `columns`"
        ]

    def test_a_lexicon_of_induce_is_read_back_in_silence(self, read):
        content = "# source\ttarget\tscore\trank\torigin\n1\tun, une\t0.5\t1\tfound\n2\tdeux\t0.25\t1\tgiven\n"
        lexicon = read(content, cells="whole")
        assert lexicon.pairs == (("1", "un, une"), ("2", "deux"))
        assert lexicon.report.summary() == []

    @pytest.mark.parametrize(
        "pair", [("source", "target"), ("English", "French"), ("en", "fr"), ("#", "x"), ("Wort", "mot")]
    )
    def test_a_first_pair_like_a_heading_is_read_back(self, tmp_path, pair):
        lexicon = Lexicon.from_pairs([pair, ("dog", "chien")])
        lexicon.write(tmp_path / "en-fr.tsv")
        assert Lexicon.read(tmp_path / "en-fr.tsv") == lexicon


class TestSheets:
    def test_numeric_first_column(self, read):
        lexicon = read("1\tdog\tchien\n2\tcat\tchat\n3\tcow\tvache\n")
        assert list(lexicon) == [("dog", "chien"), ("cat", "chat"), ("cow", "vache")]
        assert lexicon.report.summary() == [
            "separated by tab, no heading; column 2 -> source, column 3 -> target; 3 pairs in 3 rows; "
            "not read: column 1"
        ]

    def test_thousands_of_columns_are_not_all_named(self, read):
        lexicon = read("English;French" + ";x" * 4000 + "\ndog;chien\n")
        (line,) = lexicon.report.summary()
        assert line.endswith("column 11 'x', column 12 'x', 3,990 more")

    def test_semicolons_within_and_between(self, read):
        assert list(read("dog; chien\nto go; aller\n")) == [("dog", "chien"), ("to go", "aller")]
        assert list(read('dog,"chien; cabot"\nEnglish,x\n')) == [("dog", "chien; cabot"), ("English", "x")]
        assert list(read('English,French\ndog,"chien; cabot"\n')) == [("dog", "chien"), ("dog", "cabot")]

    def test_rows_that_are_left_out(self, read):
        lexicon = read(
            "My words;;\n\nEnglish;French;\n# to do;;\ndog;chien;\ncat;;\n;vache;\nfox;#N/A\nEnglish;French;\n"
            "A;;\nox;bœuf;\n"
        )
        assert list(lexicon) == [("dog", "chien"), ("ox", "bœuf")]
        report = lexicon.report
        assert {left.reason: (left.count, left.examples[0].line) for left in report.understood.left_out} == {
            "above": (1, 1),
            "comment": (1, 4),
            "heading": (1, 9),
            "no_source": (1, 7),
            "no_target": (2, 6),
            "error": (1, 8),
        }
        assert (report.lines, report.blank, report.comments, report.pairs) == (11, 1, 1, 2)
        assert report.summary()[-1] == (
            "left out 1 row: above the heading (row 1 'My words'); 1 row: a comment (row 4 '# to do'); "
            "1 row: the heading again (row 9 'English'); 1 row: no source word (row 7 'vache'); "
            "2 rows: no translation (row 6 'cat', row 10 'A'); 1 row: an error value of the spreadsheet (row 8 'fox')"
        )

    def test_empty_cells_of_a_plain_looking_file(self, read):
        lexicon = read("house\tmaison\n\tchien\ncat\t\n")
        assert lexicon.pairs == (("house", "maison"),)
        assert (
            "1 row: no source word (row 2 'chien'); 1 row: no translation (row 3 'cat')" in lexicon.report.summary()[-1]
        )

    def test_several_target_columns(self, read):
        lexicon = read("English,French 1,French 2\ndog,chien,cabot\ncat,chat,\n")
        assert list(lexicon) == [("dog", "chien"), ("dog", "cabot"), ("cat", "chat")]
        assert [str(column) for column in lexicon.report.understood.targets] == [
            "column 2 'French 1'",
            "column 3 'French 2'",
        ]

    def test_quoted_cells_over_several_lines_keep_row_numbers(self, read):
        lexicon = read('source;target\n"a\nb";"c, d"\nx;\n')
        assert list(lexicon) == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
        assert lexicon.report.understood.left_out[0].examples[0].line == 4

    def test_quotation_marks_of_words_in_tabs(self, read):
        content = 'source\ttarget\n"tis\tc\'est\n12"\tpouces\nsay "so"\tdis\n'
        assert list(read(content)) == [('"tis', "c'est"), ('12"', "pouces"), ('say "so"', "dis")]

    def test_text_without_any_western_line_end(self, read):
        assert list(read("dog;chien\rcat;chat\r")) == [("dog", "chien"), ("cat", "chat")]

    @pytest.mark.parametrize(
        ("options", "pairs"),
        [
            ({"separator": "comma"}, [("a;b", "c")]),
            ({"separator": "semicolon"}, [("a", "b"), ("a", "c")]),
            ({"separator": "semicolon", "cells": "whole"}, [("a", "b,c")]),
            ({"columns": "2,1"}, [("b", "a"), ("c", "a")]),
            ({"header": False}, [("a", "b"), ("a", "c")]),
        ],
    )
    def test_what_is_said_is_held_to(self, read, options, pairs):
        assert list(read("a;b,c\n", **options)) == pairs

    def test_a_heading_is_dropped_or_kept_as_said(self, read):
        assert list(read("Kata\tArti\nx\ty\n")) == [("Kata", "Arti"), ("x", "y")]
        assert list(read("Kata\tArti\nx\ty\n", header=True)) == [("x", "y")]
        assert list(read("English\tFrench\nx\ty\n", header=False)) == [("English", "French"), ("x", "y")]

    @given(cell=st.text(st.characters(codec="utf-8"), max_size=20))
    def test_any_cell_gives_pairs_or_an_error(self, cell, tmp_path_factory):
        path = tmp_path_factory.mktemp("any") / "words.csv"
        path.write_bytes(f'English;French\n"{cell.replace(chr(34), chr(34) * 2)}";x\ndog;chien\n'.encode())
        pairs = Lexicon.read(path).pairs
        assert pairs[-1] == ("dog", "chien")
        assert all(source and target for source, target in pairs)


class TestErrors:
    @pytest.mark.parametrize(
        ("content", "found"),
        [
            ("English;French;German\na;b;c\n", r"words\.csv: row 1 is a heading with 3 languages"),
            ("dog;chien;Hund\ncat;chat;Katze\n", r"words\.csv: found 3 columns of text"),
            ("English;French\n", r"words\.csv: found no pairs in 1 rows: there is only a heading"),
            ("English;French\ndog;\n", r"found no pairs in 2 rows: 1 row: no translation \(row 2 'dog'\)"),
            ('a;b\n"c;d\n', r"words\.csv:2: found a cell that is not valid CSV"),
            ("one word a line\nand no separator\n", r"words\.csv:1: found 'one word a line'"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"of the old kind \(\.xls\), or one with a password"),
            (b"PK\x03\x04 and no archive", r"words\.csv: the file is damaged or cut short"),
        ],
    )
    def test_what_cannot_be_understood(self, read, content, found):
        with pytest.raises(LexiconError, match=found):
            read(content)

    def test_text_has_no_sheets(self, read):
        with pytest.raises(LexiconError, match="this is text, which has no sheets; leave out `sheet`"):
            read("a\tb\n", sheet="x")

    @pytest.mark.parametrize(
        ("option", "value"), [("separator", "pipe"), ("cells", "all"), ("columns", "one"), ("columns", (1, 1))]
    )
    def test_options_that_cannot_be(self, read, option, value):
        with pytest.raises(SettingsError, match=option):
            read("a\tb\n", **{option: value})

    @pytest.mark.parametrize("filler", [" ", "a", "(", "/", ",", "ée", "1"])
    def test_a_long_cell(self, read, filler):
        """Whatever is quadratic in its length would take minutes."""
        text = f"English;French\ndog;{filler * 50_000}chien\n"
        assert read(text.encode("cp1252")).sources == ["dog"]
        read(text.encode())
