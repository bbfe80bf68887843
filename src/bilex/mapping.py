"""What a method hands back: two maps into one shared space."""

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
    """Maps source rows and target rows, normalized as in `fit`, into one space. Immutable; made of named arrays.

    A new kind says `class NewMapping(Mapping, kind="new")` and is found by that name when a run is opened.
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

        `among` is the whole normalized source table, for maps that look at a word's neighbours; without it, `rows`
        is that table.
        """

    @abstractmethod
    def target(self, rows: Tensor, *, among: Tensor | None = None) -> Tensor:
        """Target rows (m, d) in the shared space (m, e); `among` as in `source`."""

    @abstractmethod
    def arrays(self) -> dict[str, Tensor]:
        """All that the mapping consists of, by name."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: dict[str, Tensor]) -> Self:
        """The inverse of `arrays`; they are in the `forms`. ValueError if their values make no mapping."""

    @classmethod
    def forms(cls, arrays: dict[str, Tensor]) -> Forms:
        """What `arrays` gives: d is the dimension of the tables, all other letters are free.

        `arrays` are those of a file, where the forms depend on them, such as on the number of layers. A kind that does
        not declare its forms is given arrays of any shape and type.
        """
        return {name: ArrayForm.of(array) for name, array in arrays.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearMapping(Mapping, kind="linear"):
    """x → x A, z → z B. Without B the target rows stay where they are.  A: (d, e), B: (d, e)."""

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
    """The arrays of a mapping that is a part of something, with its kind in their names."""
    return {f"{prefix}{mapping.kind}.{name}": array for name, array in mapping.arrays().items()}


def nested_mapping(arrays: dict[str, Tensor], prefix: str, sizes: dict[str, int] | None = None) -> Mapping | None:
    """The inverse of `nested_arrays`; none if there are no arrays of that prefix."""
    found = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    if not found:
        return None
    kind = next(iter(found)).partition(".")[0]
    return mapping_from_arrays(kind, {name.partition(".")[2]: array for name, array in found.items()}, sizes)


def mapping_from_arrays(kind: str, arrays: dict[str, Tensor], sizes: dict[str, int] | None = None) -> Mapping:
    """A mapping of the named kind; ValueError if the arrays are not in its forms. sizes: {"d": ...}, where known."""
    if kind not in Mapping.kinds:
        raise AlignmentError(f"unknown kind of mapping {kind!r}; known: {', '.join(Mapping.kinds)}; update bilex")
    check_arrays(arrays, Mapping.kinds[kind].forms(arrays), sizes)
    return Mapping.kinds[kind].from_arrays(arrays)
