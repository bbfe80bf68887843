import pytest
import torch

from bilex import SettingsError, get_method
from bilex.evaluation.criterion import reciprocal_ranks
from bilex.linalg.procrustes import procrustes
from bilex.methods.geomm import GeoMM
from bilex.normalize import unit
from bilex.training.trace import Trace
from random_tensors import normal


@pytest.fixture
def small():
    """Some words have several translations, and some pairs come twice."""
    x = unit(normal(20, 4))
    z = unit(x @ torch.linalg.qr(normal(4, 4, rng_seed=1)).Q + 0.3 * normal(20, 4, rng_seed=2))
    pairs = torch.arange(20).repeat(2, 1).T
    return x, z, torch.cat([pairs, pairs[:5], torch.tensor([[0, 1], [2, 5], [6, 0]])])


def fit(method, x, z, pairs, dev=None, trace=None):
    return method.fit(x, z, pairs, dev=dev, trace=trace or Trace())


def cost(u, b, v, x, z, pairs, penalty):
    """The criterion as it is written, with A and λ."""
    i, j = pairs[:, 0].unique(), pairs[:, 1].unique()
    a = torch.zeros(len(i), len(j), dtype=x.dtype)
    a[torch.searchsorted(i, pairs[:, 0].contiguous()), torch.searchsorted(j, pairs[:, 1].contiguous())] = 1
    moments = x[i].T @ x[i], z[j].T @ z[j]
    weight = penalty * torch.stack([torch.linalg.eigvalsh(m).mean() for m in moments]).prod() / a.sum()
    return (x[i] @ u @ b @ v.T @ z[j].T - a).square().sum() + weight / 2 * b.square().sum()


def factors(mapping):
    """U, B, V of U B^½ and V B^½."""
    root = mapping.source_matrix.norm(dim=0)
    return mapping.source_matrix / root, torch.diag(root**2), mapping.target_matrix / root


@pytest.mark.parametrize("penalty", [0.5, 10.0])
def test_as_gradient_descent_over_rotations_and_metric(small, penalty):
    """U and V exponentials of skew matrices times a start, B = L Lᵀ: as constrained as in the paper."""
    x, z, pairs = small
    start = procrustes(x[pairs[:, 0]], z[pairs[:, 1]])
    left, right, root = (torch.zeros(4, 4, dtype=x.dtype, requires_grad=True) for _ in range(3))

    def rotations_and_metric():
        u = torch.matrix_exp(left - left.T)
        v = start.T @ torch.matrix_exp(right - right.T)
        grown = root + torch.eye(4, dtype=x.dtype)
        return u, grown @ grown.T, v

    optimizer = torch.optim.LBFGS(
        [left, right, root], max_iter=2000, tolerance_grad=1e-12, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    def closure():
        optimizer.zero_grad()
        loss = cost(*rotations_and_metric(), x, z, pairs, penalty)
        loss.backward()
        return loss

    optimizer.step(closure)
    u, b, v = (part.detach() for part in rotations_and_metric())
    mapping = fit(GeoMM(penalty=(penalty,)), x, z, pairs)
    own = factors(mapping)
    torch.testing.assert_close(own[0].T @ own[0], torch.eye(4, dtype=x.dtype))
    torch.testing.assert_close(own[2].T @ own[2], torch.eye(4, dtype=x.dtype))
    found = cost(*own, x, z, pairs, penalty)
    torch.testing.assert_close(found, cost(u, b, v, x, z, pairs, penalty), rtol=1e-8, atol=0)
    torch.testing.assert_close(own[0] @ own[1] @ own[2].T, u @ b @ v.T, rtol=0, atol=1e-5)
    # Words are compared by cosines in the space of x U B^½, z V B^½; these are the same too.
    half = torch.linalg.eigh(b)
    half = half.eigenvectors * half.eigenvalues.sqrt() @ half.eigenvectors.T
    expected = unit(x @ u @ half) @ unit(z @ v @ half).T
    torch.testing.assert_close(unit(mapping.source(x)) @ unit(mapping.target(z)).T, expected, rtol=0, atol=1e-4)


def test_scaled_vectors_or_repeated_pairs_change_nothing(small):
    x, z, pairs = small
    one, other = fit(GeoMM(), x, z, pairs), fit(GeoMM(), 10 * x, z / 2, pairs.repeat(2, 1))
    same_direction = [unit(m.source_matrix.flatten()[None]) for m in (one, other)]
    torch.testing.assert_close(*same_direction)


def mrr(mapping, x, z, dev):
    return float(reciprocal_ranks(unit(mapping.source(x)), unit(mapping.target(z)), dev).mean())


@pytest.mark.parametrize("penalty", [(1e-2, 1e4), (1e4, 1e-2), (1e-2, 10.0, 1e4)])
def test_dev_chooses_the_penalty(given, same, penalty):
    x, z, train, dev = given
    trace = Trace()
    chosen = fit(GeoMM(penalty=penalty), x, z, train, dev, trace)
    scores = [mrr(fit(GeoMM(penalty=(value,)), x, z, train), x, z, dev) for value in penalty]
    best = penalty[scores.index(max(scores))]
    *told, held_out = trace.records
    assert told == [
        *({"penalty": value, "dev_mrr": score} for value, score in zip(penalty, scores, strict=True)),
        {"kept_penalty": best},
    ]
    assert (held_out["method"], held_out["words"]) == ("geomm", len(set(dev[:, 0].tolist())))
    assert held_out["mrr"] == pytest.approx(max(scores))
    assert same(chosen, fit(GeoMM(penalty=(best,)), x, z, torch.cat([train, dev])))
    assert same(fit(GeoMM(penalty=penalty, refit=False), x, z, train, dev), fit(GeoMM(penalty=(best,)), x, z, train))


def test_one_penalty_is_taken_as_it_is(given, same):
    x, z, train, dev = given
    trace = Trace()
    found = fit(GeoMM(penalty=(7.0,)), x, z, train, dev, trace)
    assert not trace.records
    assert same(found, fit(GeoMM(penalty=(7.0,)), x, z, torch.cat([train, dev])))


def test_without_dev_it_is_the_first(given, same):
    x, z, train, _ = given
    assert same(fit(GeoMM(penalty=(3.0, 9.0)), x, z, train), fit(GeoMM(penalty=(3.0,)), x, z, train))


@pytest.mark.parametrize("penalty", ["", "0", "100,-1", "nan"])
def test_bad_penalties_are_refused(penalty):
    with pytest.raises(SettingsError, match=r"geomm: penalty=.*needed (one or more numbers above 0|a finite number)"):
        get_method("geomm", {"penalty": penalty})
