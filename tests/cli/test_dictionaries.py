"""Dictionaries out of spreadsheets on the command line, from inspecting one to importing a review."""

import openpyxl
import pytest

from bilex.lexicon import Lexicon


@pytest.fixture
def sheet(files, tmp_path):
    """The training dictionary as a workbook with a heading and a column of notes."""
    book = openpyxl.Workbook()
    book.active.append(("Note", "French", "English"))
    for source, target in Lexicon.read(files / "train.tsv"):
        book.active.append(("see there", f"{target} (m.)", source))
    book.save(tmp_path / "train.xlsx")
    return tmp_path / "train.xlsx"


def test_inspect_for_people(bilex, tmp_path):
    (tmp_path / "d.csv").write_text('English;POS;French\ndog;n;"chien, cabot (fam.)"\ncat;n;\n')
    result = bilex("inspect", tmp_path / "d.csv")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[1:] == [
        "format       text, separated by semicolon, utf-8",
        "heading      row 1",
        "source       column 1 'English'",
        "target       column 3 'French'",
        "not read     column 2 'POS'",
        "cells        1 cell with several words, split at ','; 1 cell with remarks in brackets, which were left out",
        "rows         3, of which 0 are blank and 0 comments",
        "pairs        2 of 1 source words",
        "phrases      0 pairs have several words on a side",
        "first pairs",
        "  dog -> chien",
        "  dog -> cabot",
        "Left out or doubtful:",
        "  1 row: no translation (row 3 'cat')",
    ]


def test_inspect_a_plain_one(bilex, files):
    result = bilex("inspect", files / "train.tsv")
    assert "columns      the first is the source, the second the target" in result.out
    assert result.out.endswith("Nothing was left out.\n")


def test_inspect_for_programs(bilex, sheet, files):
    train = Lexicon.read(files / "train.tsv")
    found = bilex("inspect", sheet, "--json", "--columns", "English,French").json
    assert (found["kind"], found["pairs"]) == ("dictionary", len(train))
    assert found["first_pairs"][0] == list(train.pairs[0])
    understood = found["report"]["understood"]
    assert (understood["format"], understood["why"], understood["remarks"]) == ("xlsx", "named", len(train))
    assert understood["source"] == {"number": 3, "heading": "English"}


def test_inspect_still_knows_tables(bilex, files):
    assert "dimension" in bilex("inspect", files / "x.vec").out


@pytest.mark.parametrize("name", ["t.txt", "t.vec"])
def test_a_table_with_faults_is_still_a_table(bilex, tmp_path, name):
    (tmp_path / name).write_bytes(b"5 2\nThe 3 4\nthe 0 1\n[bold] 6 8\nbad 1\nzero 0 0\n")
    assert "3 kept of 5 read" in bilex("inspect", tmp_path / name).out


def test_align_with_a_workbook(bilex, files, sheet, tmp_path):
    """The same run as from the plain file; what was understood is said."""
    runs = []
    for train in ([sheet, "--columns", "3,2"], [files / "train.tsv"]):
        run = tmp_path / f"run{len(runs)}"
        result = bilex("align", files / "x.vec", files / "z.vec", "--train", *train, "--fast", "--output", run)
        assert result.code == 0
        runs.append((Lexicon.read(run / "train.tsv"), result.err))
    assert runs[0][0] == runs[1][0]
    assert (
        f"{sheet}: sheet 'Sheet', row 1 is the heading; column 3 'English' -> source, column 2 'French'" in runs[0][1]
    )
    assert "heading" not in runs[1][1]


def test_headings_alone_would_be_the_other_way_round(bilex, sheet):
    """The first language is the source, which is said, and can be overruled."""
    assert "source       column 2 'French'" in bilex("inspect", sheet).out


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_a_test_dictionary_from_a_sheet(bilex, run, files, tmp_path, command):
    rows = "".join(f"{i};{s};{t}\n" for i, (s, t) in enumerate(Lexicon.read(files / "test.tsv"), 1))
    (tmp_path / "test.csv").write_text(rows)
    arguments = {
        "evaluate": [run, tmp_path / "test.csv", "--json"],
        "report": [run, "--test", tmp_path / "test.csv", "--no-plots", "--output", tmp_path / "r.html", "--json"],
    }
    result = bilex(command, *arguments[command], "--encoding", "utf-8", "--separator", "semicolon")
    assert result.code == 0
    assert "separated by semicolon, no heading; column 2 -> source, column 3 -> target" in result.err


def test_messages_name_options(refused, bilex, tmp_path):
    (tmp_path / "d.csv").write_text("a;b;c\nd;e;f\n")
    assert "for example --columns 1,3" in refused("inspect", tmp_path / "d.csv")
    (tmp_path / "e.tsv").write_text("a\tb, c\n")
    assert "--cells split takes them apart" in bilex("inspect", tmp_path / "e.tsv").out
    (tmp_path / "f.csv").write_bytes("дом;house\n".encode("cp1251"))
    assert "or name its encoding with --encoding: " in refused("inspect", tmp_path / "f.csv")


class TestReview:
    @pytest.fixture
    def reviewed(self, bilex, run, tmp_path):
        """A sheet of the run's lexicon, with decisions on its first rows."""
        result = bilex("induce", run, "--no-given", "--output", tmp_path / "l.xlsx")
        assert (result.code, "pairs written to" in result.err) == (0, True)
        book = openpyxl.load_workbook(tmp_path / "l.xlsx")
        headings = [cell.value for cell in book.active[1]]
        assert headings[:4] == ["source", "target", "alternatives", "decision"]
        pairs = [(row[0].value, row[1].value) for row in book.active.iter_rows(min_row=2, max_row=5)]
        for row, decision in enumerate(["accept", "reject", "mot; terme", "?"], start=2):
            book.active.cell(row, 4).value = decision
        book.save(tmp_path / "review.xlsx")
        return tmp_path / "review.xlsx", pairs

    def test_round_trip(self, bilex, run, reviewed, tmp_path):
        path, (accepted, rejected, corrected, asked) = reviewed
        result = bilex("explore", run, "--import", path)
        assert (result.code, result.out) == (0, "")
        assert "1 accepted, 1 rejected, 1 corrected; 0 were stored before" in result.err
        assert f"corrections, please check: {corrected[0]} -> mot, terme" in result.err
        assert f"  row 5 ('{asked[0]}' - '{asked[1]}'): found '?'" in result.err
        bilex("induce", run, "--no-given", "--output", tmp_path / "again.tsv")
        lines = [line.split("\t") for line in (tmp_path / "again.tsv").read_text().splitlines()[1:]]
        origins = {(line[0], line[1]): line[4] for line in lines}
        assert origins[accepted] == "accepted"
        assert rejected not in origins
        assert origins[corrected[0], "mot"] == origins[corrected[0], "terme"] == "corrected"
        assert origins[asked] == "found"

    def test_for_programs(self, bilex, run, reviewed):
        path, _ = reviewed
        first, second = (bilex("explore", run, "--import", path, "--json").json for _ in range(2))
        assert {key: first[key] for key in ("accepted", "rejected", "corrected", "known")} == {
            "accepted": 1,
            "rejected": 1,
            "corrected": 1,
            "known": 0,
        }
        assert (second["accepted"], second["known"], len(second["problems"])) == (0, 3, 1)

    def test_alternatives_are_the_next_candidates_without_rejected_ones(self, bilex, run, reviewed, tmp_path):
        path, (_, rejected, *_) = reviewed
        bilex("explore", run, "--import", path)
        bilex("induce", run, "--no-given", "-n", "2", "--output", tmp_path / "after.xlsx")
        rows = openpyxl.load_workbook(tmp_path / "after.xlsx").active.iter_rows(min_row=2, values_only=True)
        targets, alternatives = next((row[1], row[2].split("; ")) for row in rows if row[0] == rejected[0])
        assert targets != rejected[1]
        assert rejected[1] not in alternatives
        found = bilex("translate", run, rejected[0], "-n", "6", "--json").json
        words = [candidate["word"] for candidate in found["candidates"]]
        assert alternatives == [word for word in words if word not in (rejected[1], targets)]

    def test_backward(self, bilex, run, tmp_path):
        """A lexicon from target to source comes back as decisions from source to target."""
        bilex("induce", run, "--no-given", "--direction", "backward", "--output", tmp_path / "l.xlsx")
        book = openpyxl.load_workbook(tmp_path / "l.xlsx")
        assert [cell.value for cell in book.active[1]][:2] == ["target", "source"]
        target, source = book.active["A2"].value, book.active["B2"].value
        book.active["D2"] = "accept"
        book.save(tmp_path / "l.xlsx")
        assert bilex("explore", run, "--import", tmp_path / "l.xlsx").code == 0
        bilex("explore", run, "--export", tmp_path / "right.tsv")
        assert Lexicon.read(tmp_path / "right.tsv").pairs == ((source, target),)

    def test_mistakes(self, refused, run, files, tmp_path):
        assert "--format xlsx writes a file" in refused("induce", run, "--format", "xlsx", "--output", "-", code=2)
        assert "no row with the headings" in refused("explore", run, "--import", files / "train.tsv")
        assert "No such file" in refused("explore", run, "--import", tmp_path / "absent.xlsx")
        assert "--export" in refused("explore", run, "--import", files / "train.tsv", "--force", code=2)


def test_tbx(bilex, run, tmp_path):
    codes = ["--source-language", "en", "--target-language", "fr"]
    assert bilex("induce", run, *codes, "--output", tmp_path / "l.tbx").code == 0
    assert 'type="TBX-Basic"' in (tmp_path / "l.tbx").read_text(encoding="utf-8")
