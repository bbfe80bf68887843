"""Merging, conflicts and agreement, asked as the page asks."""

from contextlib import closing

import pytest

from bilex.run.corrections import Corrections


@pytest.fixture
def ben(tmp_path):
    """The file of a second reviewer, closed."""
    with closing(Corrections(tmp_path / "ben.sqlite")) as file:
        file.decide("of", "x", "rejected", note="never")
        file.decide("to", "y", "accepted")
    return tmp_path / "ben.sqlite"


def merge(client, content, name="ben"):
    return client.post("/api/merge", params={"name": name}, content=content)


def test_merge_and_settle(client, ben):
    client.post("/api/decide", json={"source": "of", "suggestion": "x", "verdict": "accepted", "reviewer": "anna"})
    told = merge(client, ben.read_bytes()).json()
    assert (told["added"], told["known"]) == (2, 0)
    people = client.get("/api/people").json()
    assert [(person["name"], person["counts"]) for person in people["reviewers"]] == [
        ("anna", {"accepted": 1}), ("ben", {"rejected": 1, "accepted": 1})
    ]  # fmt: skip
    (conflict,) = people["conflicts"]
    assert (conflict["source"], conflict["suggestion"], people["conflict_count"]) == ("of", "x", 1)
    assert [(d["reviewer"], d["verdict"], d["note"], d["merged"]) for d in conflict["decisions"]] == [
        ("anna", "accepted", "", False), ("ben", "rejected", "never", True)
    ]  # fmt: skip
    (agreement,) = people["agreements"]
    assert (agreement["reviewers"], agreement["words"], agreement["same"]) == (["anna", "ben"], 1, 0)
    client.post("/api/decide", json={"source": "of", "suggestion": "x", "verdict": "rejected", "reviewer": "anna"})
    assert client.get("/api/people").json()["conflicts"] == []
    assert merge(client, ben.read_bytes()).json()["added"] == 0


def test_a_merge_is_taken_back_in_one_step(client, ben):
    merge(client, ben.read_bytes())
    told = client.post("/api/undo", json={"reviewer": "anna"}).json()
    assert (told["words"], told["pairs"]) == (2, [])
    assert client.explorer.corrections.current() == {}


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_files_that_are_none(client, content):
    answer = merge(client, content, "their file")
    assert answer.status_code in (200, 400)
    if answer.status_code == 400:
        assert "their file" in answer.json()["error"]
        assert "/tmp" not in answer.json()["error"]
    assert client.explorer.corrections.current() == {}


def test_only_the_page_itself_can_merge(client, ben):
    client.headers["x-bilex-token"] = "guessed"
    assert merge(client, ben.read_bytes()).status_code == 403


def test_what_is_exported_can_be_merged(client, ben, tmp_path):
    merge(client, ben.read_bytes())
    sent = client.get("/api/export?what=decisions")
    assert sent.headers["content-disposition"] == 'attachment; filename="decisions.sqlite"'
    (tmp_path / "copy.sqlite").write_bytes(sent.content)
    with closing(Corrections(tmp_path / "copy.sqlite", reading=True)) as copy:
        assert copy.current() == client.explorer.corrections.current()
