"""Against what the alignment itself finds, and against every cosine computed plainly."""

import torch

from bilex import CSLS
from bilex.retrieval.sides import other


def test_translations_are_those_of_the_alignment(explorer):
    for side, direction in (("source", "forward"), ("target", "backward")):
        words = explorer.table(side).words[5:9]
        expected = explorer.alignment.translate(words, 5, direction=direction)
        for word, translation in zip(words, expected, strict=True):
            row, vector = explorer.vector(side, word)
            kept = explorer.translate(side, row, vector, 5)
            asked = explorer.translate(side, row, vector, 12).result(60)
            for found in (kept, asked):
                assert [explorer.table(other(side)).words[j] for j in found.rows[:5]] == [
                    candidate.word for candidate in translation.candidates
                ]
                scores = torch.tensor([candidate.score for candidate in translation.candidates])
                torch.testing.assert_close(torch.tensor(found.scores[:5]), scores, atol=1e-5, rtol=0)


def test_the_parts_of_a_score_make_the_score(explorer):
    row, vector = explorer.vector("source", explorer.table("source").words[17])
    kept = explorer.translate("source", row, vector, 10)
    asked = explorer.translate("source", row, vector, 20).result(60)
    for found in (kept, asked):
        parts = 2 * torch.tensor(found.cosines) - found.own - torch.tensor(found.penalties)
        torch.testing.assert_close(torch.tensor(found.scores), parts, atol=1e-5, rtol=0)
        assert abs(found.own - float(explorer.search.penalty("source")[row])) < 1e-5


def test_ranks_and_losers(explorer):
    row, vector = explorer.vector("source", explorer.table("source").words[3])
    found = explorer.explain("source", row, vector, 7).result(60)
    cosines = explorer.index.z @ vector
    scores = 2 * cosines - explorer.search.penalty("target")
    by_score, by_cosine = (values.argsort(descending=True).tolist() for values in (scores, cosines))
    assert found.rows[:7] == by_score[:7]
    assert set(found.rows) == set(by_score[:7]) | set(by_cosine[:7])
    assert found.score_ranks == [by_score.index(j) + 1 for j in found.rows]
    assert found.cosine_ranks == [by_cosine.index(j) + 1 for j in found.rows]


def test_neighbours_leave_the_word_out(explorer):
    row, vector = explorer.vector("target", explorer.table("target").words[3])
    found = explorer.neighbours("target", row, vector, 4).result(60)
    order = (explorer.index.z @ vector).argsort(descending=True).tolist()
    order.remove(row)
    assert found.rows == order[:4]


def test_many_at_once_are_as_one_by_one(explorer):
    asked = [explorer.vector("source", word) for word in explorer.table("source").words[:40]]
    together = [explorer.explain("source", *query, 3 + i % 5) for i, query in enumerate(asked)]
    for i, (query, found) in enumerate(zip(asked, together, strict=True)):
        assert found.result(60).rows == explorer.explain("source", *query, 3 + i % 5).result(60).rows


def test_a_vector_of_no_word_has_an_r_too(explorer):
    row, vector = explorer.vector("source", explorer.table("source").words[3])
    own, other = (explorer.translate("source", known, vector, 12).result(60) for known in (row, None))
    assert own.rows == other.rows
    assert abs(own.own - other.own) < 1e-5


def test_kept_translations_are_found_again_and_damage_is_not_believed(explorer, run):
    from bilex.explorer.translations_cache import Induced

    index = explorer.index
    assert set(Induced(index, CSLS(), run).best) == {"forward", "backward"}
    file = next((run / "cache").glob("explore-*forward*"))
    file.write_bytes(file.read_bytes()[:100])
    assert set(Induced(index, CSLS(), run).best) == {"backward"}
    again = Induced(index, CSLS(), run)
    again.find()
    assert torch.equal(again.best["forward"].rows, explorer.induced.best["forward"].rows)
    assert set(Induced(index, CSLS(), run).best) == {"forward", "backward"}
    other = next((run / "cache").glob("explore-*backward*"))
    file.write_bytes(other.read_bytes())
    assert set(Induced(index, CSLS(), run).best) == {"backward"}
