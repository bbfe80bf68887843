"""Every answer of the server, to its own page."""

import math
from dataclasses import replace

import pytest

from bilex import Alignment, Entry, Lexicon, align
from bilex.explorer.tags import Tag, Tags
from bilex.run.corrected import corrected

SHOWN = ("verdict", "targets", "note")


def test_status(client):
    status = client.get("/api/status").json()
    assert status["words"] == {"source": 600, "target": 800}
    assert status["names"] == {"source": "en", "target": "fr"}
    assert status["preparation"]["done"]
    assert status["ready"] == {"translations": {"source": True, "target": True}, "lexicon": True}
    assert status["decided"] == {"accepted": 0, "rejected": 0, "corrected": 0}


def test_complete(client):
    words = client.get("/api/complete", params={"text": "TH", "side": "source"}).json()
    assert words[0] == "the"
    assert all(word.lower().startswith("th") for word in words)
    assert client.get("/api/complete", params={"text": "", "side": "target", "n": 3}).json() == list(
        client.explorer.table("target").words[:3]
    )


@pytest.mark.parametrize(("side", "direction"), [("source", "forward"), ("target", "backward")])
def test_translate(client, side, direction):
    word = client.explorer.table(side).words[20]
    expected = client.explorer.alignment.translate([word], 10, direction=direction)[0]
    told = client.get("/api/translate", params={"word": word, "side": side}).json()
    assert [candidate["word"] for candidate in told["candidates"]] == [c.word for c in expected.candidates]
    assert (told["through"], told["rank"]) == ("table", 21)
    for candidate in told["candidates"]:
        assert candidate["score"] == pytest.approx(2 * candidate["cosine"] - told["r"] - candidate["r"], abs=5e-5)
        assert isinstance(candidate["mutual"], bool)
    assert len(client.get("/api/translate", params={"word": word, "side": side, "n": 25}).json()["candidates"]) == 25


def test_explain(client):
    word = client.explorer.table("source").words[20]
    told = client.get("/api/explain", params={"word": word, "side": "source", "n": 6}).json()
    assert [c["score_rank"] for c in told["candidates"][:6]] == [1, 2, 3, 4, 5, 6]
    assert all(c["cosine_rank"] <= 6 for c in told["candidates"][6:])
    assert len(told["neighbours"]) == 6
    assert word not in [near["word"] for near in told["neighbours"]]
    assert told["personal"] is None


def test_map(client):
    word = client.explorer.table("target").words[20]
    told = client.get("/api/map", params={"word": word, "side": "target", "n": 5}).json()
    assert [point["word"] for point in told["points"] if point["self"]] == [word]
    assert {point["side"] for point in told["points"]} == {"source", "target"}
    assert all(len(point["before"]) == len(point["after"]) == 2 for point in told["points"])
    assert set(told["shown"]) == {"before", "after"}


def test_lexicon_pages_and_filters(client):
    first = client.get("/api/lexicon", params={"limit": 10}).json()
    second = client.get("/api/lexicon", params={"limit": 10, "offset": 10}).json()
    assert first["total"] == 600
    assert [entry["rank"] for entry in first["entries"] + second["entries"]] == list(range(1, 21))
    expected = client.explorer.alignment.induce()
    firsts = [entry for entry in expected if entry.rank == 1]
    assert [(entry["source"], entry["target"]) for entry in first["entries"]] == [e[:2] for e in firsts[:10]]
    found = {entry[:2] for entry in client.explorer.alignment.induce() if entry.origin == "found"}
    mutual = {entry[:2] for entry in client.explorer.alignment.induce(mutual=True, given=False)}
    one_sided = client.get("/api/lexicon", params={"doubt": "one_sided"}).json()
    assert one_sided["total"] == len(found - mutual)
    totals = {
        origin: client.get("/api/lexicon", params={"origin": origin}).json()["total"] for origin in ("given", "found")
    }
    assert totals == {"given": 600 - len(found), "found": len(found)}
    scores = [e["score"] for e in client.get("/api/lexicon?order=score&ascending=false").json()["entries"]]
    assert scores == sorted(scores, reverse=True)
    assert client.get("/api/lexicon?min_score=9").json() == {"total": 0, "offset": 0, "entries": []}


def test_hubs(client):
    told = client.get("/api/hubs?n=5").json()
    numbers = client.explorer.alignment.hubness(k=10)
    assert [hub["among_best"] for hub in told["hubs"]] == [count for _, count in numbers.hubs[:5]]
    assert told["skewness"] == pytest.approx(numbers.skewness, abs=0.01)
    assert sum(told["doubts"].values()) > 0


def decide(client, **fields):
    return client.post("/api/decide", json=fields)


def test_decide_undo_and_export(client):
    entries = client.get("/api/lexicon?limit=3&origin=found").json()["entries"]
    pairs = [{"source": entry["source"], "suggestion": entry["target"]} for entry in entries]
    assert decide(client, **pairs[0], verdict="accepted").json()["decided"]["accepted"] == 1
    told = decide(client, **pairs[1], verdict="corrected", target="mot inconnu", note="rare").json()
    assert [told["decision"][name] for name in SHOWN] == ["corrected", ["mot inconnu"], "rare"]
    assert told["decision"]["made"].endswith("Z")
    assert told["unknown"] == ["mot inconnu"]
    decide(client, **pairs[2], verdict="rejected")
    listed = client.get("/api/lexicon?limit=3&origin=found").json()["entries"]
    assert [entry["decision"]["verdict"] for entry in listed] == ["accepted", "corrected", "rejected"]
    for status, total in [("accepted", 1), ("corrected", 1), ("rejected", 1), ("open", 597)]:
        assert client.get("/api/lexicon", params={"status": status}).json()["total"] == total
    assert client.post("/api/undo", json={}).json()["pairs"] == [{**pairs[2], "decision": None}]
    sent = client.get("/api/export")
    assert sent.headers["content-disposition"] == 'attachment; filename="corrections.tsv"'
    assert sent.text == f"{entries[0]['source']}\t{entries[0]['target']}\n{entries[1]['source']}\tmot inconnu\n"
    dictionary = Lexicon.from_pairs(
        line.split("\t") for line in client.get("/api/export?what=dictionary").text.split("\n")[:-1]
    )
    assert dictionary.pairs == client.explorer.corrections.lexicon(client.explorer.alignment.dictionary).pairs
    assert len(dictionary) >= len(client.explorer.alignment.train)
    sent = client.get("/api/export?what=lexicon")
    assert sent.headers["content-disposition"] == 'attachment; filename="lexicon.tsv"'
    head, *lines = sent.text.splitlines()
    assert head.startswith("# source\ttarget\tscore\trank\torigin")
    lines = {line.split("\t")[0]: line.split("\t")[1:] for line in reversed(lines)}
    assert lines[entries[0]["source"]][::3] == [entries[0]["target"], "accepted"]
    assert lines[entries[1]["source"]] == ["mot inconnu", "", "1", "corrected"]
    assert set(lines) >= set(client.explorer.table("source").words)
    assert [origin for *_, origin in lines.values()].count("given") > 100
    assert client.get("/api/export?what=../run").status_code == 422


def test_undo_shows_what_was_decided_before(client):
    pair = {"source": "a", "suggestion": "b"}
    for verdict in ("accepted", "rejected"):
        decide(client, **pair, verdict=verdict)
    told = client.post("/api/undo", json={}).json()
    (back,) = told["pairs"]
    assert (back["source"], back["suggestion"], back["decision"]["verdict"]) == ("a", "b", "accepted")
    assert client.post("/api/undo", json={}).json()["pairs"] == [{**pair, "decision": None}]
    told = client.post("/api/undo", json={}).json()
    assert (told["words"], told["pairs"]) == (0, [])


def test_several_translations_at_once(client, run):
    first, second = client.get("/api/lexicon?limit=2&origin=found").json()["entries"]
    pair, other = ({"source": entry["source"], "suggestion": entry["target"]} for entry in (first, second))
    known, unknown = client.explorer.table("target").words[50], "mot inconnu"
    told = decide(client, **pair, verdict="corrected", target=f"{known}, {unknown}；{known}").json()
    assert [told["decision"][name] for name in SHOWN] == ["corrected", [known, unknown], ""]
    assert told["unknown"] == [unknown]
    sent = client.get("/api/export").text
    assert sent == f"{pair['source']}\t{known}\n{pair['source']}\t{unknown}\n"
    lines = [line.split("\t") for line in client.get("/api/export?what=lexicon").text.splitlines()]
    mine = [line for line in lines if line[0] == pair["source"]]
    assert [line[1] for line in mine] == [known, unknown]
    assert float(mine[0][2]) > -2, "both words have vectors, and the pair a score"
    assert mine[1][2] == ""
    assert not [line for line in lines if "nan" in line[2:]]
    # A note alone changes none of them, and undoing takes the whole entry back.
    told = decide(client, **pair, verdict="corrected", note="both").json()
    assert [told["decision"][name] for name in SHOWN] == ["corrected", [known, unknown], "both"]
    client.post("/api/undo", json={})
    assert client.post("/api/undo", json={}).json()["pairs"][0]["decision"] is None
    assert client.get("/api/export").text == ""
    # The suggestion alone, whatever stands around it, is accepted; with others it stays right.
    assert (
        decide(client, **other, verdict="corrected", target=f"{other['suggestion']}, ").json()["decision"]["verdict"]
        == "accepted"
    )
    assert decide(client, **other, verdict="corrected", target=" , ;").status_code == 400
    told = decide(client, **other, verdict="corrected", target=f"{known};{other['suggestion']}").json()
    assert told["decision"]["targets"] == [known, other["suggestion"]]
    assert Lexicon.from_pairs(line.split("\t") for line in client.get("/api/export").text.splitlines()).pairs == (
        (other["source"], known),
        (other["source"], other["suggestion"]),
    )


@pytest.mark.parametrize(("side", "direction"), [("source", "forward"), ("target", "backward")])
def test_a_word_is_shown_with_what_is_given_for_it(client, side, direction):
    entry = next(
        e
        for e in client.explorer.alignment.induce(direction=direction)
        if e.origin == "given" and not math.isnan(e.score)
    )
    given = client.explorer.given[side][entry.source]
    told = client.get("/api/translate", params={"word": entry.source, "side": side}).json()
    assert sorted(candidate["word"] for candidate in told["given"]) == sorted(given)
    scores = {candidate["word"]: candidate["score"] for candidate in told["given"]}
    assert scores[entry.target] == pytest.approx(entry.score, abs=1e-5)
    explained = client.get("/api/explain", params={"word": entry.source, "side": side, "n": 2}).json()["candidates"]
    ranks = {candidate["word"]: candidate["score_rank"] for candidate in explained}
    known = [word for word in given if word in client.explorer.table("target" if side == "source" else "source")]
    assert set(known) <= set(ranks), "what is given has its ranks too, however far it is"


def test_a_lexicon_is_downloaded_without_what_a_line_cannot_hold(client, monkeypatch):
    entries = [Entry("a\tb", "x", 0.5, 1), Entry("a", "x\ny", 0.5, 1), Entry("a", "x", 0.5, 1, "given")]
    monkeypatch.setattr(type(client.explorer), "lexicon", lambda _: entries)
    sent = client.get("/api/export?what=lexicon")
    assert (sent.status_code, sent.text.splitlines()[1:]) == (200, ["a\tx\t0.500000\t1\tgiven"])


def test_a_pair_decided_from_the_other_language_is_the_same_pair(client):
    word = client.explorer.table("target").words[20]
    best = client.get("/api/translate", params={"word": word, "side": "target"}).json()["candidates"][0]["word"]
    decide(client, source=best, suggestion=word, verdict="rejected")
    back = client.get("/api/translate", params={"word": word, "side": "target"}).json()["candidates"][0]
    assert back["decision"]["verdict"] == "rejected"


def test_decisions_are_there_after_a_restart_and_align_learns_from_them(client, run, reopened, tmp_path):
    for entry in client.get("/api/lexicon?limit=40&origin=found").json()["entries"]:
        decide(client, source=entry["source"], suggestion=entry["target"], verdict="accepted")
    (tmp_path / "seed.tsv").write_bytes(client.get("/api/export").content)
    assert reopened().corrections.counts()["accepted"] == 40
    first = Alignment.load(run)
    made = align(first.source, first.target, Lexicon.read(tmp_path / "seed.tsv"), method="procrustes")
    assert made.provenance["train_coverage"]["pairs_covered"] == 40


def test_a_word_outside_the_table_is_made_of_its_subwords(client):
    explorer = client.explorer
    source = explorer.alignment.source
    made = replace(source, subwords=lambda _: source.rows[30].copy())
    explorer.alignment = replace(explorer.alignment, source=made)
    known = client.get("/api/translate", params={"word": source.words[30], "side": "source"}).json()
    found = client.get("/api/translate", params={"word": "unheard-of", "side": "source"}).json()
    assert (found["through"], found["rank"]) == ("subwords", None)
    assert [c["word"] for c in found["candidates"]] == [c["word"] for c in known["candidates"]]
    assert [c["score"] for c in found["candidates"]] == pytest.approx(
        [c["score"] for c in known["candidates"]], abs=1e-4
    )
    assert client.get("/api/explain", params={"word": "unheard-of", "side": "source"}).json()["personal"] is None
    assert client.get("/api/map", params={"word": "unheard-of", "side": "source"}).status_code == 404


def test_hostile_words_are_words(client, hostile):
    word = hostile
    for path in ("translate", "explain", "map"):
        answer = client.get(f"/api/{path}", params={"word": word, "side": "source"})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
    told = decide(client, source=word, suggestion=word, verdict="accepted", note=word)
    assert told.status_code == 200
    assert f"{word}\t{word}\n" in client.get("/api/export").text
    assert client.get("/api/lexicon", params={"text": word}).json()["total"] >= 1


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/api/translate?word=zzzzqq&side=source", 404, "'zzzzqq' is not among the 600 words"),
        ("/api/translate?word=the&side=both", 422, "side"),
        ("/api/translate?word=&side=source", 422, "word"),
        ("/api/translate?word=the&side=source&n=0", 422, "n: "),
        ("/api/translate?word=the&side=source&n=1e9", 422, "n: "),
        (f"/api/translate?word={'a' * 201}&side=source", 422, "word"),
        ("/api/lexicon?offset=-1", 422, "offset"),
        ("/api/lexicon?limit=100000", 422, "limit"),
        ("/api/lexicon?min_score=nan", 422, "min_score"),
        ("/api/lexicon?status=%27", 422, "status"),
        ("/api/nothing", 404, "Not Found"),
        ("/static/nothing.js", 404, "no such file"),
        ("/static/index.html", 404, "no such file"),
        ("/static/..%2f..%2fapp.py", 404, "Not Found"),
        ("/docs", 404, "Not Found"),
        ("/openapi.json", 404, "Not Found"),
    ],
)
def test_bad_requests_get_a_sentence(client, path, status, says):
    answer = client.get(path)
    assert answer.status_code == status
    assert says in answer.json()["error"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"source": 1}',
        b'{"source":"a","suggestion":"x","verdict":"maybe"}',
        b'{"source":"a","suggestion":"x","verdict":"accepted","more":1}',
        b'{"source":"a\\tb","suggestion":"x","verdict":"accepted"}',
        b'{"source":"\\ud800","suggestion":"x","verdict":"accepted"}',
        b"\xff\xfe",
        b"[" * 10000,
    ],
    ids=lambda body: ascii(body[:60]),
)
def test_bad_decisions_change_nothing(client, body):
    answer = client.post("/api/decide", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert "error" in answer.json()
    assert client.explorer.corrections.current() == {}


def test_unprepared_runs_say_so(run, reopened):
    from starlette.testclient import TestClient

    from bilex.explorer.app import make_app

    for file in (run / "cache").iterdir():
        file.unlink()
    explorer = reopened()
    explorer.preparation.start = lambda: None
    with TestClient(make_app(explorer), base_url="http://127.0.0.1") as client:
        for path in ("translate?word=the&side=source", "explain?word=the&side=target", "lexicon", "hubs"):
            answer = client.get(f"/api/{path}")
            assert (answer.status_code, answer.json()["preparing"]) == (503, True)
        assert client.get("/api/complete?text=th&side=source").status_code == 200
        assert client.get("/api/status").json()["ready"]["lexicon"] is False


def test_a_preparation_that_fails_is_told(run, reopened, monkeypatch):
    for file in (run / "cache").iterdir():
        file.unlink()
    explorer = reopened()
    monkeypatch.setattr(explorer.induced, "find", lambda *_: 1 / 0)
    explorer.preparation.start()
    explorer.preparation.wait()
    assert explorer.preparation.status()["error"] == "ZeroDivisionError: division by zero"


def review(client, **fields):
    return client.post("/api/review", json=fields)


def test_review_of_an_entry(client):
    entry = client.get("/api/lexicon?limit=1&origin=found").json()["entries"][0]
    source, words = entry["source"], [candidate["word"] for candidate in entry["candidates"]]
    told = review(client, source=source, targets=[words[0]], reviewer="anna").json()
    assert (told["state"]["verdict"], told["state"]["reviewer"]) == ("accepted", "anna")
    told = review(client, source=source, targets=words[:2], note="both").json()
    assert [told["state"][name] for name in SHOWN] == ["corrected", words[:2], "both"]
    told = review(client, source=source, mark="multiword").json()
    assert [told["state"][name] for name in (*SHOWN, "mark")] == ["corrected", words[:2], "both", "multiword"]
    told = review(client, source=source, typed=f"{words[1]}; mot inconnu").json()
    assert (told["state"]["targets"], told["unknown"]) == ([words[1], "mot inconnu"], ["mot inconnu"])
    listed = client.get("/api/lexicon", params={"text": "inconnu", "mark": "multiword", "limit": 1}).json()
    assert listed["total"] == 0, "the text is that of the lexicon"
    (listed,) = client.get("/api/lexicon?mark=multiword").json()["entries"]
    assert [candidate["word"] for candidate in listed["candidates"]][-1] == "mot inconnu"
    assert review(client, source=source, targets=[], rejected=True).json()["state"]["verdict"] == "rejected"
    assert review(client, source=source, targets=[]).json()["state"]["verdict"] == "open"
    assert review(client, source="no such word", targets=[]).status_code == 404
    assert review(client, source=source, targets=["a\tb"]).status_code == 400
    assert review(client, source=source, mark="other").status_code == 422


def test_many_at_once_only_if_the_list_is_as_it_was(client):
    filters = {"origin": "found", "min_margin": 0.05}
    total = client.get("/api/lexicon", params={**filters, "status": "open"}).json()["total"]
    assert total > 10
    refused = client.post("/api/accept-all", params=filters, json={"count": total + 1})
    assert (refused.status_code, "the list has changed" in refused.json()["error"]) == (409, True)
    told = client.post("/api/accept-all", params=filters, json={"count": total}).json()
    assert (told["count"], told["decided"]["accepted"]) == (total, total)
    assert client.get("/api/lexicon", params={**filters, "status": "open"}).json()["total"] == 0
    told = client.post("/api/undo", json={}).json()
    assert (told["words"], told["pairs"]) == (total, [])
    assert client.explorer.corrections.current() == {}


def test_the_next_page_begins_behind_the_last_entry_whatever_was_decided(client):
    first = client.get("/api/lexicon?status=open&limit=10&order=score").json()["entries"]
    expected = client.get("/api/lexicon?status=open&limit=10&offset=10&order=score").json()["entries"]
    for entry in first:
        review(client, source=entry["source"], rejected=True)
    after = client.get(f"/api/lexicon?status=open&limit=10&order=score&after={first[-1]['rank']}").json()
    assert [entry["source"] for entry in after["entries"]] == [entry["source"] for entry in expected]
    assert after["offset"] == 0
    assert client.get("/api/lexicon?after=100000").status_code == 200


def test_filters_of_kind_script_and_rank(client):
    def sources(**wanted):
        return [
            entry["source"] for entry in client.get("/api/lexicon", params={"limit": 200, **wanted}).json()["entries"]
        ]

    assert sources(script="Hebrew") == ["שלום"]
    assert sources(min_rank=3, max_rank=5) == client.explorer.table("source").words[2:5]
    assert {"</s>", "1984"} & set(sources(min_rank=580, hide="nonwords")) == set()
    assert {"</s>", "1984"} <= set(sources(min_rank=580))
    assert not any(entry["origin"] == "given" for entry in client.get("/api/lexicon?hide=given").json()["entries"])
    assert client.get("/api/lexicon?hide=everything").status_code == 422
    words = sources(order="word", limit=50)
    assert words == [client.explorer.table("source").words[i] for i in client.explorer.words["source"]._rows[:50]]


def test_home(client):
    told = client.get("/api/home").json()
    assert told["words"] == {"source": 600, "target": 800}
    assert told["dictionary"] == len(client.explorer.alignment.given)
    assert told["review"]["found"]["decided"] == told["review"]["found"]["aside"] == 0
    assert told["expected"] is None
    assert told["confidence"] is False
    first = told["useful"][0]
    review(client, source=first["source"], targets=[first["target"]])
    after = client.get("/api/home").json()
    assert after["review"]["found"] == {**told["review"]["found"], "decided": 1}
    assert after["useful"][:7] == told["useful"][1:]


def test_examples_without_a_corpus(client):
    told = client.get("/api/examples?word=the&side=source&candidate=le").json()
    assert told == {"word": None, "candidates": [None], "corpora": {"source": False, "target": False}}


def test_parts_of_speech_and_lemmas(client):
    words = client.explorer.table("source").words
    client.explorer.tags["source"] = Tags({words[3]: Tag("be", "VERB"), words[5]: Tag("", "NOUN")})
    assert client.get("/api/about").json()["parts"] == ["NOUN", "VERB"]
    (entry,) = client.get("/api/lexicon?part=VERB&status=open").json()["entries"]
    assert (entry["source"], entry["lemma"], entry["part"]) == (words[3], "be", "VERB")
    assert client.get("/api/translate", params={"word": words[5], "side": "source"}).json()["part"] == "NOUN"
    assert client.get("/api/translate", params={"word": "le", "side": "target"}).json()["part"] == ""


def test_a_rejection_is_of_every_candidate_that_was_shown(client, run, tmp_path):
    """So none of them comes back in a lexicon with several translations; `induce` is asked with the same run."""
    entry = client.get("/api/lexicon?origin=found&limit=1&hide=nonwords").json()["entries"][0]
    told = client.post("/api/review", json={"source": entry["source"], "rejected": True}).json()
    assert told["decided"] == {"accepted": 0, "rejected": 1, "corrected": 0}, "one word, not five pairs"
    refused = {(entry["source"], candidate["word"]) for candidate in entry["candidates"]}
    assert len(refused) == 5
    assert client.explorer.corrections.judged() == ([], refused)
    shown = client.get(f"/api/translate?word={entry['source']}&side=source").json()["candidates"]
    assert [c["word"] for c in shown if c["decision"]] == [c["word"] for c in entry["candidates"]]
    induced = corrected(client.explorer.alignment.induce(n=5), client.explorer.corrections, n=5)
    assert entry["source"] not in {one.source for one in induced}
    # The next decision opens the others again, and one step back takes it all back.
    told = client.post("/api/review", json={"source": entry["source"], "targets": [entry["candidates"][1]["word"]]})
    assert client.explorer.corrections.judged()[1] == {(entry["source"], entry["target"])}
    for _ in range(2):
        told = client.post("/api/undo", json={}).json()
    assert (told["words"], len(told["pairs"])) == (1, 5)
    assert told["pairs"][0] == {"source": entry["source"], "suggestion": entry["target"], "decision": None}
    assert client.explorer.corrections.judged() == ([], set())
