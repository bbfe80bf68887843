import pytest
import torch

from bilex.errors import AlignmentError
from bilex.mapping import LinearMapping, Mapping, mapping_from_arrays, nested_arrays, nested_mapping


def normal(*shape, rng_seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(rng_seed))


A, B, ROWS = normal(4, 3), normal(4, 3, rng_seed=1), normal(6, 4, rng_seed=2)


def test_linear():
    both = LinearMapping(source_matrix=A, target_matrix=B)
    assert torch.equal(both.source(ROWS), ROWS @ A)
    assert torch.equal(both.target(ROWS), ROWS @ B)
    assert torch.equal(both.source(ROWS[:2], among=ROWS), ROWS[:2] @ A)
    assert LinearMapping(source_matrix=A).target(ROWS) is ROWS
    assert both.source(ROWS.double()).dtype == torch.float64


@pytest.mark.parametrize("mapping", [LinearMapping(source_matrix=A), LinearMapping(source_matrix=A, target_matrix=B)])
def test_arrays_round_trip(mapping):
    arrays = mapping.arrays()
    assert all(isinstance(array, torch.Tensor) for array in arrays.values())
    again = mapping_from_arrays(mapping.kind, arrays)
    assert type(again) is type(mapping)
    assert torch.equal(again.source(ROWS), mapping.source(ROWS))
    assert torch.equal(again.target(ROWS), mapping.target(ROWS))


def test_a_mapping_inside_of_something():
    mapping = LinearMapping(source_matrix=A, target_matrix=B)
    arrays = nested_arrays(mapping, "inner.")
    assert set(arrays) == {"inner.linear.source_matrix", "inner.linear.target_matrix"}
    again = nested_mapping({"other": A, **arrays}, "inner.")
    assert torch.equal(again.source(ROWS), mapping.source(ROWS))
    assert nested_mapping({"other": A}, "inner.") is None


def test_immutable():
    with pytest.raises(AttributeError):
        LinearMapping(source_matrix=A).source_matrix = B


def test_an_unknown_kind_is_refused():
    with pytest.raises(AlignmentError, match=r"unknown kind of mapping 'cubic'; known: .*linear.*update bilex"):
        mapping_from_arrays("cubic", {})


def test_a_new_kind_is_found_by_its_name(monkeypatch):
    monkeypatch.setattr(Mapping, "kinds", dict(Mapping.kinds))

    class Twice(LinearMapping, kind="twice"):
        def source(self, rows, *, among=None):
            return 2 * super().source(rows)

    made = mapping_from_arrays("twice", {"source_matrix": A})
    assert type(made) is Twice
    assert torch.equal(made.source(ROWS), 2 * (ROWS @ A))
