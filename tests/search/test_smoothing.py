import pytest
import torch

from bilex.normalize import unit
from bilex.search.smoothing import nearest_average


@pytest.mark.parametrize(("k", "power"), [(1, 1), (3, 4), (100, 2)])
def test_as_row_by_row(k, power):
    generator = torch.Generator().manual_seed(0)
    queries, keys = (unit(torch.randn(n, 4, generator=generator)) for n in (20, 12))
    values = torch.randn(12, 3, generator=generator)
    for query, found in zip(queries, nearest_average(queries, keys, values, k, power=power), strict=True):
        cosines = keys @ query
        nearest = cosines.argsort(descending=True)[:k]
        weights = cosines[nearest].clamp_min(0) ** power
        expected = (weights[:, None] * values[nearest]).sum(0) / weights.sum().clamp_min(1e-12)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
