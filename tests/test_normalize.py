import pytest
import torch

from bilex.errors import SettingsError
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


def test_new_rows_may_have_another_type(table):
    normalizer, _ = Normalizer.fit(table, ["unit", "center"])
    assert normalizer(table.double()).dtype == torch.float64


def test_unknown_steps_are_refused(table):
    for refused in (lambda: check_steps(["unit", "whiten"]), lambda: Normalizer.fit(table, ["whiten"])):
        with pytest.raises(SettingsError, match="no step 'whiten'; choose from unit, center, scale"):
            refused()
