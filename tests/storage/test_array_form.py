import pytest
import torch

from bilex.storage.array_form import ArrayForm, all_finite, check_arrays, check_row_numbers

FORMS = {
    "a": ArrayForm(("d", "e")),
    "b": ArrayForm(("e",)),
    "n": ArrayForm((), "int64"),
    "empty": ArrayForm((0,)),
    "more": ArrayForm((2,), optional=True),
}
GOOD = {"a": torch.ones(3, 2), "b": torch.ones(2).double(), "n": torch.tensor(1), "empty": torch.ones(0)}


def test_good_arrays():
    check_arrays(GOOD, FORMS)
    check_arrays(GOOD | {"more": torch.ones(2)}, FORMS, {"d": 3})


@pytest.mark.parametrize(
    ("name", "array", "said"),
    [
        ("a", None, "the array 'a' is missing"),
        ("other", torch.ones(1), "the array 'other' does not belong there"),
        ("a", torch.ones(3, 2, dtype=torch.int64), "is of type int64, needed float"),
        ("a", torch.ones(3, 2, dtype=torch.complex64), "is of type complex64, needed float"),
        ("n", torch.tensor(1.0), "is of type float32, needed int64"),
        ("n", torch.tensor(True), "is of type bool, needed int64"),
        ("a", torch.ones(3), r"'a' has the shape \(3,\), needed \(d=3, e\)"),
        ("a", torch.ones(3, 2, 1), r"needed \(d=3, e=2\)"),
        ("a", torch.ones(3, 4), r"'b' has the shape \(2,\), needed \(e=4\)"),
        ("a", torch.ones(0, 2), r"needed \(d=0, e=2\)"),
        ("b", torch.ones(1), r"needed \(e=2\)"),
        ("empty", torch.ones(1), r"needed \(0\)"),
        ("a", torch.tensor([[1.0, torch.nan]] * 3), "'a' has numbers that are not finite"),
        ("b", torch.tensor([1.0, torch.inf]), "'b' has numbers that are not finite"),
    ],
)
def test_all_others(name, array, said):
    given = {**GOOD, name: array}
    with pytest.raises(ValueError, match=said):
        check_arrays({name: array for name, array in given.items() if array is not None}, FORMS)


def test_known_sizes():
    with pytest.raises(ValueError, match=r"has the shape \(3, 2\), needed \(d=4, e=2\)"):
        check_arrays(GOOD, FORMS, {"d": 4})


@pytest.mark.parametrize("wrong", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_all_finite(wrong, dtype):
    array = torch.ones(4, 5, dtype=dtype)
    assert all_finite(array)
    array[2, 3] = wrong
    assert not all_finite(array)


def test_nothing_and_whole_numbers_are_finite():
    assert all_finite(torch.ones(0))
    assert all_finite(torch.ones(2, dtype=torch.int64))


@pytest.mark.parametrize("rows", [[-1, 0], [0, 4]])
def test_rows(rows):
    check_row_numbers("r", torch.tensor([0, 3]), 4)
    check_row_numbers("r", torch.tensor([], dtype=torch.int64), 4)
    with pytest.raises(ValueError, match="the array 'r' has row numbers that a table of 4 rows does not have"):
        check_row_numbers("r", torch.tensor(rows), 4)


def test_the_form_of_an_array():
    assert ArrayForm.of(torch.ones(2, 3)) == ArrayForm((2, 3))
    assert ArrayForm.of(torch.ones(2, dtype=torch.uint8)) == ArrayForm((2,), "uint8")
