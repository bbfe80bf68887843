import pytest
import torch

from bilex.search.products import products


def table(rows, columns, rng_seed, dtype=torch.float32):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(rng_seed), dtype=dtype)


def places(rows, width, among):
    return torch.randint(0, among, (rows, width), generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
def test_products_are_those_of_the_matrix(dtype, index):
    rows, others, where = table(30, 50, 0, dtype), table(40, 50, 1, dtype), places(30, 7, 40)
    torch.testing.assert_close(products(rows, others, where.to(index)), (rows @ others.T).gather(1, where))


@pytest.mark.parametrize("columns", [1, 7, 64, 300])
def test_each_is_the_same_to_the_bit_in_any_company(columns):
    rows, others, where = table(500, columns, 0), table(400, columns, 1), places(500, 16, 400)
    found = products(rows, others, where)
    for some in ([3], [499, 2], range(17), range(0, 500, 7)):
        some = torch.tensor(list(some))
        assert torch.equal(products(rows[some], others, where[some]), found[some])
        assert torch.equal(products(rows[some], others, where[some][:, 5:6]), found[some][:, 5:6])


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_nothing_asked_for(shape):
    assert products(table(shape[0], 4, 0), table(5, 4, 1), torch.zeros(shape, dtype=torch.long)).shape == shape
