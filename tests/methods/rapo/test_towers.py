import pytest
import torch

from bilex.mapping import LinearMapping, mapping_from_arrays
from bilex.methods.rapo import context as context_module
from bilex.methods.rapo import mapping as mapping_module
from bilex.methods.rapo.context import ContextMeans, find_neighbourhoods
from bilex.methods.rapo.mapping import TowerMapping
from bilex.methods.rapo.start import from_linear, random_start
from bilex.methods.rapo.towers import Tower
from bilex.normalize import unit


def normal(*shape, rng_seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(rng_seed), dtype=torch.float64)


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
    torch.testing.assert_close(source.adapted(), x)
    matrix = source.matrix()
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(6))
    assert not torch.allclose(matrix, target.matrix())


def test_free_projections_are_mapped_to_length_1():
    x = unit(normal(10, 6))
    tower = Tower(rows=x, context=x, adapter=normal(6, 6), projection=normal(6, 6), kind="linear", activation="tanh")
    mapped = tower.mapped()
    torch.testing.assert_close(mapped.norm(dim=1), torch.ones(10).double())
    torch.testing.assert_close(tower.project(tower.adapted(torch.tensor([3, 1]))), mapped[[3, 1]])


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
