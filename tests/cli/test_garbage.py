import gc

import pytest

from bilex.cli import garbage, main


@pytest.mark.parametrize("enabled", [True, False])
def test_no_collection_while_importing(enabled):
    (gc.enable if enabled else gc.disable)()
    try:
        with garbage.importing():
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


@pytest.mark.parametrize(("args", "registered"), [(["--version"], 0), (None, 1)])
def test_objects_are_left_only_at_the_end_of_a_process_of_its_own(monkeypatch, args, registered):
    """A program that calls `main` with arguments goes on after it."""
    calls = []
    monkeypatch.setattr("atexit.register", calls.append)
    monkeypatch.setattr("sys.argv", ["bilex", "--version"])
    with pytest.raises(SystemExit):
        main(args)
    assert calls == [gc.freeze] * registered
