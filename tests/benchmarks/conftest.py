"""A folder that stands for the shared data: small tables made at random, one a rotation of the other with noise."""

import pytest

UNPACK = """
import numpy as np


def load(name, limit=None):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((600, 30))
    turned = rows @ np.linalg.qr(rng.standard_normal((30, 30)))[0] + 0.3 * rng.standard_normal(rows.shape)
    rows = (turned if name in ("fr", "ru-news") else rows).astype(np.float32)
    return [f"w{i}" for i in range(600)][:limit], rows[:limit]
"""


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    dictionaries = folder / "data" / "dictionaries" / "muse"
    dictionaries.mkdir(parents=True)
    (folder / "data" / "unpack.py").write_text(UNPACK, encoding="utf-8")
    for part, words in (("0-5000", range(300)), ("5000-6500", range(300, 400))):
        text = "".join(f"w{i} w{i}\n" for i in words)
        (dictionaries / f"en-fr.{part}.txt").write_text(text, encoding="utf-8")
    return folder
