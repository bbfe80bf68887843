import induction
from bilex.linalg import topk as kernel


def test_the_products_that_are_compared_are_those_that_are_made(alignment, monkeypatch):
    made = []
    score_blocks = kernel.score_blocks

    def recorded(queries, keys, **how):
        made.append((len(queries), len(keys)))
        return score_blocks(queries, keys, **how)

    monkeypatch.setattr(kernel, "score_blocks", recorded)
    found = induction.induce(alignment)
    assert found["entries"] <= found["hit"] <= len(alignment.target)
    expected = induction.searches(alignment.source_rows, alignment.target_rows, found["hit"])
    assert made == [(len(queries), len(keys)) for queries, keys in expected]
