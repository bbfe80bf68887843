import pytest
import torch

from bilex.normalize import unit
from bilex.training.adapter import SLOPES, adapt, context_vectors


def normal(*shape, rng_seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(rng_seed), dtype=torch.float64)


def slow_context(rows, tau, table, cap, inside):
    """One word at a time; `inside` says which row of the table a word is, -1 if none."""
    found = []
    for i, row in enumerate(rows):
        others = [j for j in (table @ row).argsort(descending=True).tolist() if j != inside[i]]
        near = [table[j] for j in others[: None if cap is None else cap - 1] if table[j] @ row > tau]
        found.append(torch.stack([row, *near]).mean(0))
    return torch.stack(found)


TAUS = [-1.0, 0.0, 0.5, 0.9, 1.0]
CAPS = [None, 1, 2, 5, 1000]


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("cap", CAPS)
class TestContext:
    def test_of_a_table(self, tau, cap):
        x = unit(normal(40, 4))
        expected = slow_context(x, tau, x, cap, range(40))
        torch.testing.assert_close(context_vectors(x, tau, cap=cap), expected)
        torch.testing.assert_close(context_vectors(x, tau, cap=cap, budget=2000), expected)

    def test_of_some_of_its_rows(self, tau, cap):
        x, some = unit(normal(40, 4)), [7, 3, 7]
        whole = context_vectors(x, tau, cap=cap)
        torch.testing.assert_close(context_vectors(x[some], tau, among=x, cap=cap), whole[some])

    def test_of_other_rows(self, tau, cap):
        x, new = unit(normal(40, 4)), unit(normal(6, 4, rng_seed=1))
        expected = slow_context(new, tau, x, cap, [-1] * 6)
        torch.testing.assert_close(context_vectors(new, tau, among=x, cap=cap), expected)


@pytest.mark.parametrize("cap", [None, 3])
def test_float32_words_are_counted_once(cap):
    x = unit(normal(200, 3).float())
    torch.testing.assert_close(context_vectors(x[:50], 0.95, among=x, cap=cap), context_vectors(x, 0.95, cap=cap)[:50])


@pytest.mark.parametrize("cap", [None, 3])
def test_empty_tables(cap):
    assert context_vectors(torch.empty(0, 3), 0.5, cap=cap).shape == (0, 3)
    rows = unit(normal(2, 3))
    assert torch.equal(context_vectors(rows, 0.5, among=torch.empty(0, 3).double(), cap=cap), rows)


FORMULAS = {
    "linear": lambda a: a,
    "tanh": torch.tanh,
    "sigmoid": lambda a: 2 / (1 + torch.exp(-a)) - 1,
}


@pytest.mark.parametrize("activation", FORMULAS)
def test_activations(activation):
    x, context, w = unit(normal(5, 4)), normal(5, 4, rng_seed=1), normal(4, 4, rng_seed=2)
    expected = x + FORMULAS[activation](context @ w)
    expected = expected / expected.norm(dim=1, keepdim=True)
    torch.testing.assert_close(adapt(x, context, w, activation), expected)
    slope = FORMULAS[activation](torch.tensor(1e-6).double()) / 1e-6
    assert float(slope) == pytest.approx(SLOPES[activation], rel=1e-4)


def test_no_activation_leaves_the_rows():
    x = normal(5, 4)
    assert adapt(x, x, normal(4, 4), "none") is x


@pytest.mark.parametrize("activation", FORMULAS)
def test_gradient(activation):
    x, w = unit(normal(5, 4)), normal(4, 4, rng_seed=2).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: adapt(x, x, w, activation), w)
