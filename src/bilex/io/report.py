"""Report of repairs made while reading a table: counts, first examples, and a summary."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_EXAMPLES = 5

FAULT_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "wrong_width": "wrong number of fields",
        "not_a_number": "a field that is not a number",
        "undecodable": "a word that is not valid in the encoding",
        "empty_word": "no word",
        "not_finite": "NaN or infinity in the vector",
        "zero": "a vector of zeros only, which has no direction",
        "duplicate": "a word met before (the first is kept)",
        "header": "the header's count of words is wrong",
    }
)


@dataclass(frozen=True)
class Fault:
    """One line that cannot be used. A fatal fault is never repaired: the reader must stop."""

    kind: str
    line: int
    detail: str
    fatal: bool = False


@dataclass(frozen=True)
class Example:
    """Line number of a repair, and what was found there."""

    line: int
    detail: str


@dataclass(frozen=True)
class Repair:
    """All repairs of one kind: their count and the first examples."""

    kind: str
    count: int
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class ReadReport:
    """Lines read (without blank lines and the header), rows kept, and repairs by kind."""

    lines: int = 0
    kept: int = 0
    repairs: tuple[Repair, ...] = ()
    unit: str = "line"

    def count(self, kind: str) -> int:
        """Number of repairs of this kind, one of `FAULT_KINDS`."""
        return sum(repair.count for repair in self.repairs if repair.kind == kind)

    def summary(self) -> list[str]:
        """One sentence per kind of repair. Empty if nothing was repaired."""
        return [self._sentence(repair) for repair in self.repairs]

    def to_json(self) -> dict[str, Any]:
        """Plain dictionaries and lists, ready for `json.dumps`."""
        repairs = {
            repair.kind: asdict(repair) | {"examples": list(map(asdict, repair.examples))} for repair in self.repairs
        }
        return {"lines": self.lines, "kept": self.kept, "unit": self.unit, "repairs": repairs}

    def _sentence(self, repair: Repair) -> str:
        first = repair.examples[0]
        if repair.kind == "header":
            return f"{FAULT_KINDS['header']}: {first.detail}"
        left_out = f"{repair.count:,} {self.unit}{'s' if repair.count > 1 else ''} left out"
        return f"{left_out}: {FAULT_KINDS[repair.kind]} (first: {self.unit} {first.line}: {first.detail})"


class FaultCounter:
    """Counts faults while a file is read."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, list[Example]] = {}

    def add(self, fault: Fault) -> None:
        """Count one fault. The first few of each kind are kept as examples."""
        self._counts[fault.kind] = self._counts.get(fault.kind, 0) + 1
        examples = self._examples.setdefault(fault.kind, [])
        if len(examples) < MAX_EXAMPLES:
            examples.append(Example(fault.line, fault.detail))

    def count(self, *kinds: str) -> int:
        """Number of faults of these kinds so far."""
        return sum(self._counts.get(kind, 0) for kind in kinds)

    def repairs(self) -> tuple[Repair, ...]:
        """All repairs, in the order of `FAULT_KINDS`."""
        return tuple(Repair(k, self._counts[k], tuple(self._examples[k])) for k in FAULT_KINDS if k in self._counts)
