import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import make_sample
from bilex import sample
from bilex.errors import SettingsError
from bilex.storage.files import sha256

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(sample.__file__).parent / "data"
# `python tools/make_sample.py --measure`
DEV_P_AT_1 = {"fr": 70.2, "fi": 55.1}


@pytest.fixture(scope="module", params=sample.pairs())
def loaded(request):
    return sample.load(request.param)


def test_tables_are_whole_and_plain(loaded):
    for table in (loaded.source, loaded.target):
        assert table.rows.shape == (5700, 300)
        assert table.rows.dtype == np.float32
        assert np.isfinite(table.rows).all()
        assert len(set(table.words)) == len(table)
        assert all(word.isalpha() and word == word.lower() for word in table.words)


def test_every_pair_is_covered(loaded):
    for lexicon in (loaded.train, loaded.dev, loaded.test):
        index = lexicon.index(loaded.source, loaded.target)
        assert index.pairs_covered == index.pairs_total == len(lexicon)


def test_the_parts_share_no_source_word(loaded):
    parts = [set(lexicon.sources) for lexicon in (loaded.train, loaded.dev, loaded.test)]
    assert len(set.union(*parts)) == sum(map(len, parts))
    shares = [len(part) / sum(map(len, parts)) for part in parts]
    assert shares == pytest.approx([0.7, 0.1, 0.2], abs=0.001)


def test_tables_hold_more_than_the_dictionary(loaded):
    known = {target for lexicon in (loaded.train, loaded.dev, loaded.test) for _, target in lexicon}
    assert len(set(loaded.target.words) - known) > 1000


def test_an_unknown_pair_names_the_known_ones():
    with pytest.raises(SettingsError, match="'en-tlh'; choose one of en-fr, en-fi"):
        sample.load("en-tlh")


def test_size_and_notice():
    assert sum(path.stat().st_size for path in DATA.iterdir()) <= 12_000_000
    notices = (DATA.parent / "NOTICE.md").read_text(encoding="utf-8"), (ROOT / "NOTICE").read_text(encoding="utf-8")
    for notice in notices:
        for part in ("CC0", "MIT", "CeCILL-C", "CC BY 3.0", "Princeton", "Sagot", "Lindén", "Bond"):
            assert part in notice


def test_does_not_wait_for_torch():
    code = "import sys, bilex.sample as s; s.load('en-fr'); raise SystemExit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("language", DEV_P_AT_1)
def test_the_stated_precision(language):
    assert make_sample.measure(DATA, language) == pytest.approx(DEV_P_AT_1[language], abs=0.6)


def test_the_tool_gives_the_bundled_bytes(tmp_path):
    if not (make_sample.SHARED / "data" / "unpack.py").is_file():
        pytest.skip(
            "the tables it is cut from are not here: set BILEX_SHARED (default: `shared` beside the repository)"
        )
    make_sample.make(tmp_path)
    made, bundled = ({path.name: sha256(path) for path in folder.iterdir()} for folder in (tmp_path, DATA))
    assert made == bundled
