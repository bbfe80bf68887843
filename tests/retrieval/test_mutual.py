import torch

from bilex.normalize import unit
from bilex.retrieval import CSLS
from bilex.retrieval.mutual import is_mutual


def test_is_that_of_the_definition_both_ways():
    generator = torch.Generator().manual_seed(0)
    x, z = (unit(torch.randn(n, 6, generator=generator)) for n in (40, 30))
    index = CSLS(k=4).index(x, z)
    cosines = x @ z.T
    scores = 2 * cosines - cosines.topk(4, 1).values.mean(1)[:, None] - cosines.topk(4, 0).values.mean(0)
    rows, places = torch.tensor([3, 0, 25]), torch.tensor([[1, 2], [3, 3], [29, 0]])
    forward = scores.argmax(0)[places] == rows[:, None]
    assert is_mutual(index, rows, places).tolist() == forward.tolist()
    assert is_mutual(index, places[:, 0], rows[:, None], "backward").tolist() == [
        [bool(scores[row].argmax() == place)] for row, place in zip(rows, places[:, 0], strict=True)
    ]
    best = scores[:10].argmax(1, keepdim=True)
    found = is_mutual(index, torch.arange(10), best, first=10)
    assert found[:, 0].tolist() == (scores[:10].argmax(0)[best[:, 0]] == torch.arange(10)).tolist()
    assert found.any()
