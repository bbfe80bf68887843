import math

import numpy as np
import pytest
import torch

from bilex import EmbeddingTable
from bilex.induction.initial import _profiles, _rank_code, same_spelling, similar_profiles
from bilex.normalize import unit


def table(*words):
    return EmbeddingTable(list(words), np.eye(len(words), 9, dtype=np.float32))


def test_same_spelling():
    source = table("the", "1984", "radio", "3,5", "taxi", "7up", "12:30", "Radio")
    target = table("taxi", "3,5", "7up", "radio", "12:30", "1984", "der")
    assert [pair[0] for pair in same_spelling(source, target, "identical")] == [
        *("1984", "radio", "3,5", "taxi", "7up", "12:30")
    ]
    assert [pair[0] for pair in same_spelling(source, target, "numerals")] == ["1984", "3,5", "12:30"]
    assert len(same_spelling(table("a"), table("b"), "identical")) == 0


@pytest.mark.parametrize("word", ["a\tb", "a\nb", " a", "\t", " "])
def test_same_spelling_leaves_out_what_no_dictionary_can_hold(word, tmp_path):
    shared = same_spelling(table(word, "taxi"), table("taxi", word), "identical")
    shared.write(tmp_path / "train.tsv")
    assert shared.pairs == (("taxi", "taxi"),)


def rotated(rng_seed=0, shift=20):
    """A table, and the same one with other axes and ranks that differ a little; where each row went."""
    generator = torch.Generator().manual_seed(rng_seed)
    x = unit(torch.randn(300, 20, generator=generator) * torch.linspace(0.2, 2, 20))
    order = (torch.arange(300) + shift * torch.rand(300, generator=generator)).argsort().argsort()
    z = torch.empty_like(x)
    z[order] = x @ torch.linalg.qr(torch.randn(20, 20, generator=generator)).Q
    return x, z, order, generator


def test_similar_profiles_know_a_rotated_table_again():
    x, z, order, generator = rotated()
    found = similar_profiles(x, z, generator)
    right = order[found.pairs[:, 0]] == found.pairs[:, 1]
    assert float(right.double().mean()) > 0.9
    assert int(found.pairs.max()) < 300
    assert int(similar_profiles(x, z, generator, max_rank=100).pairs.max()) < 100


def test_without_ranks_the_order_of_rows_does_not_matter():
    x, z, order, generator = rotated(shift=1000)
    found = similar_profiles(x, z, generator, ranks=False)
    right = order[found.pairs[:, 0]] == found.pairs[:, 1]
    assert float(right.double().mean()) > 0.9


def test_profiles_as_written_out():
    """Of rows that are all different in length, so that no order is a matter of chance."""
    x, _, _, _ = rotated()
    x = x[:150].double() * torch.linspace(1, 2, 150)[:, None]
    u, s, _ = torch.linalg.svd(x, full_matrices=False)

    def normalized(rows):
        rows = rows / rows.norm(dim=1, keepdim=True)
        rows = rows - rows.mean(0)
        return rows / rows.norm(dim=1, keepdim=True)

    parts = []
    for power in (0.5, 1, 2):
        similarities = u @ torch.diag(s**power) @ u.T
        rows = [sorted(row[:100]) + [math.sqrt(2) * v for v in sorted(row[100:])] for row in similarities.tolist()]
        parts.append(normalized(torch.tensor(rows, dtype=torch.float64)))
    torch.testing.assert_close(_profiles(x, [100]), normalized(torch.cat(parts, 1)), rtol=0, atol=1e-5)


def test_the_code_of_ranks_is_as_far_apart_as_they_are():
    products = _rank_code(2000) @ _rank_code(2000).T
    log_rank = torch.log(torch.arange(2000) + 100.0)
    away = 0.15 * (log_rank[:, None] - log_rank).abs()
    torch.testing.assert_close(products, products[0, 0] - away, rtol=0, atol=0.15 * 0.051)
