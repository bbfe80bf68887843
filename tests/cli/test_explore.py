import json
import re
import signal
import socket
import sys
import urllib.parse
import urllib.request

import pytest

from bilex import Lexicon


@pytest.fixture
def decided(run):
    from bilex.run.corrections import Corrections

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
        again = bilex(
            "align", files / "x.vec", files / "z.vec", "--train", seed, "--fast", "--output", tmp_path / "new"
        )
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
        from bilex.run.corrections import Corrections

        corrections = Corrections(run / "corrections.sqlite")
        corrections.decide("s1", "t1", "rejected")
        corrections.close()
        assert "no pair was accepted or corrected yet" in refused("explore", run, "--export", tmp_path / "a.tsv")
        assert not (tmp_path / "a.tsv").exists()

    def test_what_was_rejected_is_reason_enough_for_another_dictionary(self, bilex, run, world, tmp_path):
        from bilex.run.corrections import Corrections

        corrections = Corrections(run / "corrections.sqlite")
        first, *others = world.train.pairs
        corrections.decide(*first, "rejected")
        corrections.close()
        assert bilex("explore", run, "--export", tmp_path / "a.tsv", "--with-train").code == 0
        assert Lexicon.read(tmp_path / "a.tsv").pairs == tuple(others)


class TestMerge:
    def test_decisions_of_others_are_added(self, bilex, decided, tmp_path):
        from bilex.run.corrections import Corrections

        ben = Corrections(tmp_path / "ben.sqlite")
        ben.decide("s1", "t1", "rejected")
        ben.decide("s5", "t5", "accepted")
        ben.close()
        result = bilex("explore", decided, "--merge", tmp_path / "ben.sqlite", "--json")
        assert result.json == {"merged": {str(tmp_path / "ben.sqlite"): {"added": 2, "known": 0}}, "conflicts": 1}
        assert "2 decisions added, 0 were here already" in result.err
        assert "reviewers differ on 1 pairs" in result.err
        again = bilex("explore", decided, "--merge", tmp_path / "ben.sqlite")
        assert "0 decisions added, 2 were here already" in again.err
        merged = Corrections(decided / "corrections.sqlite", reading=True)
        assert merged.judged()[0] == [("s1", "t1"), ("s2", "t3"), ("s5", "t5")], "what was decided here counts"
        assert [d.reviewer for d in merged.of_reviewers()] == ["", "", "ben", "ben"]
        merged.close()

    def test_a_file_of_a_run_has_the_name_of_the_run(self, bilex, decided, run, tmp_path):
        assert (
            bilex(
                "explore", run, "--corrections", tmp_path / "mine.sqlite", "--merge", decided / "corrections.sqlite"
            ).code
            == 0
        )
        from bilex.run.corrections import Corrections

        merged = Corrections(tmp_path / "mine.sqlite", reading=True)
        assert {d.reviewer for d in merged.of_reviewers()} == {decided.name}
        merged.close()

    def test_no_file(self, refused, decided, tmp_path):
        assert "there are no corrections yet" in refused("explore", decided, "--merge", tmp_path / "none.sqlite")


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--source-corpus", "none.txt", "no such file or folder"),
        ("--target-tags", "none.tsv", "No such file"),
        ("--reviewer", "a\nb", "printable characters"),
    ],
)
def test_evidence_that_is_not_there(refused, run, tmp_path, option, value, says):
    given = tmp_path / value if value.startswith("none") else value
    assert says in refused("explore", run, "--port", "0", "--no-open", option, given)
    assert not (run / "corrections.sqlite").exists()


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


@pytest.fixture
def unfinished():
    """Begin requests and never finish them."""
    opened = []

    def begin(url):
        place = urllib.parse.urlsplit(url)
        header = f"POST /api/decide HTTP/1.1\r\nhost: {place.netloc}\r\n"
        token = re.search(r'name="bilex-token" content="([^"]+)"', fetched(url))[1]
        whole = f"{header}x-bilex-token: {token}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n"
        for sent in ("", "POST /api", header, whole, whole + '{"source":'):
            opened.append(socket.create_connection((place.hostname, place.port), timeout=60))
            opened[-1].sendall(sent.encode())
        fetched(url)  # so that the server has seen all that came before

    yield begin
    for connection in opened:
        connection.close()


def fetched(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


@pytest.mark.parametrize("some", [False, True], ids=["nothing decided", "decided"])
def test_serves_until_interrupted(explore, unfinished, run, some, request):
    if some:
        request.getfixturevalue("decided")
    program = explore(run, "--host", "0.0.0.0")
    assert json.loads(fetched(f"{program.url}api/status"))["words"] == {"source": 160, "target": 160}
    unfinished(program.url)
    code, out, err = program.end(signal.SIGINT)
    assert (code, out) == (0, "")
    assert "other machines can reach" in err
    assert "Traceback" not in err
    assert program.url in err.splitlines(), "the address stands alone, so that it can be copied"
    assert (run / "corrections.sqlite").is_file()
    assert (f"bilex induce {run} --output FILE" in err) == some
    assert (f"bilex align SOURCE TARGET --corrections {run} --output NEW" in err) == some


def test_what_to_do_with_decisions_that_are_kept_elsewhere(decided, tmp_path):
    from bilex.cli.explore import _next_commands

    file = (decided / "corrections.sqlite").rename(tmp_path / "mine.sqlite")
    lexicon, alignment = _next_commands(file, decided)
    assert lexicon.endswith(f"bilex induce {decided} --corrections {file} --output FILE")
    assert alignment.endswith(f"bilex align SOURCE TARGET --corrections {file} --train DICT --output NEW")


def test_ends_when_it_is_terminated(explore, unfinished, run):
    program = explore(run)
    unfinished(program.url)
    code, _, err = program.end(signal.SIGTERM)
    assert code in (-signal.SIGTERM, 128 + signal.SIGTERM)
    assert "Traceback" not in err
