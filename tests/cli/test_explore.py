import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from bilex import Lexicon


@pytest.fixture
def decided(run):
    from bilex.explorer.corrections import Corrections

    corrections = Corrections(run / "corrections.sqlite")
    corrections.decide("s1", "t1", "accepted")
    corrections.decide("s2", "t2", "corrected", target="t3")
    corrections.close()
    return run


class TestExport:
    def test_pairs_that_align_takes(self, bilex, decided, files, tmp_path):
        seed = tmp_path / "seed.tsv"
        result = bilex("explore", decided, "--export", seed)
        assert (result.code, result.out, result.err) == (0, "", f"2 pairs written to {seed}\n")
        assert Lexicon.read(seed).pairs == (("s1", "t1"), ("s2", "t3"))
        again = bilex("align", files / "x.vec", files / "z.vec", "--train", seed, "--output", tmp_path / "new")
        assert again.code == 0
        assert Lexicon.read(tmp_path / "new" / "train.tsv").pairs == Lexicon.read(seed).pairs

    def test_standard_output_and_json(self, bilex, decided, tmp_path):
        assert bilex("explore", decided, "--export", "-").out == "s1\tt1\ns2\tt3\n"
        result = bilex("explore", decided, "--export", tmp_path / "a.tsv", "--json")
        assert result.json == {"pairs": 2, "written": str(tmp_path / "a.tsv")}

    def test_with_train(self, bilex, decided, world, tmp_path):
        assert bilex("explore", decided, "--export", tmp_path / "a.tsv", "--with-train").code == 0
        assert set(world.train.pairs) <= set(Lexicon.read(tmp_path / "a.tsv").pairs)

    def test_a_file_is_not_replaced_unasked(self, bilex, refused, decided, tmp_path):
        (tmp_path / "a.tsv").write_text("mine")
        assert "exists already" in refused("explore", decided, "--export", tmp_path / "a.tsv")
        assert bilex("explore", decided, "--export", tmp_path / "a.tsv", "--force").code == 0

    def test_nothing_to_export(self, refused, run, tmp_path):
        assert "there are no corrections yet" in refused("explore", run, "--export", tmp_path / "a.tsv")
        from bilex.explorer.corrections import Corrections

        corrections = Corrections(run / "corrections.sqlite")
        corrections.decide("s1", "t1", "rejected")
        corrections.close()
        assert "no pair was accepted or corrected yet" in refused("explore", run, "--export", tmp_path / "a.tsv")
        assert not (tmp_path / "a.tsv").exists()

    def test_what_was_rejected_is_reason_enough_for_another_dictionary(self, bilex, run, world, tmp_path):
        from bilex.explorer.corrections import Corrections

        corrections = Corrections(run / "corrections.sqlite")
        first, *others = world.train.pairs
        corrections.decide(*first, "rejected")
        corrections.close()
        assert bilex("explore", run, "--export", tmp_path / "a.tsv", "--with-train").code == 0
        assert Lexicon.read(tmp_path / "a.tsv").pairs == tuple(others)


def test_no_run(refused, tmp_path):
    assert "this is no run folder" in refused("explore", tmp_path)
    assert not list(tmp_path.iterdir())


def test_options_of_the_export_alone(refused, run):
    assert "--export" in refused("explore", run, "--force", code=2)


def test_without_the_extra(refused, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "pip install 'bilex[explore]'" in refused("explore", run, "--no-open")


def test_one_port():
    pytest.importorskip("uvicorn")
    from bilex.cli.explore import PORT
    from bilex.explorer import server

    assert PORT == server.PORT


@pytest.mark.skipif(sys.platform == "win32", reason="ended by a signal")
@pytest.mark.parametrize("some", [False, True], ids=["nothing decided", "decided"])
def test_serves_until_interrupted(run, some, request):
    if some:
        request.getfixturevalue("decided")
    pytest.importorskip("uvicorn", reason="the extra `explore` is not installed")
    command = [sys.executable, "-m", "bilex", "explore", run, "--host", "0.0.0.0", "--port", "0", "--no-open", "--json"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as started:
        try:
            url = json.loads(started.stdout.readline())["url"]
            with urllib.request.urlopen(f"{url}api/status", timeout=60) as answer:
                assert json.load(answer)["words"] == {"source": 160, "target": 160}
        finally:
            started.send_signal(signal.SIGINT)
            out, err = started.communicate(timeout=120)
    assert (started.returncode, out) == (0, "")
    assert "can be reached from other machines" in err
    assert "Traceback" not in err
    assert (run / "corrections.sqlite").is_file()
    said = f"bilex induce {run} --corrections {run / 'corrections.sqlite'} --output FILE" in err
    assert said == some
    assert (f"bilex explore {run} --export FILE --with-train" in err) == some
