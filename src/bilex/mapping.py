"""The result of a method: maps of source and target rows into a shared space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from bilex.errors import AlignmentError
from bilex.storage.array_form import ArrayForm, check_arrays

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.storage.array_form import Forms


@dataclass(frozen=True, eq=False, kw_only=True)
class Mapping(ABC):
    """Maps source rows and target rows, normalized as in `fit`, into one space. Immutable; consists of named arrays.

    A new kind is declared by `class NewMapping(Mapping, kind="new")`; saved runs refer to it by this name.
    """

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Mapping]]] = {}

    def __init_subclass__(cls, *, kind: str) -> None:
        super().__init_subclass__()
        cls.kind = kind
        Mapping.kinds[kind] = cls

    @abstractmethod
    def source(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """Source rows (n, d) in the shared space (n, e).

        among: the whole normalized source table, for maps that use the neighbours of a word; by default `rows`.
        """

    @abstractmethod
    def target(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """Target rows (m, d) in the shared space (m, e); `among` as in `source`."""

    def completing(self, light: Mapping, x: Tensor, z: Tensor, pairs: Tensor) -> Mapping:  # noqa: ARG002
        """A light mapping that stands for this one, with the last steps of this one, fitted to the same pairs (p, 2).

        x: (n, d), z: (m, d), the normalized tables. By default there are no further steps.
        """
        return light

    @abstractmethod
    def arrays(self) -> dict[str, Tensor]:
        """All arrays of the mapping, by name."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: dict[str, Tensor]) -> Self:
        """The inverse of `arrays`, which have been checked by `forms`. ValueError if their values are not valid."""

    @classmethod
    def forms(cls, arrays: dict[str, Tensor]) -> Forms:
        """Shapes and types of `arrays`: d is the dimension of the tables, all other letters are free.

        arrays: those of a file, since the forms can depend on them, for example on the number of layers. By default,
        any shapes and types are allowed.
        """
        return {name: ArrayForm.of(array) for name, array in arrays.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearMapping(Mapping, kind="linear"):
    """x → x A, z → z B; without B, z → z.  A: (d, e), B: (d, e)."""

    source_matrix: Tensor
    target_matrix: Tensor | None = None

    def source(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """X A."""
        return rows @ self.source_matrix.to(rows)

    def target(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """Z B, or Z."""
        return rows if self.target_matrix is None else rows @ self.target_matrix.to(rows)

    def arrays(self) -> dict[str, Tensor]:
        """The one or two matrices."""
        arrays = {"source_matrix": self.source_matrix, "target_matrix": self.target_matrix}
        return {name: array for name, array in arrays.items() if array is not None}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Tensor]) -> Self:
        """The inverse of `arrays`."""
        return cls(**arrays)

    @classmethod
    def forms(cls, arrays: dict[str, Tensor]) -> Forms:  # noqa: ARG003
        """(d, e) both."""
        return {
            "source_matrix": ArrayForm(("d", "e")),
            "target_matrix": ArrayForm(("d", "e"), optional=True),
        }


def nested_arrays(mapping: Mapping, prefix: str) -> dict[str, Tensor]:
    """The arrays of a mapping inside another one, with its kind in their names."""
    return {f"{prefix}{mapping.kind}.{name}": array for name, array in mapping.arrays().items()}


def nested_mapping(arrays: dict[str, Tensor], prefix: str, sizes: dict[str, int] | None = None) -> Mapping | None:
    """The inverse of `nested_arrays`; none if there are no arrays of that prefix."""
    own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    if not own:
        return None
    kind = next(iter(own)).partition(".")[0]
    return mapping_from_arrays(kind, {name.partition(".")[2]: array for name, array in own.items()}, sizes)


def mapping_from_arrays(kind: str, arrays: dict[str, Tensor], sizes: dict[str, int] | None = None) -> Mapping:
    """A mapping of this kind; ValueError if the arrays do not have its forms.  sizes: {"d": ...}, if known."""
    if kind not in Mapping.kinds:
        raise AlignmentError(f"unknown kind of mapping {kind!r}; known: {', '.join(Mapping.kinds)}; update bilex")
    check_arrays(arrays, Mapping.kinds[kind].forms(arrays), sizes)
    return Mapping.kinds[kind].from_arrays(arrays)
