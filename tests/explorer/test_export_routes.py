"""The lexicon in every format, as the page asks for it, read again by readers of its own."""

import zipfile
from io import BytesIO

import openpyxl
import pytest

from bilex.io.entries import FORMATS, write_entries
from lexicon_files import read_pairs, read_stardict


@pytest.fixture
def decided(client):
    """A client for whose run four entries were decided: what is right of them, and the rejected pair."""
    entries = client.get("/api/lexicon?origin=found&limit=4&hide=nonwords").json()["entries"]
    first, second, third, fourth = ((entry["source"], entry["target"]) for entry in entries)
    for (source, target), right in ((first, [first[1]]), (second, ["mot", "terme"]), (third, [third[1], "et"])):
        client.post("/api/review", json={"source": source, "targets": right or [target]})
    client.post("/api/review", json={"source": fourth[0], "rejected": True})
    right = {first, (second[0], "mot"), (second[0], "terme"), third, (third[0], "et")}
    return right, fourth


def export(client, tmp_path, kind, **more):
    sent = client.get("/api/export/lexicon", params={"format": kind, **more})
    assert sent.status_code == 200
    name = sent.headers["content-disposition"].partition("filename=")[2].strip('"')
    (tmp_path / name).write_bytes(sent.content)
    return tmp_path / name, sent


@pytest.mark.parametrize("kind", FORMATS)
def test_all_formats_have_the_same_pairs(client, decided, tmp_path, kind):
    right, refused = decided
    path, sent = export(client, tmp_path, kind, source_language="en", target_language="fr")
    pairs = read_pairs(path)
    expected = {(entry.source, entry.target) for entry in client.explorer.lexicon()}
    left_out = expected - set(pairs)
    assert len(pairs) == len(set(pairs)) > 600
    assert len(left_out) == int(sent.headers["x-left-out"])
    assert set(pairs) <= expected
    assert right <= set(pairs)
    assert refused not in pairs


@pytest.mark.parametrize("kind", FORMATS)
def test_only_what_was_decided(client, decided, tmp_path, kind):
    path, _ = export(client, tmp_path, kind, decided=True)
    assert sorted(read_pairs(path)) == sorted(decided[0])


@pytest.mark.parametrize("kind", sorted({*FORMATS} - {"xlsx", "stardict"}))
def test_the_bytes_are_those_of_the_command_line(client, decided, tmp_path, kind):
    path, _ = export(client, tmp_path, kind, source_language="en", target_language="fr")
    write_entries(tmp_path / "cli", client.explorer.lexicon(), kind, ("en", "fr"))
    assert path.read_bytes() == (tmp_path / "cli").read_bytes()


def test_a_sheet_has_alternatives_without_refused_ones(client, decided, tmp_path):
    _, refused = decided
    client.post("/api/decide", json={"source": refused[0], "suggestion": "x", "verdict": "accepted"})
    path, _ = export(client, tmp_path, "xlsx")
    head, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    rows = [dict(zip(head, row, strict=True)) for row in rows]
    assert not any(row["decision"] for row in rows)
    (again,) = (row for row in rows if row["source"] == refused[0])
    others = again["alternatives"].split("; ")
    assert again["target"] == "x"
    assert refused[1] not in others
    assert 1 <= len(others) <= 6


def test_a_dictionary_is_an_archive_named_after_the_languages(client, decided):
    sent = client.get("/api/export/lexicon?format=stardict&source_language=en&target_language=fr")
    names = zipfile.ZipFile(BytesIO(sent.content)).namelist()
    assert sorted(names) == ["en-fr.dict", "en-fr.idx", "en-fr.ifo"]


def test_names_of_files_hold_nothing_that_leads_elsewhere(client, monkeypatch, tmp_path):
    names = {"source": "../../a\0b", "target": "c\u202ed" * 50}
    monkeypatch.setattr(type(client.explorer), "names", lambda _: names)
    path, _ = export(client, tmp_path, "stardict")
    (description,) = (name for name in zipfile.ZipFile(path).namelist() if name.endswith(".ifo"))
    assert description.startswith("_a_b-c_d")
    zipfile.ZipFile(path).extractall(tmp_path)
    assert read_stardict(tmp_path / description)[1]


def test_what_cannot_be_done_is_said(client):
    def refused(code, **parameters):
        sent = client.get("/api/export/lexicon", params=parameters)
        assert sent.status_code == code
        return sent.json()["error"]

    assert "accepted or corrected yet" in refused(404, decided=True)
    assert "needed one such as en" in refused(422, format="tmx", source_language='en"><x')
    assert "format" in refused(422, format="pdf")
