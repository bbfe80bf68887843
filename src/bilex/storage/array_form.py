"""The expected form of the arrays in a file: names, shapes and dtypes. They are checked before they are used."""

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
    """The expected shape and kind of one array. A letter in a shape stands for the same size in all arrays.

    Floats must be finite.
    """

    shape: tuple[int | str, ...]
    kind: Kind = "float"
    optional: bool = False

    @classmethod
    def of(cls, array: Tensor) -> ArrayForm:
        """The form of a given array."""
        kinds = (kind for kind, types in _DTYPES.items() if array.dtype in types)
        return cls(tuple(array.shape), next(kinds, "float"))


Forms = dict[str, ArrayForm]
"""Forms by array name."""


def check_arrays(arrays: dict[str, Tensor], forms: Forms, sizes: dict[str, int] | None = None) -> None:
    """ValueError unless exactly these arrays are there, each in its form. sizes: known sizes, by letter."""
    if missing := [name for name, form in forms.items() if name not in arrays and not form.optional]:
        raise ValueError(f"the array {missing[0]!r} is missing")
    if unknown := [name for name in arrays if name not in forms]:
        raise ValueError(f"the array {unknown[0]!r} does not belong there")
    known = dict(sizes or {})
    for name, array in arrays.items():
        _check_kind(name, array, forms[name])
        _check_shape(name, tuple(array.shape), forms[name].shape, known)


def check_row_numbers(name: str, rows: Tensor, count: int) -> None:
    """ValueError unless all values are row numbers of a table with `count` rows."""
    if rows.numel() and not 0 <= int(rows.min()) <= int(rows.max()) < count:
        raise ValueError(f"the array {name!r} has row numbers that a table of {count:,} rows does not have")


def _check_kind(name: str, array: Tensor, form: ArrayForm) -> None:
    if array.dtype not in _DTYPES[form.kind]:
        found = str(array.dtype).removeprefix("torch.")
        raise ValueError(f"the array {name!r} is of type {found}, needed {form.kind}")
    if not all_finite(array):
        raise ValueError(f"the array {name!r} has numbers that are not finite")


def _check_shape(name: str, shape: tuple[int, ...], needed: tuple[int | str, ...], known: dict[str, int]) -> None:
    """Compare a shape with the needed one. Sizes of new letters are added to `known`."""
    fits = len(shape) == len(needed)
    for size, letter in zip(shape, needed, strict=False):
        fits &= size == (known.setdefault(letter, size) if isinstance(letter, str) else letter)
        fits &= size > 0 or letter == 0
    if not fits:
        expected = ", ".join(f"{letter}={known[letter]}" if letter in known else str(letter) for letter in needed)
        raise ValueError(f"the array {name!r} has the shape {shape}, needed ({expected})")


def all_finite(array: Tensor) -> bool:
    """Whether no number is NaN or infinite. Faster than `isfinite`, and needs no second array of the same size."""
    if not array.is_floating_point() or not array.numel():
        return True
    return bool(torch.stack(torch.aminmax(array)).isfinite().all())
