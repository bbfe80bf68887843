"""What is behind the page: names, what is known at once and what is searched, and what is not ready."""

from concurrent.futures import Future
from dataclasses import replace

import pytest

from bilex import TableError
from bilex.explorer.preparation import NotReadyError


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("en.vec", "fr.vec"), ("en", "fr")),
        (("/data/wiki.en.vec.gz", "x/fr.300.vec"), ("wiki", "fr")),
        (("wiki.en.vec", "wiki.fr.vec"), ("source", "target")),
        (("en.vec", None), ("source", "target")),
        ((None, "fr.vec"), ("source", "target")),
        ((None, None), ("source", "target")),
        (("en.vec", ""), ("source", "target")),
    ],
)
def test_names(explorer, files, names):
    inputs = {side: {"file": file} for side, file in zip(("source", "target"), files, strict=True)}
    explorer.alignment = replace(explorer.alignment, provenance={"inputs": inputs})
    assert explorer.names() == {"source": names[0], "target": names[1]}


@pytest.mark.parametrize("provenance", [{}, {"inputs": {}}, {"inputs": {"source": None, "target": {"file": "fr.vec"}}}])
def test_names_of_tables_that_came_from_no_file(explorer, provenance):
    explorer.alignment = replace(explorer.alignment, provenance=provenance)
    assert explorer.names() == {"source": "source", "target": "target"}


@pytest.mark.parametrize("side", ["source", "target"])
def test_what_was_found_before_is_known_at_once(explorer, side):
    row, vector = explorer.vector(side, explorer.table(side).words[5])
    at_once = explorer.translate(side, row, vector, 10)
    assert not isinstance(at_once, Future)
    searched = explorer.translate(side, row, vector, 11)
    assert isinstance(searched, Future)
    assert at_once.rows == searched.result(60).rows[:10]
    assert isinstance(explorer.translate(side, None, vector, 10), Future), "a word of no table is searched"


def test_what_is_not_ready_is_said(explorer):
    row, vector = explorer.vector("source", explorer.table("source").words[5])
    del explorer.index.penalties["source"]
    # To the target the r of the target words are enough; what was found before is not used without both.
    assert isinstance(explorer.translate("source", row, vector, 5), Future)
    assert isinstance(explorer.explain("source", row, vector, 5), Future)
    for ask in (explorer.translate, explorer.explain):
        with pytest.raises(NotReadyError, match="neighbourhoods"):
            ask("target", row, vector, 5)
    assert isinstance(explorer.neighbours("source", row, vector, 5), Future), "neighbours need no r"
    del explorer.induced.best["backward"]
    assert explorer.back("target", [1]) is None
    assert explorer.back("source", [1]) == [int(explorer.induced.best["forward"].rows[1, 0])]
    with pytest.raises(NotReadyError, match="induced"):
        explorer.entries  # noqa: B018


def test_vectors(explorer):
    words = explorer.table("target").words
    row, vector = explorer.vector("target", words[9])
    assert row == 9
    assert vector.tolist() == explorer.index.z[9].tolist()
    with pytest.raises(TableError, match="is not among"):
        explorer.vector("target", "no such word")


def test_the_lexicon_has_the_decisions_in_it(explorer):
    found = explorer.lexicon()
    assert [(entry.source, entry.target) for entry in found] == [
        entry[:2] for entry in explorer.alignment.induce()
    ]  # fmt: skip
    assert [entry.score for entry in found] == pytest.approx(
        [e.score for e in explorer.alignment.induce()], abs=1e-5, nan_ok=True
    )
    assert [entry.origin for entry in found] == [entry.origin for entry in explorer.alignment.induce()]
    first, second, *_ = [entry for entry in found if entry.origin == "found"]
    third = next(entry for entry in found if entry.origin == "given")
    explorer.corrections.decide(first.source, first.target, "rejected")
    explorer.corrections.decide(second.source, second.target, "corrected", target="autre")
    explorer.corrections.decide(third.source, third.target, "rejected")
    changed = {entry[:2]: entry for entry in explorer.lexicon()}
    assert set(found) - set(changed.values()) >= {first, second, third}
    assert first.source not in {source for source, _ in changed}
    assert (third.source, third.target) not in changed, "what a person says is the later word"
    assert changed[second.source, "autre"][3:5] == (1, "corrected")


def test_closing_ends_the_threads_and_the_file(explorer):
    stopped = []
    explorer.preparation.stop = lambda: stopped.append(True)
    explorer.close()
    assert stopped
    assert not explorer._batches._thread.is_alive()
    with pytest.raises(Exception, match="closed"):
        explorer.corrections.current()
