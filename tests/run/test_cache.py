import os
import shutil

import pytest
import torch

from bilex import CSLS, Alignment
from bilex.retrieval.partial_penalties import PartialPenalties
from bilex.retrieval.sides import SIDES, Sides
from bilex.run.cache import Cache
from bilex.run.penalty_cache import PenaltyCache
from bilex.storage.array_file import read_arrays, write_arrays
from bilex.storage.array_form import ArrayForm

FORMS = {"penalty": ArrayForm(("words",))}
PENALTY = torch.arange(5.0)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "alignment.json").write_text("{}")
    return tmp_path / "run"


@pytest.fixture
def file(folder):
    Cache(folder).write("x", {"penalty": PENALTY})
    return folder / "cache" / "x.safetensors"


def read(folder):
    return Cache(folder).read("x", FORMS, {"words": 5})


def test_is_found_again(folder, file):
    assert torch.equal(read(folder)["penalty"], PENALTY)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"other": PENALTY},
        {"penalty": PENALTY, "other": PENALTY},
        {"penalty": PENALTY[:4]},
        {"penalty": PENALTY[:, None]},
        {"penalty": PENALTY.long()},
        {"penalty": PENALTY / 0},
        {"penalty": PENALTY.index_fill(0, torch.tensor(2), torch.nan)},
    ],
    ids=["none", "other", "more", "short", "rank", "type", "infinite", "nan"],
)
def test_what_is_not_in_its_form_is_not_taken(folder, file, arrays):
    _, notes = read_arrays(file)
    write_arrays(file, arrays, notes)
    assert read(folder) is None


def test_changed_numbers_are_not_taken(folder, file):
    data = bytearray(file.read_bytes())
    data[-2] ^= 1
    file.write_bytes(data)
    assert read(folder) is None


def test_nor_those_of_another_run(folder, file):
    other = shutil.copytree(folder, folder.parent / "other")
    assert read(other) is not None
    (other / "alignment.json").write_text("{ }")
    assert read(other) is None


@pytest.mark.parametrize("partial", [False, True])
def test_penalties_of_another_number_of_words_are_not_taken(folder, partial):
    cache = PenaltyCache(folder, CSLS(), PENALTY.device, Sides(5, 4))
    for side in SIDES:
        cache.put(side, PartialPenalties(PENALTY, PENALTY > 0) if partial else PENALTY)
    assert cache.get("source") is not None
    assert cache.get("target") is None


@pytest.mark.parametrize("kind", ["absent", "pipe", "folder", "link to nothing"])
def test_nothing_there_is_an_error(folder, file, kind):
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "link to nothing":
        file.symlink_to(folder.parent / "nothing")
    assert read(folder) is None
    Cache(folder).write("x", {"penalty": PENALTY})
    assert (read(folder) is None) == (kind == "folder")
    assert not (folder.parent / "nothing").exists()


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("number", [torch.nan, torch.inf, 0.0])
def test_penalties_that_were_changed_are_computed_anew(alignment, tmp_path, side, number):
    """Those of an attacker too who knows the checksum, unless they are finite: then they are of their making."""
    alignment.save(tmp_path / "run")
    expected = Alignment.load(tmp_path / "run").induce(retrieval=CSLS(k=3))
    file = tmp_path / "run" / "cache" / f"csls-k=3.{side}.safetensors"
    arrays, notes = read_arrays(file)
    arrays["penalty"][7] = number
    write_arrays(file, arrays, notes if number != 0 else {})
    assert Alignment.load(tmp_path / "run").induce(retrieval=CSLS(k=3)) == expected
    assert read_arrays(file)[0]["penalty"].isfinite().all()
