import os
import re
from types import SimpleNamespace

import pytest

from bilex.cli import unfinished
from bilex.errors import AlignmentError, DiskFullError, LockError
from bilex.fitting.inputs import collect
from bilex.run.provenance import INPUTS
from bilex.storage.lock import LOCK_FILE, exclusive_lock
from bilex.training.checkpoint import CHECKPOINT
from bilex.training.trace import Trace


@pytest.fixture
def places(tmp_path):
    """RUN and RUN.partial."""
    return tmp_path / "run", tmp_path / "run.partial"


@pytest.fixture
def given(world):
    return collect(*world[:3], method="procrustes")


@pytest.fixture
def saved(alignment, places):
    alignment.save(places[0])
    return places[0]


def begun(partial):
    partial.mkdir()
    (partial / CHECKPOINT).write_bytes(b"half")


def keep(places, given, *, resume=False, force=False):
    return unfinished.checkpoint(places[1], places[0], given, resume=resume, force=force)


def fail(places, given, error, **values):
    """Work that ends early, with a checkpoint of these values if there are any."""
    with keep(places, given) as checkpoint:
        if values:
            checkpoint.save(Trace(), {}, **values)
        raise error


class TestCheckFree:
    def test_nothing_there(self, places):
        unfinished.check_free(*places, resume=False, force=False)

    def test_a_run(self, saved, places):
        with pytest.raises(AlignmentError, match=r"exists already .* `replace=True`"):
            unfinished.check_free(*places, resume=False, force=False)
        unfinished.check_free(*places, resume=False, force=True)
        unfinished.check_free(*places, resume=True, force=False)  # which of them it is will be seen

    def test_the_beginnings_of_one(self, places):
        begun(places[1])
        for force in (False, True):
            with pytest.raises(AlignmentError, match="is from a run that was interrupted; continue it with --resume"):
                unfinished.check_free(*places, resume=False, force=force)
            unfinished.check_free(*places, resume=True, force=force)

    def test_another_process(self, places):
        places[1].mkdir()
        with (
            exclusive_lock(places[1] / LOCK_FILE),
            pytest.raises(LockError, match=f"process {os.getpid()} on .* is using this folder"),
        ):
            unfinished.check_free(*places, resume=True, force=True)


class TestIsFinished:
    def test_no_run(self, places, given):
        assert not unfinished.is_finished(*places, given, force=False)

    @pytest.mark.parametrize("force", [False, True])
    def test_the_same_run(self, saved, places, given, force):
        assert unfinished.is_finished(*places, given, force=force)

    def test_another_run(self, saved, places, world):
        other = collect(*world[:3], method="cca")
        with pytest.raises(AlignmentError, match="was made with another `method`, `settings`"):
            unfinished.is_finished(*places, other, force=False)
        assert not unfinished.is_finished(*places, other, force=True)

    def test_a_run_and_the_beginnings_of_the_one_that_replaces_it(self, saved, places, given):
        begun(places[1])
        assert not unfinished.is_finished(*places, given, force=True)
        assert unfinished.is_finished(*places, given, force=False)


class TestCheckRoom:
    @pytest.mark.parametrize(("share", "said"), [(2.9, True), (3.0, False)])
    def test_checkpoints_need_more(self, places, given, monkeypatch, capsys, share, said):
        free = int(share * given.least_bytes)
        monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
        unfinished.check_room(places[0], given)
        assert ("and its checkpoints up to 0.03 MB more during training" in capsys.readouterr().err) is said

    def test_what_does_not_fit(self, places, given, monkeypatch):
        monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=given.least_bytes - 1))
        with pytest.raises(DiskFullError, match="free some space, or choose another place"):
            unfinished.check_room(places[0], given)


class TestCheckpoint:
    def test_is_removed_when_all_is_done(self, places, given):
        with keep(places, given) as checkpoint:
            assert (places[1] / INPUTS).is_file()
            checkpoint.save(Trace(), {}, epoch=1)
        assert not places[1].exists()

    @pytest.mark.parametrize("checkpoint", [False, True])
    def test_is_left_after_a_failure_if_there_is_something_to_go_on_from(self, places, given, checkpoint):
        with pytest.raises(ZeroDivisionError):
            fail(places, given, ZeroDivisionError, **({"epoch": 1} if checkpoint else {}))
        left = sorted(path.name for path in places[1].iterdir()) if places[1].exists() else []
        assert left == ([CHECKPOINT, INPUTS] if checkpoint else [])

    def test_is_gone_on_with(self, places, given, capsys):
        with pytest.raises(ZeroDivisionError):
            fail(places, given, ZeroDivisionError, epoch=1)
        with keep(places, given, resume=True) as checkpoint:
            assert checkpoint.load(Trace()).values == {"epoch": 1}
        assert capsys.readouterr().err == f"continuing from {places[1]}\n"

    def test_that_of_other_inputs_is_refused(self, places, given, world):
        with pytest.raises(ZeroDivisionError):
            fail(places, given, ZeroDivisionError, epoch=1)
        other = collect(*world[:3], method="procrustes", rng_seed=7)
        with pytest.raises(AlignmentError, match="was made with another `rng_seed`"), keep(places, other, resume=True):
            pytest.fail("worked")
        assert (places[1] / CHECKPOINT).is_file()

    def test_that_of_another_version_is_refused(self, places, world):
        """Between the versions, settings of the method and of its base were renamed."""
        given = collect(*world[:3], method="rapo_semi")
        with pytest.raises(ZeroDivisionError):
            fail(places, given, ZeroDivisionError, epoch=1)
        file = places[1] / INPUTS
        file.write_text(file.read_text().replace('"min_share"', '"least_share"').replace('"warm_start"', '"go_on"'))
        names = r"go_on, least_share, min_share, \.\.\."
        said = rf"by another version of bilex, whose rapo_semi has other settings \({names}\); choose another folder"
        with pytest.raises(AlignmentError, match=said), keep(places, given, resume=True):
            pytest.fail("worked")

    @pytest.mark.parametrize(
        ("values", "said"),
        [
            ({"epoch": 3}, "to continue from epoch 3, run"),
            ({"round": 1, "part.epoch": 4}, "to continue from round 1, epoch 4, run"),
            ({"stage": "x"}, "to continue from .*run.partial, run"),
        ],
    )
    def test_an_interruption_says_from_where_it_goes_on(self, places, given, monkeypatch, values, said):
        monkeypatch.setattr(unfinished, "this_command", lambda option: f" bilex align {option}")
        with pytest.raises(KeyboardInterrupt) as interrupted:
            fail(places, given, KeyboardInterrupt, **values)
        (note,) = interrupted.value.__notes__
        assert note.endswith(" bilex align --resume")
        assert re.search(said, note)

    def test_an_interruption_before_that_says_that_nothing_is_kept(self, places, given):
        with pytest.raises(KeyboardInterrupt) as interrupted:
            fail(places, given, KeyboardInterrupt)
        assert interrupted.value.__notes__ == ["no checkpoint was saved"]
