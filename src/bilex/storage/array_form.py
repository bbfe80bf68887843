"""What the arrays in a file have to be: names, shapes, kinds of numbers; checked before they are computed with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import torch

if TYPE_CHECKING:
    from torch import Tensor

Kind = Literal["float", "int64", "int32", "uint8", "bool"]
_DTYPES: dict[Kind, tuple[torch.dtype, ...]] = {
    "float": (torch.float32, torch.float64, torch.float16, torch.bfloat16),
    "int64": (torch.int64,),
    "int32": (torch.int32,),
    "uint8": (torch.uint8,),
    "bool": (torch.bool,),
}


class ArrayForm(NamedTuple):
    """An array of finite floats, or of another type. A letter in its shape stands for one size in all arrays."""

    shape: tuple[int | str, ...]
    kind: Kind = "float"
    optional: bool = False

    @classmethod
    def of(cls, array: Tensor) -> ArrayForm:
        """The form that an array has, whatever it is."""
        kinds = (kind for kind, types in _DTYPES.items() if array.dtype in types)
        return cls(tuple(array.shape), next(kinds, "float"))


Forms = dict[str, ArrayForm]
"""Forms by the names of the arrays."""


def check_arrays(arrays: dict[str, Tensor], forms: Forms, sizes: dict[str, int] | None = None) -> None:
    """ValueError unless there are just these arrays in these forms; `sizes`: of letters that are known."""
    if missing := [name for name, form in forms.items() if name not in arrays and not form.optional]:
        raise ValueError(f"the array {missing[0]!r} is missing")
    if unknown := [name for name in arrays if name not in forms]:
        raise ValueError(f"the array {unknown[0]!r} does not belong there")
    known = dict(sizes or {})
    for name, array in arrays.items():
        _check_kind(name, array, forms[name])
        _check_shape(name, tuple(array.shape), forms[name].shape, known)


def check_row_numbers(name: str, rows: Tensor, count: int) -> None:
    """ValueError unless all numbers are rows of a table of so many."""
    if rows.numel() and not 0 <= int(rows.min()) <= int(rows.max()) < count:
        raise ValueError(f"the array {name!r} has rows that a table of {count:,} has not")


def _check_kind(name: str, array: Tensor, form: ArrayForm) -> None:
    if array.dtype not in _DTYPES[form.kind]:
        found = str(array.dtype).removeprefix("torch.")
        raise ValueError(f"the array {name!r} is of type {found}, needed {form.kind}")
    if not all_finite(array):
        raise ValueError(f"the array {name!r} has numbers that are not finite")


def _check_shape(name: str, shape: tuple[int, ...], needed: tuple[int | str, ...], known: dict[str, int]) -> None:
    """`known` learns the sizes of letters that are new."""
    fits = len(shape) == len(needed)
    for size, letter in zip(shape, needed, strict=False):
        fits &= size == (known.setdefault(letter, size) if isinstance(letter, str) else letter)
        fits &= size > 0 or letter == 0
    if not fits:
        told = ", ".join(f"{letter}={known[letter]}" if letter in known else str(letter) for letter in needed)
        raise ValueError(f"the array {name!r} has the shape {shape}, needed ({told})")


def all_finite(array: Tensor) -> bool:
    """Whether no number is NaN or infinite; faster than `isfinite`, and without an array of the same size."""
    if not array.is_floating_point() or not array.numel():
        return True
    return bool(torch.stack(torch.aminmax(array)).isfinite().all())
