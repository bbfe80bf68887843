import induction
from bilex.search import full_precision, topk


def test_no_more_is_multiplied_than_what_is_compared(alignment, monkeypatch):
    made = []
    score_blocks = topk.score_blocks

    def recorded(queries, keys, **how):
        made.append((len(queries), len(keys)))
        return score_blocks(queries, keys, **how)

    for module in (topk, full_precision):
        monkeypatch.setattr(module, "score_blocks", recorded)
    found = induction.induce(alignment)
    assert found["entries"] <= found["hit"] <= len(alignment.target)
    compared = induction.searches(alignment.source_rows, alignment.target_rows, found["hit"])
    assert made[0] == (len(alignment.source), len(alignment.target))
    assert sum(n * m for n, m in made) <= sum(len(queries) * len(keys) for queries, keys in compared)
