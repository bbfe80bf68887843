import numpy as np
import torch

from bilex import EmbeddingTable
from bilex.induction.initial import same_spelling, similar_profiles
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


def test_similar_profiles_know_a_rotated_table_again():
    generator = torch.Generator().manual_seed(0)
    x = unit(torch.randn(300, 20, generator=generator) * torch.linspace(0.2, 2, 20))
    order = torch.randperm(300, generator=generator)
    z = torch.empty_like(x)
    z[order] = x @ torch.linalg.qr(torch.randn(20, 20, generator=generator)).Q
    found = similar_profiles(x, z, generator)
    right = order[found.pairs[:, 0]] == found.pairs[:, 1]
    assert float(right.double().mean()) > 0.9
    assert int(found.pairs.max()) < 300
    assert int(similar_profiles(x, z, generator, max_rank=100).pairs.max()) < 100
