import pytest
import torch

from bilex.errors import SettingsError
from bilex.methods.procrustes import Procrustes
from bilex.normalize import STEPS, Normalizer, check_steps, unit

FORMULAS = {
    "unit": lambda rows, _: rows / rows.norm(dim=1, keepdim=True),
    "center": lambda rows, table: rows - table.mean(0),
    "scale": lambda rows, table: rows / (table**2).sum(0).sqrt(),
}
ORDERS = [(), ("unit",), ("center",), ("scale",), ("unit", "center", "unit"), ("scale", "unit", "center", "unit")]


def by_hand(rows, table, steps):
    for step in steps:
        rows, table = FORMULAS[step](rows, table), FORMULAS[step](table, table)
    return rows


@pytest.fixture(scope="module")
def table():
    return torch.randn(30, 5, generator=torch.Generator().manual_seed(0)) + 1


def test_every_step_is_tried():
    assert set(FORMULAS) == set(STEPS)


@pytest.mark.parametrize("steps", ORDERS, ids=str)
def test_formulas_on_the_table_and_on_new_rows(table, steps):
    before = table.clone()
    normalizer, normalized = Normalizer.fit(table, steps)
    torch.testing.assert_close(normalized, by_hand(table, table, steps))
    new = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(normalizer(new), by_hand(new, table, steps))
    torch.testing.assert_close(normalizer(table), normalized)
    assert torch.equal(table, before)


def test_order_matters(table):
    one, other = (Normalizer.fit(table, steps)[1] for steps in (("unit", "center"), ("center", "unit")))
    assert not torch.allclose(one, other)
    assert torch.allclose(one.mean(0), torch.zeros(5), atol=1e-6)
    assert torch.allclose(other.norm(dim=1), torch.ones(30))


@pytest.mark.parametrize("steps", ORDERS, ids=str)
def test_arrays_round_trip(table, steps):
    normalizer, _ = Normalizer.fit(table, steps)
    again = Normalizer.from_arrays(list(steps), normalizer.arrays("here") | {"other.0": torch.zeros(1)}, "here")
    assert again.steps == normalizer.steps
    assert torch.equal(again(table), normalizer(table))


def test_zero_rows_and_columns_stay_finite():
    rows = torch.tensor([[0.0, 0.0], [0.0, 2.0]])
    assert unit(rows).tolist() == [[0, 0], [0, 1]]
    for step in STEPS:
        assert Normalizer.fit(rows, [step])[1].isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_every_row_has_a_direction_however_long_it_is(dtype):
    rows = torch.randn(200, 7, generator=torch.Generator().manual_seed(2)).to(dtype)
    expected = torch.nn.functional.normalize(rows, dim=1)
    assert torch.equal(unit(rows), expected)
    for power in (-90, -64, 64, 120):
        assert torch.equal(unit(rows * 2.0**power), expected)
    mixed = torch.cat([rows[:1], rows[1:2] * 1e20, rows[2:3] * 1e-30, rows[3:4] * 1e37, 0 * rows[:1], rows[4:]])
    assert torch.equal(unit(mixed)[[0, *range(5, 201)]], expected[[0, *range(4, 200)]])
    torch.testing.assert_close(unit(mixed)[1:4], expected[1:4])
    assert not unit(mixed)[4].any()
    torch.testing.assert_close(unit(rows * 1e-40), expected, rtol=0, atol=1e-5)  # few bits are left of such numbers
    largest = torch.full((1, 4), torch.finfo(dtype).max, dtype=dtype)
    torch.testing.assert_close(unit(largest), torch.full_like(largest, 0.5))


def test_gradients_of_unit_are_those_of_torch():
    rows = torch.randn(20, 7, generator=torch.Generator().manual_seed(2), requires_grad=True)
    weights = torch.randn(20, 7, generator=torch.Generator().manual_seed(3))
    gradients = [
        torch.autograd.grad(normalized(scale * rows), rows, weights)[0]
        for normalized, scale in ((unit, 1.0), (unit, 2.0**70), (torch.nn.functional.normalize, 1.0))
    ]
    torch.testing.assert_close(gradients[0], gradients[2], rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(gradients[1], gradients[2])


def test_gradients_of_unit():
    rows = torch.randn(5, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(unit, rows)
    assert torch.autograd.gradcheck(lambda rows: unit(rows * 2.0**600) * 2.0, rows)  # lengths overflow


@pytest.mark.parametrize("steps", [*ORDERS, ("center", "unit")], ids=str)
@pytest.mark.parametrize("scale", [1e19, 1e37, 1e-30], ids=str)
def test_tables_that_are_too_large_or_too_small_to_compute_with(table, steps, scale):
    """As the table of ordinary size, but for a factor where no step takes the length away."""
    _, expected = Normalizer.fit(table, steps)
    normalizer, found = Normalizer.fit(table * scale, steps)
    assert (normalizer.median is None) == (steps[:1] == ("unit",))
    torch.testing.assert_close(unit(found), unit(expected), rtol=1e-4, atol=1e-5)
    assert (found @ found.T).isfinite().all()
    again = Normalizer.from_arrays(steps, normalizer.arrays("here"), "here")
    torch.testing.assert_close(again((table * scale)[3:5]), found[3:5])


@pytest.mark.parametrize("steps", [*ORDERS, ("center", "unit")], ids=str)
def test_one_gigantic_row_does_not_decide(table, steps):
    table = torch.nn.functional.normalize(table, dim=1)
    _, expected = Normalizer.fit(table, steps)
    damaged = table.clone()
    damaged[7] *= 1e20
    normalizer, found = Normalizer.fit(damaged, steps)
    torch.testing.assert_close(unit(found), unit(expected), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(normalizer(damaged[6:8]), found[6:8])


def test_ordinary_tables_are_taken_as_they_are(table):
    for rows in (table, table * 1e6, table * 1e-6, table * torch.logspace(-2, 3, 30)[:, None]):
        normalizer, found = Normalizer.fit(rows, ())
        assert normalizer.median is None
        assert found is rows


def test_new_rows_may_have_another_type(table):
    normalizer, _ = Normalizer.fit(table, ["unit", "center"])
    assert normalizer(table.double()).dtype == torch.float64


@pytest.mark.parametrize("call", [check_steps, lambda steps: Procrustes(normalize=steps)])
def test_a_string_is_no_list_of_steps(call):
    with pytest.raises(SettingsError, match="normalize='unit': found a string; needed a tuple of steps"):
        call("unit")


def test_unknown_steps_are_refused(table):
    for refused in (lambda: check_steps(["unit", "whiten"]), lambda: Normalizer.fit(table, ["whiten"])):
        with pytest.raises(SettingsError, match="no step 'whiten'; choose from unit, center, scale"):
            refused()
