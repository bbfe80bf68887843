import os
import shutil
import socket
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from bilex.errors import AlignmentError
from bilex.run.files import (
    CORRECTIONS,
    SAVED,
    check_files,
    check_inside,
    check_places,
    check_unfinished,
    describe_files,
)

NAMES = ["alignment.json", *SAVED, CORRECTIONS, f"{CORRECTIONS}-wal", f"{CORRECTIONS}-journal", "cache"]


@pytest.fixture
def folder(tmp_path):
    """A folder with the names of a run, and one beside it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("mine")
    made = tmp_path / "run"
    (made / "cache").mkdir(parents=True)
    for name in (*SAVED, "alignment.json", "cache/x.safetensors"):
        (made / name).write_text(name)
    return made


def put(path, kind):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with tempfile.TemporaryDirectory() as folder, closing(socket.socket(socket.AF_UNIX)) as made:
            made.bind(f"{folder}/s")  # the path itself may be too long for it
            Path(folder, "s").rename(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)


@pytest.mark.parametrize("name", [*NAMES, "cache/x.safetensors", "cache/new"])
@pytest.mark.parametrize("to", ["outside/file", "outside/new", "outside", "/dev/zero", "/dev/null"])
@pytest.mark.parametrize("absolute", [True, False])
def test_links_that_leave_the_folder_are_refused(folder, tmp_path, name, to, absolute):
    path = folder / name
    put(path, tmp_path / to if absolute else os.path.relpath(tmp_path / to, path.parent))
    with pytest.raises(AlignmentError, match=rf"{name}: this symbolic link leads out of .*run, so it is not followed"):
        check_places(folder)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "cache"])
@pytest.mark.parametrize("kind", ["fifo", "socket", "folder"])
def test_what_is_no_file_is_refused(folder, name, kind):
    put(folder / name, kind)
    said = {"fifo": "a pipe", "socket": "a socket", "folder": "a folder"}[kind]
    with pytest.raises(AlignmentError, match=f"{name}: this is {said}, needed a file; remove it, or align again"):
        check_places(folder)


@pytest.mark.parametrize("kind", ["fifo", "socket"])
@pytest.mark.parametrize("name", ["cache", "cache/x.safetensors"])
def test_nor_is_it_taken_in_the_cache(folder, name, kind):
    put(folder / name, kind)
    with pytest.raises(AlignmentError, match="this is a"):
        check_places(folder)


def test_links_in_a_circle(folder):
    put(folder / "alignment.json", "trace.jsonl")
    put(folder / "trace.jsonl", "alignment.json")
    with pytest.raises(AlignmentError, match="this symbolic link leads out of"):
        check_places(folder)


def test_links_that_stay_and_a_folder_that_is_one(folder, tmp_path):
    put(folder / "train.tsv", "dev.tsv")
    (tmp_path / "linked").symlink_to(folder)
    for path in (folder, tmp_path / "linked"):
        check_places(path)
    check_inside(folder, [folder / "absent"])


def test_unfinished_folders(tmp_path, folder):
    check_unfinished(tmp_path / "absent", ["inputs.json"])
    check_unfinished(folder, ["trace.jsonl"])
    (tmp_path / "linked").symlink_to(tmp_path / "outside")
    with pytest.raises(AlignmentError, match="linked: this is a link, and nothing is written where it leads to"):
        check_unfinished(tmp_path / "linked", [])
    put(folder / "inputs.json", "fifo")
    with pytest.raises(AlignmentError, match=r"inputs\.json: this is a pipe"):
        check_unfinished(folder, ["inputs.json"])


class TestHashes:
    def test_of_a_run_as_it_was_saved(self, folder):
        check_files(folder, describe_files(folder))
        check_files(folder, None)

    def test_dictionaries_may_be_missing(self, folder):
        for name in ("train.tsv", "dev.tsv"):
            (folder / name).unlink()
        check_files(folder, describe_files(folder))

    @pytest.mark.parametrize("name", SAVED)
    @pytest.mark.parametrize(
        ("damage", "said"),
        [
            (lambda path: path.unlink(), "is missing; put back the one that the run was saved with"),
            (lambda path: path.write_text(path.name + "x"), "bytes, needed"),
            (lambda path: path.write_text(path.name[::-1]), "was changed or exchanged since the run was saved"),
        ],
        ids=["missing", "longer", "other"],
    )
    def test_any_other_file_is_refused(self, folder, name, damage, said):
        described = describe_files(folder)
        damage(folder / name)
        with pytest.raises(AlignmentError, match=f"{name}: .*{said}"):
            check_files(folder, described)

    def test_a_file_that_came_later(self, folder):
        (folder / "dev.tsv").unlink()
        described = describe_files(folder)
        (folder / "dev.tsv").write_text("a\tb\n")
        with pytest.raises(AlignmentError, match=r"dev\.tsv: does not belong to the run"):
            check_files(folder, described)

    def test_a_description_of_other_files(self, folder):
        described = describe_files(folder)
        with pytest.raises(AlignmentError, match=r"alignment\.json: has a file '\.\./x', which is none of a run"):
            check_files(folder, {**described, "../x": described["train.tsv"]})
        with pytest.raises(AlignmentError, match=r"\.safetensors: does not belong to the run"):
            check_files(folder, {})
        for path in folder.iterdir():
            if path.name in SAVED:
                path.unlink()
        with pytest.raises(AlignmentError, match=r"mapping\.safetensors: is missing"):
            check_files(folder, {})
