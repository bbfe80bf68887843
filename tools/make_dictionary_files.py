"""Make the dictionary files of tests/io/sheets/files with real programs.

    python tools/make_dictionary_files.py [FOLDER]

It needs LibreOffice (`soffice`), `sqlite3`, and the packages openpyxl, pandas, polars and
xlsxwriter. The files are in the repository; they are made anew only to add one. tests/io/sheets/files/README.md says
what each of them is.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FILES = Path(__file__).resolve().parents[1] / "tests" / "io" / "sheets" / "files"
FRENCH = [
    ("English", "POS", "French", "Notes"),
    ("the", "det", "le, la / les", "article"),
    ("dog", "n", "chien", ""),
    ("to go", "v", "aller; partir", ""),
    ("ice cream", "n", "glace, crème glacée", "food"),
    ("year", "n", "an (m.), année (f.)", ""),
    ("maize", "n", "", "to be translated"),
    ("", "n", "soupirail", "source?"),
    ("colour, color", "n", "couleur", ""),
    ("1,000", "num", "mille", ""),
    ("km/h", "n", "km/h", ""),
    ("yes", "adv", "oui [fam. ouais]", ""),
    ("Christmas", "n", "Noël", "capital"),
]
GERMAN = [
    ("Deutsch", "Englisch"),
    ("Straße", "street, road"),
    ("Mädchen", "girl"),
    ("Käse", "cheese"),
    ("grün", "green"),
    ("Tür (f.)", "door"),
]
PLAIN = [("dog", "chien"), ("cat", "chat"), ("house", "maison"), ("school", "école"), ("ice cream", "glace")]
CZECH = [("česky", "anglicky"), ("řeka", "river"), ("žlutý", "yellow"), ("dům", "house, home")]
RUSSIAN = [("Русский", "English"), ("дом", "house; home"), ("вода", "water"), ("ёлка", "fir")]
TEXT = "csv:Text - txt - csv (StarCalc)"
"""LibreOffice's filter; its options are the separator, the quotation mark, and the number of the character set."""


def main() -> None:
    """Make all files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FILES
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        for made, kind, result in _conversions(Path(name)):
            _convert(made, kind, folder / result)
    _excel_texts(folder)
    _other_programs(folder)


def _conversions(work: Path) -> Iterator[tuple[Path, str, str]]:
    """What LibreOffice converts: a workbook, the format, and the name of the result."""
    french, russian = _save(work / "french.xlsx", FRENCH), _save(work / "russian.xlsx", RUSSIAN)
    yield french, f"{TEXT}:44,34,76", "lo-comma-utf8.csv"
    yield french, f"{TEXT}:59,34,1", "lo-semicolon-cp1252.csv"
    yield french, f"{TEXT}:9,34,65535", "lo-tab-utf16.txt"
    yield french, f"{TEXT}:59,34,76,1,,0,true", "lo-all-quoted.csv"
    yield french, f"{TEXT}:9,,76", "lo-unquoted-tab.tsv"
    yield russian, f"{TEXT}:59,34,34", "lo-cp1251.csv"
    yield russian, "ods", "lo-russian.ods"
    yield french, "xlsx:Calc MS Excel 2007 XML", "lo.xlsx"
    yield french, "xlsx:Calc Office Open XML", "lo-open-xml.xlsx"
    yield french, "ods", "lo.ods"
    for name, make in (
        ("merged", _merged),
        ("formulas", _formulas),
        ("decorated", _decorated),
        ("two-sheets", _two_sheets),
        ("far-cell", _far_cell),
    ):
        made = make(work / f"{name}.xlsx")
        yield made, "xlsx", f"lo-{name}.xlsx"
        yield made, "ods", f"lo-{name}.ods"


def _convert(path: Path, kind: str, result: Path) -> None:
    folder = path.parent / "converted"
    command = ["soffice", "--headless", "--convert-to", kind, "--outdir", str(folder), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    result.write_bytes((folder / path.with_suffix(f".{kind.partition(':')[0]}").name).read_bytes())


def _excel_texts(folder: Path) -> None:
    """Texts in the forms that Excel saves, by Python's csv module, whose dialects are made after Excel."""
    for name, rows, encoding, dialect in (
        ("excel-utf8-bom.csv", FRENCH, "utf-8-sig", {"delimiter": ";"}),
        ("excel-unicode-text.txt", GERMAN, "utf-16", {"dialect": "excel-tab"}),
        ("excel-macintosh.csv", GERMAN, "cp1252", {"delimiter": ";", "lineterminator": "\r"}),
        ("excel-no-heading.csv", [row[:3:2] for row in FRENCH[1:6]], "utf-8", {"delimiter": ";"}),
        ("excel-cp1250.csv", CZECH, "cp1250", {"delimiter": ";"}),
        ("headless-comma.csv", PLAIN, "utf-8", {}),
    ):
        with (folder / name).open("w", encoding=encoding, newline="") as file:
            csv.writer(file, **dialect).writerows(rows)
    lines = [["Wort", "Übersetzung"], ["Hund", "dog\nhound"], ["Schloss", 'castle\nlock ("door")'], ["Bank", "bank"]]
    with (folder / "excel-separator-line.csv").open("w", encoding="cp1252", newline="") as file:
        file.write("sep=;\r\n")
        csv.writer(file, delimiter=";").writerows(lines)


def _other_programs(folder: Path) -> None:
    frame = pd.DataFrame([row[:3:2] for row in FRENCH[1:]], columns=["en", "fr"])
    frame.to_csv(folder / "pandas-index.csv")
    frame.to_excel(folder / "pandas.xlsx")
    numbered = pl.DataFrame(
        {"freq": [90, 80, 70, 60, 50], "word": [s for s, _ in PLAIN], "trad": [t for _, t in PLAIN]}
    )
    numbered.write_csv(folder / "polars-numbers.csv", separator="\t")
    numbered.write_excel(folder / "polars.xlsx")
    _save(folder / "openpyxl-uncomputed.xlsx", [*GERMAN, ("=B2", "=A2")])
    values = ", ".join(f"('{source}', 'n', '{target}')" for source, target in PLAIN)
    table = f"create table d (headword, gloss, translation); insert into d values {values};\n"
    for mode, name in (("csv", "sqlite.csv"), ("tabs", "sqlite-tabs.tsv")):
        commands = f"{table}.headers on\n.mode {mode}\nselect * from d;\n"
        printed = subprocess.run(["sqlite3"], input=commands.encode(), check=True, capture_output=True)
        (folder / name).write_bytes(printed.stdout)


def _save(path: Path, rows: Sequence[Sequence[Any]]) -> Path:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def _merged(path: Path) -> Path:
    """Headwords over several rows, a title over several columns, and blank rows."""
    book = Workbook()
    sheet = book.active
    for row in (
        ("A small dictionary", None),
        (),
        ("Español", "English"),
        ("Animales", None),
        ("perro", "dog"),
        (None, "hound"),
        (None, "doggy"),
        (),
        ("gato", "cat"),
        (None, "tomcat"),
    ):
        sheet.append(row)
    for area in ("A1:B1", "A4:B4", "A5:A7", "A9:A10"):
        sheet.merge_cells(area)
    book.save(path)
    return path


def _formulas(path: Path) -> Path:
    rows = [("source", "target", "n"), ("dog", "chien", 1), ('=LOWER("CAT")', '=CONCATENATE("ch","at")', "=C2+1")]
    return _save(path, [*rows, ("true", "=TRUE()", 3), ("lost", "=NA()", 4), ("old", '=LOWER("VIEUX")', 5)])


def _decorated(path: Path) -> Path:
    """Text in several fonts, a comment, a line end in a cell, a space that does not show."""
    book = Workbook()
    sheet = book.active
    sheet.append(("Français", "العربية"))
    sheet.append((CellRichText("mai", TextBlock(InlineFont(b=True), "son")), "منزل، بيت"))
    sheet.append(("école\u00a0", "مدرسة"))
    sheet.append(("livre\ncahier", "كتاب"))
    sheet["A1"].font = Font(bold=True)
    sheet["A3"].comment = Comment("ask somebody, please", "me")
    book.save(path)
    return path


def _two_sheets(path: Path) -> Path:
    book = Workbook()
    book.active.title = "Read me"
    book.active.append(("This is our dictionary. The words are in the second sheet.",))
    words = book.create_sheet("Words & more")
    for row in GERMAN:
        words.append(row)
    hidden = book.create_sheet("Hidden")
    hidden.append(("secret", "geheim"))
    hidden.sheet_state = "hidden"
    book.save(path)
    return path


def _far_cell(path: Path) -> Path:
    """One forgotten cell, far away from all others, and a row that is repeated."""
    book = Workbook()
    for row in [*PLAIN, *[("same", "même")] * 3]:
        book.active.append(row)
    book.active["XFD1048576"] = "x"
    book.save(path)
    return path


if __name__ == "__main__":
    main()
