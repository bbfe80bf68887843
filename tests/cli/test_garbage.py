import gc

import click
import pytest

from bilex.cli import garbage, main
from bilex.cli.invocation import Invocation


@pytest.mark.parametrize("enabled", [True, False])
def test_no_collection_while_importing(enabled):
    (gc.enable if enabled else gc.disable)()
    try:
        with garbage.importing():
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


@pytest.mark.parametrize(("obj", "frozen"), [(Invocation.of_process([]), 1), (Invocation.of_program([]), 0), (None, 0)])
def test_imports_are_left_out_of_later_collections_in_a_process_of_its_own(monkeypatch, obj, frozen):
    calls = []
    monkeypatch.setattr("gc.freeze", lambda: calls.append(gc.isenabled()))
    with click.Context(click.Command("align"), obj=obj), garbage.importing():
        pass
    assert calls == [False] * frozen


@pytest.mark.parametrize(("args", "registered"), [(["--version"], 0), (None, 1)])
def test_objects_are_left_only_at_the_end_of_a_process_of_its_own(monkeypatch, args, registered):
    """A program that calls `main` with arguments goes on after it."""
    calls = []
    monkeypatch.setattr("atexit.register", calls.append)
    monkeypatch.setattr("gc.freeze", lambda: None)
    monkeypatch.setattr("sys.argv", ["bilex", "--version"])
    with pytest.raises(SystemExit):
        main(args)
    assert calls == [gc.freeze] * registered
