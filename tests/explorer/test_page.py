"""The fixed list of files is that of the folder, and of what the files ask for."""

import re
from importlib.resources import files

import pytest

from bilex.explorer.page import NAMES, page, static_files


def test_all_files_are_sent_and_no_others():
    folder = {file.name for file in (files("bilex.explorer") / "static").iterdir()}
    assert folder == {*NAMES, "index.html"}
    assert list(static_files()) == list(NAMES)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("main.js", "text/javascript; charset=utf-8"),
        ("style.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ],
)
def test_kinds(name, kind):
    assert static_files()[name].media_type == kind


def test_the_page_holds_the_token_once():
    sent = page("of-this-session")
    assert sent.media_type == "text/html; charset=utf-8"
    assert sent.content.count(b"of-this-session") == 1
    assert b"{{" not in sent.content


def test_what_is_imported_is_there():
    texts = {name: file.content.decode() for name, file in static_files().items()}
    for name, text in texts.items():
        for names, origin in re.findall(r'^import \{ ([^}]+) \} from "\./([^"]+)";$', text, re.MULTILINE):
            exported = re.findall(r"^export (?:async )?(?:function|class|const) (\w+)", texts[origin], re.MULTILINE)
            assert set(names.split(", ")) <= set(exported), f"{name} from {origin}"
