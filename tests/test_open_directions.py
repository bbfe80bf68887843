"""The figure everything is measured against: Procrustes on the open English-French data."""

import importlib.util
import sys
from pathlib import Path

import pytest

from bilex import align

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "open_directions.py"


@pytest.fixture(scope="module")
def directions():
    spec = importlib.util.spec_from_file_location("open_directions", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks there
    spec.loader.exec_module(module)
    del sys.modules[spec.name]
    if not (module.SHARED / "data" / "unpack.py").is_file():
        pytest.skip(f"no data at {module.SHARED}: set BILEX_SHARED (default: `shared` beside the checkout)")
    return module.DIRECTIONS


def test_procrustes_on_english_french(directions):
    """As `python benchmarks/procrustes_table.py` prints it."""
    direction = directions["en-fr"]
    result = align(*direction.load(), direction.train(), method="procrustes").evaluate(direction.test())
    scores = result.scores
    assert (scores.p_at_1, scores.p_at_5, scores.p_at_10) == pytest.approx((80.7, 91.2, 93.5), abs=0.2)
    assert (result.covered, result.sources, result.train_overlap) == (974, 1500, 0)
