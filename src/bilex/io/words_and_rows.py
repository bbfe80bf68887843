"""Collect words and rows together while a file is read. A line becomes a word with its row, or a numbered fault."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bilex.errors import TableError
from bilex.io.memory import free_memory
from bilex.io.report import Fault, FaultCounter, ReadReport
from bilex.io.size import check_memory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

PARSE_FAULTS = ("wrong_width", "not_a_number", "undecodable")
MAX_BAD_SHARE, MAX_BAD_COUNT = 0.01, 10


@dataclass(frozen=True)
class ParsedRows:
    """Part of a file. `words[i]` and `rows[i]` come from line `lines[i]`; `faults` are all other lines."""

    words: list[str]
    rows: NDArray[np.float32]
    lines: Sequence[int]
    faults: list[Fault] = field(default_factory=list)


class TableBuilder:
    """Collects the parsed parts of a file in order. Unusable rows are left out and counted."""

    def __init__(self, path: Path, *, unit: str = "line", max_words: int | None = None, strict: bool = False) -> None:
        if max_words is not None and max_words < 1:
            raise TableError(f"{path}: asked to read {max_words} words; `max_words` must be at least 1")
        self.path, self.unit, self.max_words, self.strict = path, unit, max_words, strict
        self.words: list[str] = []
        self._store = GrowingMatrix(path)
        self._seen: dict[str, int] = {}
        self._tally = FaultCounter()
        self._lines = 0

    @property
    def full(self) -> bool:
        """Whether `max_words` rows have been collected."""
        return len(self.words) == self.max_words

    def add(self, parsed: ParsedRows, progress: float = 1.0) -> None:
        """Add the usable rows. progress: share of the file read so far, to estimate the final size."""
        keep, faults = self._screen(parsed)
        if self.full:
            last = parsed.lines[keep[-1]]
            faults = [fault for fault in faults if fault.line < last]
        for fault in sorted(faults, key=lambda fault: fault.line):
            self._refuse(fault)
        self._lines += len(keep) + len(faults)
        rows = parsed.rows if len(keep) == len(parsed.rows) else parsed.rows[keep]
        self._store.append(rows, self._expected(progress))

    def finish(self, claimed: int | None = None) -> tuple[list[str], NDArray[np.float32], ReadReport]:
        """Words, rows and report. claimed: the count in the header, checked unless reading stopped early."""
        if claimed is not None and not self.full and claimed != self._lines:
            self._refuse(Fault("header", 1, f"it says {claimed:,}, the file has {self._lines:,}"))
        self._check_share()
        repairs = self._tally.repairs()
        if not self.words:
            found = "; ".join(ReadReport(repairs=repairs, unit=self.unit).summary()) or "nothing after the header"
            raise TableError(f"{self.path}: no usable row ({found}); needed at least one word with its vector")
        return self.words, self._store.take(), ReadReport(self._lines, len(self.words), repairs, self.unit)

    def _screen(self, parsed: ParsedRows) -> tuple[list[int], list[Fault]]:
        """Indices of the rows to keep, and all faults, also of vectors. The words to keep are added to `self.words`."""
        keep, faults, words, seen = [], list(parsed.faults), self.words, self._seen
        finite = np.logical_and.reduce(np.isfinite(parsed.rows), axis=1)
        with np.errstate(invalid="ignore"):  # signalling NaNs
            usable = np.logical_and(finite, parsed.rows.any(axis=1)).tolist()
        for i, (word, line) in enumerate(zip(parsed.words, parsed.lines, strict=True)):
            if not usable[i]:
                faults.append(Fault("zero" if finite[i] else "not_finite", line, f"the vector of {word!r}"))
            elif word in seen:
                faults.append(Fault("duplicate", line, f"{word!r}, first on {self.unit} {seen[word]}"))
            else:
                seen[word] = line
                words.append(word)
                keep.append(i)
                if self.full:
                    break
        return keep, faults

    def _refuse(self, fault: Fault) -> None:
        if fault.fatal:
            raise TableError(f"{self.path}: {fault.detail}")
        if self.strict:
            advice = "correct the file, or read it without strict to leave such lines out"
            raise TableError(f"{self.path}, {self.unit} {fault.line}: {fault.kind}: {fault.detail}; {advice}")
        self._tally.add(fault)

    def _expected(self, progress: float) -> int:
        guess = int(len(self.words) / max(progress, 1e-6) * 1.03) + 64 if progress < 1 else len(self.words)
        return guess if self.max_words is None else min(guess, self.max_words)

    def _check_share(self) -> None:
        """Refuse a file with many bad lines. A few are tolerated; more than 1 % mean that it is not a table."""
        bad = self._tally.count(*PARSE_FAULTS)
        if bad <= max(MAX_BAD_COUNT, MAX_BAD_SHARE * self._lines):
            return
        report = ReadReport(self._lines, len(self.words), self._tally.repairs(), self.unit)
        advice = "check that it is the file you meant"
        if self._tally.count("undecodable") * 2 > bad:
            advice = "give its encoding: `encoding='latin-1'`"
        raise TableError(
            f"{self.path}: {bad:,} of {self._lines:,} {self.unit}s cannot be used; needed fewer than 1 %; "
            f"{'; '.join(report.summary())}; {advice}"
        )


class GrowingMatrix:
    """A matrix that grows by blocks of rows. Reserved memory costs nothing until it is filled: estimate high."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._filled = 0

    def append(self, block: NDArray[np.float32], expected: int) -> None:
        """Add a block. expected: estimate of the final number of rows."""
        if not len(block):
            return
        end = self._filled + len(block)
        if self._filled == 0 and expected <= end:
            self._rows = np.require(block, requirements=["C", "W"])
        else:
            self._reserve(end, max(expected, end), block.shape[1])
            self._rows[self._filled : end] = block
        self._filled = end

    def take(self) -> NDArray[np.float32]:
        """The filled rows. Unused memory is released."""
        if self._filled < len(self._rows):
            self._rows.resize((self._filled, self._rows.shape[1]), refcheck=False)
        return self._rows

    def _reserve(self, needed: int, expected: int, width: int) -> None:
        if needed <= len(self._rows):
            return
        check_memory(self._path, needed * width * self._rows.itemsize, f"{needed:,} vectors, and it has more,")
        max_rows = (free_memory() or sys.maxsize) // (width * self._rows.itemsize)
        larger = np.empty((max(needed, min(max_rows, max(expected, needed + needed // 4))), width), np.float32)
        if self._filled:
            larger[: self._filled] = self._rows[: self._filled]
        self._rows = larger
