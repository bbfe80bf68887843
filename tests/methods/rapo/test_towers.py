import pytest
import torch

from bilex.mapping import LinearMapping, mapping_from_arrays
from bilex.methods.rapo import context as context_module
from bilex.methods.rapo import mapping as mapping_module
from bilex.methods.rapo import towers
from bilex.methods.rapo.adapter import adapt
from bilex.methods.rapo.context import ContextMeans, find_neighbourhoods
from bilex.methods.rapo.mapping import TowerMapping
from bilex.methods.rapo.start import from_linear, random_start
from bilex.methods.rapo.towers import Tower
from bilex.normalize import unit
from random_tensors import normal


def side(parameters, name, rows, kind, activation):
    return Tower(
        rows=rows,
        context=rows,
        adapter=parameters[f"{name}_adapter"],
        projection=parameters[f"{name}_projection"],
        kind=kind,
        activation=activation,
    )


def cosines(x, z):
    return unit(x) @ unit(z).T


@pytest.mark.parametrize("kind", ["householder", "linear"])
@pytest.mark.parametrize(
    ("activation", "tolerance"),
    [("linear", 1e-9), ("tanh", 0.05), ("sigmoid", 0.05)],
    ids=["linear", "tanh", "sigmoid"],
)
@pytest.mark.parametrize("both", [True, False])
def test_starts_as_the_linear_mapping(kind, activation, tolerance, both):
    x, z = unit(normal(20, 5)), unit(normal(20, 5, rng_seed=1))
    near = torch.eye(5).double() + 0.1 * normal(5, 5, rng_seed=4)
    a = near @ torch.linalg.qr(normal(5, 5, rng_seed=2)).Q
    mapping = LinearMapping(source_matrix=3 * a, target_matrix=a @ near if both else None)
    parameters = from_linear(mapping, activation, kind)
    source, target = (side(parameters, n, r, kind, activation) for n, r in (("source", x), ("target", z)))
    found = cosines(source.mapped(), target.mapped())
    torch.testing.assert_close(found, cosines(mapping.source(x), mapping.target(z)), rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", ["householder", "linear"])
def test_starts_as_a_mapping_to_fewer_dimensions(kind):
    """What Procrustes makes of fewer pairs than dimensions."""
    x, z = unit(normal(20, 5)), unit(normal(20, 5, rng_seed=1))
    mapping = LinearMapping(source_matrix=normal(5, 3, rng_seed=2), target_matrix=normal(5, 3, rng_seed=3))
    parameters = from_linear(mapping, "linear", kind)
    source, target = (side(parameters, n, r, kind, "linear") for n, r in (("source", x), ("target", z)))
    found = cosines(source.mapped(), target.mapped())
    torch.testing.assert_close(found, cosines(mapping.source(x), mapping.target(z)))


@pytest.mark.parametrize("kind", ["householder", "linear"])
def test_random_start_is_a_rotation_and_no_adapter(kind):
    parameters = random_start(6, 4, kind, torch.Generator().manual_seed(0))
    x = unit(normal(10, 6).float())
    source, target = (side(parameters, name, x, kind, "tanh") for name in ("source", "target"))
    matrix = source.matrix()
    torch.testing.assert_close(source.mapped(), x @ matrix)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(6))
    assert not torch.allclose(matrix, target.matrix())


@pytest.mark.parametrize("kind", ["householder", "linear"])
def test_maps_block_by_block(monkeypatch, kind):
    x = unit(normal(10, 6))
    parameters = [normal(6, 6), normal(6, 6, rng_seed=1)]
    tower = Tower(rows=x, context=x, adapter=parameters[0], projection=parameters[1], kind=kind, activation="tanh")
    monkeypatch.setattr(towers, "BLOCK_ROWS", 4)
    torch.testing.assert_close(tower.mapped(), unit(adapt(x, x, parameters[0], "tanh") @ tower.matrix()))


def test_free_projections_are_mapped_to_length_1():
    x = unit(normal(10, 6))
    tower = Tower(rows=x, context=x, adapter=normal(6, 6), projection=normal(6, 6), kind="linear", activation="tanh")
    mapped = tower.mapped()
    torch.testing.assert_close(mapped.norm(dim=1), torch.ones(10).double())
    torch.testing.assert_close(tower.map_few(torch.tensor([3, 1])), mapped[[3, 1]])


@pytest.mark.parametrize("activation", ["linear", "tanh", "sigmoid", "none"])
@pytest.mark.parametrize("kind", ["householder", "linear"])
def test_cosines_with_some_words(kind, activation):
    """As between rows that are all mapped, with the same gradients; in bfloat16 nearly so."""
    x, y, some = unit(normal(10, 6)), unit(normal(3, 6, rng_seed=1)), torch.tensor([7, 2, 2, 9])
    arrays = [y, normal(6, 6, rng_seed=2), normal(6, 6, rng_seed=3)]

    def results(cosines, dtype=torch.float64):
        y, adapter, projection = leaves = [array.clone().to(dtype).requires_grad_() for array in arrays]
        rows = x.to(dtype)
        tower = Tower(rows=rows, context=rows, adapter=adapter, projection=projection, kind=kind, activation=activation)
        found = cosines(tower, y)
        used = [array for array in leaves if array is not adapter or activation != "none"]
        gradients = torch.autograd.grad((found * normal(3, 4, rng_seed=4).to(dtype)).sum(), used)
        return [found.detach(), *gradients]

    def one_by_one(tower, y):
        adapted = adapt(tower.rows, tower.context, tower.adapter, activation)
        return y @ unit(adapted @ tower.matrix())[some].T

    expected = results(one_by_one)
    for found, right in zip(results(lambda tower, y: tower.cosines(y, some, tower.context)), expected, strict=True):
        torch.testing.assert_close(found, right)
    low = results(lambda tower, y: tower.cosines(y, some, tower.context.bfloat16()), torch.float32)
    for found, right in zip(low, expected, strict=True):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found.double(), right, rtol=0, atol=0.05 * float(right.abs().max()))


@pytest.mark.parametrize("activation", ["linear", "tanh", "sigmoid", "none"])
@pytest.mark.parametrize("cap", [None, 3])
def test_the_mapping_is_its_arrays(activation, cap):
    mapping = TowerMapping(
        source_adapter=normal(4, 4),
        target_adapter=normal(4, 4, rng_seed=1),
        source_projection=normal(4, 4, rng_seed=2),
        target_projection=normal(4, 4, rng_seed=3),
        activation=activation,
        tau_source=0.9,
        tau_target=0.7,
        context_cap=cap,
    )
    again = mapping_from_arrays(mapping.kind, mapping.arrays())
    assert again.source_context is again.target_context is None
    assert (again.activation, again.tau_source, again.tau_target, again.context_cap) == (activation, 0.9, 0.7, cap)
    x = unit(normal(30, 4, rng_seed=5))
    assert torch.equal(again.source(x), mapping.source(x))
    assert torch.equal(again.target(x), mapping.target(x))
    assert not torch.equal(mapping.source(x), mapping.target(x))


@pytest.mark.parametrize("most", [10**6, 50])
def test_known_neighbours_are_not_searched_again(monkeypatch, most):
    """Lists of them, or of more than can be stored the means."""
    monkeypatch.setattr(context_module, "MAX_PAIRS", most)
    x, z = unit(normal(30, 4)), unit(normal(40, 4, rng_seed=1))
    made = {
        "source_adapter": normal(4, 4),
        "target_adapter": normal(4, 4, rng_seed=1),
        "source_projection": normal(4, 4, rng_seed=2),
        "target_projection": normal(4, 4, rng_seed=3),
        "activation": "linear",
        "tau_source": 0.8,
        "tau_target": 0.7,
        "context_cap": None,
    }
    plain = TowerMapping(**made)
    known = TowerMapping(**made, source_context=find_neighbourhoods(x, 0.8), target_context=find_neighbourhoods(z, 0.7))
    known = mapping_from_arrays(known.kind, known.arrays())
    other = unit(normal(30, 4, rng_seed=9))
    assert torch.equal(known.source(other), plain.source(other)), "as many rows, but not these"
    assert torch.equal(known.source(other, among=x), plain.source(other, among=x))
    expected = plain.source(x), plain.target(z)
    assert isinstance(known.source_context, ContextMeans) == (most == 50)
    monkeypatch.setattr(mapping_module, "context_vectors", None)
    assert torch.equal(known.source(x), expected[0])
    assert torch.equal(known.target(z), expected[1])
