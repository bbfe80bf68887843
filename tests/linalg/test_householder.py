import pytest
import torch

from bilex.linalg.householder import compose, decompose, polar, reflect
from random_tensors import normal


def orthogonal(d, determinant, rng_seed=0):
    q = torch.linalg.qr(normal(d, d, rng_seed=rng_seed)).Q
    if torch.linalg.det(q).sign() != determinant:
        q[:, 0] *= -1
    return q


def one_by_one(v):
    product = torch.eye(v.shape[1], dtype=v.dtype)
    for row in v:
        product = product @ (torch.eye(len(row), dtype=v.dtype) - 2 * torch.outer(row, row) / (row @ row))
    return product


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 5), (3, 7), (7, 7), (12, 7)])
def test_compact_form_is_the_product_of_the_reflections(n, d):
    v = 3 * normal(n, d)
    torch.testing.assert_close(compose(v), one_by_one(v), rtol=0, atol=1e-12)


def clustered(n, d, width):
    """Reflections that are all near one direction, with either sign."""
    signs = 1 - 2 * (torch.arange(n) % 2)[:, None]
    return signs * normal(1, d, rng_seed=1) + width * normal(n, d)


REFLECTIONS = {
    "normal": normal(300, 300),
    "few": normal(40, 300),
    "more than dimensions": normal(350, 300),
    "one cluster": clustered(300, 300, 0.1),
    "a narrow cluster": clustered(300, 300, 0.01),
    "a long cluster": clustered(600, 300, 0.1),
}


@pytest.mark.parametrize("v", REFLECTIONS.values(), ids=REFLECTIONS)
def test_orthogonal_in_float32_up_to_one_rounding(v):
    """Two units in the last place, in an exact product; and the matrix is the product of the reflections, rounded."""
    q = compose(v.float())
    assert q.dtype == torch.float32
    assert (q.double() @ q.double().T - torch.eye(300)).abs().max() <= 2**-23
    assert (q - one_by_one(v.float().double())).abs().max() <= 2**-25 + 1e-12


@pytest.mark.parametrize("v", REFLECTIONS.values(), ids=REFLECTIONS)
def test_reflected_rows_keep_their_length_in_float32(v):
    rows = torch.nn.functional.normalize(normal(50, 300, rng_seed=2)).float()
    assert (reflect(rows, v.float()).double().norm(dim=1) - 1).abs().max() < 1e-5
    assert (reflect(reflect(rows, v.float()), v.float(), inverse=True) - rows).abs().max() < 1e-5


@pytest.mark.parametrize("n", range(1, 8))
def test_the_parity_of_the_number_is_the_determinant(n):
    """So 5 reflections never make a matrix of determinant 1, such as the identity: 4 or 6 do."""
    for rng_seed in range(3):
        assert float(torch.linalg.det(compose(normal(n, 5, rng_seed=rng_seed)))) == pytest.approx((-1) ** n)


@pytest.mark.parametrize("determinant", [1, -1])
@pytest.mark.parametrize("d", [4, 5])
def test_d_reflections_reach_one_half_of_the_orthogonal_matrices(d, determinant):
    found = decompose(orthogonal(d, determinant), d)
    assert len(found) == (d if (-1) ** d == determinant else d + 1)
    assert len(decompose(orthogonal(d, determinant))) <= d


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 5), (3, 7), (7, 7), (12, 7)])
def test_rows_are_reflected_one_by_one_and_back(n, d):
    v, rows = 3 * normal(n, d), normal(4, d, rng_seed=1)
    torch.testing.assert_close(reflect(rows, v), rows @ one_by_one(v), rtol=0, atol=1e-12)
    torch.testing.assert_close(reflect(rows, v, inverse=True), rows @ one_by_one(v).T, rtol=0, atol=1e-12)


@pytest.mark.parametrize("inverse", [False, True])
def test_gradient_of_reflected_rows(inverse):
    rows, v = normal(3, 5, rng_seed=1).requires_grad_(), normal(4, 5).requires_grad_()
    assert torch.autograd.gradcheck(lambda rows, v: reflect(rows, v, inverse=inverse), (rows, v))


def test_gradient():
    assert torch.autograd.gradcheck(compose, normal(4, 5).requires_grad_())


SPECIAL = {
    "identity": torch.eye(6).double(),
    "minus identity": -torch.eye(6).double(),
    "permutation": torch.eye(6).double()[[2, 0, 1, 5, 3, 4]],
    "swap": torch.eye(6).double()[[1, 0, 2, 3, 4, 5]],
    "reflection": one_by_one(normal(1, 6)),
    "last axis": torch.diag(torch.tensor([1.0, 1, 1, 1, 1, -1])).double(),
    "almost identity": torch.matrix_exp(1e-6 * (normal(6, 6) - normal(6, 6).T)),
}


@pytest.mark.parametrize("q", SPECIAL.values(), ids=SPECIAL)
@pytest.mark.parametrize("n", [None, 6, 9])
def test_decomposes_special_matrices(q, n):
    v = decompose(q, n)
    torch.testing.assert_close(compose(v), q, rtol=0, atol=1e-7)
    if n is not None:
        assert len(v) in (n, n + 1)


@pytest.mark.parametrize("determinant", [1, -1])
@pytest.mark.parametrize("d", [1, 2, 11, 12])
@pytest.mark.parametrize("n", [None, 12, 15])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_decomposes_any_orthogonal_matrix(d, determinant, n, dtype):
    q = orthogonal(d, determinant).to(dtype)
    v = decompose(q, n)
    assert v.dtype == dtype
    assert (-1) ** len(v) == determinant
    torch.testing.assert_close(compose(v), q, rtol=0, atol=1e-6 if dtype == torch.float32 else 1e-8)


@pytest.mark.parametrize("determinant", [1, -1])
def test_rounding_in_float32_is_not_taken_for_a_reflection(determinant):
    """d - 1 reflections are enough for one of the determinants; what is left then is noise."""
    for d in (299, 300):
        q = orthogonal(d, determinant).float()
        torch.testing.assert_close(compose(decompose(q, d)), q, rtol=0, atol=1e-5)


@pytest.mark.parametrize("rng_seed", range(3))
def test_polar(rng_seed):
    m = normal(6, 6, rng_seed=rng_seed)
    p, q = polar(m)
    identity = torch.eye(6, dtype=m.dtype)
    torch.testing.assert_close(q @ q.T, identity, rtol=0, atol=1e-12)
    torch.testing.assert_close(p, p.T, rtol=0, atol=1e-12)
    assert torch.linalg.eigvalsh(p).min() > 0
    assert torch.linalg.eigvalsh(p).mean() == pytest.approx(1)
    product = p @ q
    torch.testing.assert_close(product / product.norm(), m / m.norm(), rtol=0, atol=1e-12)
