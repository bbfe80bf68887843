"""Workbooks as programs write them, compared with openpyxl, and workbooks that nobody should open."""

import zipfile

import openpyxl
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bilex.errors import LexiconError
from bilex.io.sheets import archive, grid
from bilex.io.sheets.read import read_sheets
from bilex.lexicon import Lexicon

XLSX = {
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="/xl/workbook.xml"/>'
    "</Relationships>",
    "xl/workbook.xml": '<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="b"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="b" Type="x/worksheet" Target="sheet.xml"/>'
    '<Relationship Id="c" Type="x/sharedStrings" Target="strings.xml"/></Relationships>',
    "xl/strings.xml": "<sst><si><t>dog</t></si><si><r><t>chi</t></r><rPh><t>no</t></rPh><r><t>en</t></r></si></sst>",
    "xl/sheet.xml": '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
    "</sheetData></worksheet>",
}
ODS = (
    '<d xmlns:table="t" xmlns:text="x" xmlns:office="o"><table:table table:name="S"><table:table-row>'
    "<table:table-cell><text:p>dog</text:p></table:table-cell><table:table-cell><text:p>chien</text:p>"
    "</table:table-cell></table:table-row></table:table></d>"
)


@pytest.fixture
def write(tmp_path):
    """Write an archive with these parts, and read it."""

    def write(parts, name="words.xlsx"):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as made:
            for part, content in parts.items():
                made.writestr(part, content)
        return tmp_path / name

    return write


def xlsx(**changes):
    """Parts of a small workbook; `sheet="..."` replaces xl/sheet.xml."""
    return {**XLSX, **{f"xl/{name}.xml": content for name, content in changes.items()}}


def cells(*texts):
    return xlsx(sheet=f"<worksheet><sheetData>{''.join(texts)}</sheetData></worksheet>")


class TestXlsx:
    def test_a_small_one(self, write):
        assert Lexicon.read(write(XLSX)).pairs == (("dog", "chien"),)

    def test_cells_and_rows_without_references(self, write):
        row = '<row><c t="inlineStr"><is><t>dog</t></is></c><c t="str"><v>chien</v></c></row>'
        assert Lexicon.read(write(cells(row, row.replace("dog", "cat")))).pairs == (("dog", "chien"), ("cat", "chien"))

    def test_values_of_all_types(self, write):
        row = (
            '<row r="7"><c r="AB7" t="b"><v>1</v></c><c r="A7"><f>1+1</f><v>2</v></c><c r="B7" t="e"><v>#N/A</v></c>'
            '<c r="C7"><f>A1</f></c><c r="D7" t="str"><v>a_x000A_b_x005F_x0041__xD83D_</v></c></row>'
        )
        (sheet,) = read_sheets(write(cells(row)))
        assert sheet.rows == [(7, {0: "2", 1: "#N/A", 3: "a\nb_x0041__xD83D_", 27: "TRUE"})]
        assert (sheet.uncomputed, sheet.lines) == (1, 7)

    def test_other_prefixes(self, write):
        parts = cells('<x:row r="1"><x:c r="A1"><x:v>5</x:v></x:c></x:row>')
        parts["xl/sheet.xml"] = parts["xl/sheet.xml"].replace("<worksheet>", '<worksheet xmlns:x="main">')
        (sheet,) = read_sheets(write(parts))
        assert sheet.rows == [(1, {0: "5"})]

    @settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        content=st.dictionaries(
            st.tuples(st.integers(0, 40), st.integers(0, 30)),
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=6),
            max_size=8,
        )
    )
    def test_the_same_as_openpyxl(self, content, tmp_path):
        book = xlsxwriter.Workbook(tmp_path / "any.xlsx")
        sheet = book.add_worksheet()
        for (row, column), text in content.items():
            sheet.write_string(row, column, text)
        book.close()
        expected = openpyxl.load_workbook(tmp_path / "any.xlsx").active
        (found,) = read_sheets(tmp_path / "any.xlsx")
        theirs = {(c.row, c.column - 1): c.value for row in expected for c in row if c.value and c.value.strip()}
        ours = {(row.number, column): text for row in found.rows for column, text in row.cells.items()}
        assert ours == theirs
        assert ours == {(row + 1, column): text for (row, column), text in content.items() if text.strip()}


class TestOds:
    @pytest.mark.parametrize(
        ("cell", "text"),
        [
            ("<text:p>a<text:s text:c='3'/>b<text:tab/>c</text:p>", "a b\tc"),
            ("<text:p>a</text:p><text:p><text:span>b</text:span></text:p>", "a\nb"),
            ("<office:annotation><text:p>no</text:p></office:annotation><text:p>a</text:p>", "a"),
            ("<table:shapes><x><text:p>no</text:p></x></table:shapes><text:p>a</text:p>", "a"),
            ("<table:table><table:table-row><table:table-cell><text:p>no</text:p></table:table-cell></table:table-row>"
             "</table:table><text:p>a</text:p>", "a"),
        ],
    )  # fmt: skip
    def test_text_of_a_cell(self, write, cell, text):
        (sheet,) = read_sheets(write({"content.xml": ODS.replace("<text:p>dog</text:p>", cell)}))
        assert sheet.rows[0].cells == {0: text, 1: "chien"}

    def test_repeated_cells_and_rows(self, write):
        content = ODS.replace("<table:table-row>", '<table:table-row table:number-rows-repeated="3">').replace(
            "<table:table-cell>", '<table:table-cell table:number-columns-repeated="2">', 1
        )
        (sheet,) = read_sheets(write({"content.xml": content}))
        assert [row.number for row in sheet.rows] == [1, 2, 3]
        assert all(row.cells == {0: "dog", 1: "dog", 2: "chien"} for row in sheet.rows)


class TestHostile:
    """Files that are refused, or read without taking much memory or time."""

    @pytest.mark.parametrize("name", [name for name in XLSX if name.startswith("xl/")])
    def test_missing_parts(self, write, name):
        parts = {part: content for part, content in XLSX.items() if part != name}
        with pytest.raises(LexiconError, match=r"words\.xlsx"):
            Lexicon.read(write(parts))

    @pytest.mark.parametrize(
        ("parts", "found"),
        [
            (cells('<row r="1"><c r="A1" t="s"><v>9</v></c></row>'), "row 1 names text 9, and there are 2"),
            (cells('<row r="1"><c r="A1" t="s"><v>x</v></c></row>'), "is damaged"),
            (cells('<row r="x"/>'), "is damaged"),
            (cells('<row r="9999999"><c><v>1</v></c></row>'), "too many cells, or cells too far out"),
            (cells('<row r="1"><c r="ZZZ1"><v>1</v></c></row>'), "too many cells, or cells too far out"),
            (xlsx(sheet='<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>'), "has a document type"),
            (xlsx(sheet="<worksheet>"), "is damaged or cut short"),
            (xlsx(sheet="<?xml version='1.0' encoding='UTFinf'?><worksheet/>"), "is damaged"),
            ({"a.txt": "x"}, "a zip archive of a.txt, which is neither .xlsx nor .ods"),
            ({"content.xml": ODS.replace("dog", "&dog;")}, "is damaged"),
            ({"content.xml": ODS.replace('table:name="S"', 'table:name="S" x="')}, "is damaged"),
        ],
    )
    def test_refused(self, write, parts, found):
        with pytest.raises(LexiconError, match=found):
            Lexicon.read(write(parts))

    @pytest.mark.parametrize("part", ["xl/sheet.xml", "xl/strings.xml", "content.xml"])
    def test_a_part_that_unpacks_to_much_more(self, write, part, monkeypatch):
        monkeypatch.setattr(archive, "SMALL", 1 << 18)
        parts = {part: " " * (1 << 19)} if part == "content.xml" else {**XLSX, part: " " * (1 << 19)}
        with pytest.raises(LexiconError, match=r"unpacks to more than 0 MB"):
            Lexicon.read(write(parts))

    def test_all_parts_together(self, write, monkeypatch):
        monkeypatch.setattr(archive, "MAX_UNPACKED", 500)
        with pytest.raises(LexiconError, match="unpacks to more than"):
            Lexicon.read(write(XLSX))

    def test_repeated_columns(self, write, monkeypatch):
        monkeypatch.setattr(grid, "MAX_CELLS", 10_000)
        repeated = '<table:table-cell table:number-columns-repeated="1000000000">'
        with pytest.raises(LexiconError, match="too many cells"):
            Lexicon.read(write({"content.xml": ODS.replace("<table:table-cell>", repeated)}))

    def test_repeated_rows(self, write):
        """A filled row that is repeated down to the last one is read a thousand times."""
        repeated = '<table:table-row table:number-rows-repeated="1000000000">'
        lexicon = Lexicon.read(write({"content.xml": ODS.replace("<table:table-row>", repeated)}))
        assert lexicon.pairs == (("dog", "chien"),) * 1000

    def test_merged_cells_that_overlap(self, write, monkeypatch):
        monkeypatch.setattr(grid, "MAX_CELLS", 1000)
        rows = "".join(f'<row r="{i}"><c r="A{i}"><v>1</v></c></row>' for i in range(1, 100))
        merges = '<mergeCell ref="A1:A1048576"/>' * 100
        sheet = f"<worksheet><sheetData>{rows}</sheetData><mergeCells>{merges}</mergeCells></worksheet>"
        with pytest.raises(LexiconError, match="too many cells"):
            Lexicon.read(write(xlsx(sheet=sheet)))

    def test_another_compression(self, write, tmp_path):
        with zipfile.ZipFile(tmp_path / "words.ods", "w", zipfile.ZIP_LZMA) as made:
            made.writestr("content.xml", ODS)
        with pytest.raises(LexiconError, match="compressed in a way that no spreadsheet uses"):
            Lexicon.read(tmp_path / "words.ods")

    @settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data(), kind=st.sampled_from(["xlsx", "ods"]))
    def test_damaged_anywhere(self, write, data, kind):
        path = write(XLSX if kind == "xlsx" else {"content.xml": ODS}, f"words.{kind}")
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(4, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(bytes(content[: data.draw(st.integers(4, len(content)))]))
        try:
            assert Lexicon.read(path).pairs
        except LexiconError as error:
            assert str(path) in str(error)  # noqa: PT017 (either outcome is right)


def test_a_number_for_a_name_of_a_sheet(write):
    parts = xlsx(workbook=XLSX["xl/workbook.xml"].replace('name="S"', 'name="1"'))
    assert Lexicon.read(write(parts), sheet="1").pairs == (("dog", "chien"),)


def test_no_sheet_at_all(write):
    with pytest.raises(LexiconError, match="has no sheets"):
        Lexicon.read(write(xlsx(workbook="<workbook/>")))
