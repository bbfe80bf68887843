"""A small suite on cuts of the bundled sample, quick enough to be run, and a store of tables of its own."""

from __future__ import annotations

import pytest

SMALL = """
title = "Small"

[directions.en-fr]
sample = "en-fr"
max_words = 1500

[directions.en-fi]
sample = "en-fi"
max_words = 1500

[[systems]]
method = "procrustes"

[[systems]]
method = "ridge"
label = "ridge, weak"
settings = { penalty = "0.1" }
directions = ["en-fr"]
"""


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BILEX_DATA", str(tmp_path / "data"))


@pytest.fixture
def write(tmp_path):
    """Write a suite, and give the path of its file."""

    def write(text, name="small.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def small(write):
    """The path of a suite of three cells."""
    return write(SMALL)
