"""The two tables of dictionary statistics in the RAPO paper, counted again from the MUSE files.

    python benchmarks/dictionary_statistics.py [--json]

Reads $BILEX_SHARED/data/dictionaries/muse (default: `shared` beside the repository). A figure that differs from the
paper's is shown as `counted (paper's)`.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bilex.lexicon import Lexicon
from open_directions import SHARED

if TYPE_CHECKING:
    from pathlib import Path

MUSE = SHARED / "data" / "dictionaries" / "muse"


@dataclass(frozen=True)
class Statistics:
    """One column of the paper's tables. Unique words are counted over train and test together."""

    train: int
    test: int
    sources: int
    targets: int


ROWS = {
    "train": "# train set",
    "test": "# test set",
    "sources": "# unique source words",
    "targets": "# unique target words",
}
# RAPO (2022), appendix, "Statistics of ... language pairs in MUSE"; `er` in the paper is Estonian, `et`.
PAPER = {
    "rich-resource": {
        "en-es": Statistics(11977, 2975, 6500, 12411),
        "es-en": Statistics(8667, 2416, 6500, 8373),
        "en-fr": Statistics(10872, 2943, 6500, 11524),
        "fr-en": Statistics(8270, 2342, 6500, 8309),
        "en-it": Statistics(9657, 2585, 6500, 10762),
        "it-en": Statistics(7364, 2102, 6500, 7562),
        "en-ru": Statistics(10887, 2447, 6500, 11491),
        "ru-en": Statistics(7452, 2069, 6500, 6811),
        "en-zh": Statistics(8728, 2230, 6500, 8102),
        "zh-en": Statistics(8891, 2483, 6500, 8618),
    },
    "low-resource": {
        "en-fa": Statistics(8869, 2148, 6498, 8837),
        "fa-en": Statistics(8510, 2202, 6451, 8691),
        "en-tr": Statistics(9771, 2261, 6498, 9259),
        "tr-en": Statistics(8793, 2291, 6442, 8589),
        "en-he": Statistics(9634, 2379, 6495, 10018),
        "he-en": Statistics(7737, 2195, 6462, 7458),
        "en-ar": Statistics(11571, 2695, 6500, 11787),
        "ar-en": Statistics(7534, 2061, 6453, 6144),
        "en-et": Statistics(8261, 1991, 6500, 8991),
        "et-en": Statistics(6509, 1817, 6500, 6796),
    },
}


def main() -> None:
    """Print both tables, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object in place of the tables")
    as_json = parser.parse_args().json
    if not MUSE.is_dir():
        raise SystemExit("no MUSE dictionaries found: set BILEX_SHARED to the folder that holds data/dictionaries/muse")
    counted = {direction: count(MUSE, direction) for table in PAPER.values() for direction in table}
    if as_json:
        print(json.dumps(compared(counted), indent=2))
        return
    for title, paper in PAPER.items():
        print(f"Statistics of {title} language pairs in MUSE\n{table_text(paper, counted)}\n")
    same = agreeing(counted)
    others = ", ".join(direction for direction in counted if direction not in same)
    print(f"{len(same)} of {len(counted)} directions agree with the paper in all four figures; not: {others or 'none'}")


def count(folder: Path, direction: str) -> Statistics:
    """Statistics of the train and test files of one direction. Every line is a pair; there are no comments."""
    train, test = (Lexicon.read(folder / f"{direction}.{part}.txt", comment=None) for part in ("0-5000", "5000-6500"))
    both = train.union(test)
    return Statistics(len(train), len(test), len(both.sources), len(both.swapped().sources))


def agreeing(counted: dict[str, Statistics]) -> list[str]:
    """Directions for which all four figures agree with the paper."""
    return [direction for table in PAPER.values() for direction in table if counted[direction] == table[direction]]


def compared(counted: dict[str, Statistics]) -> dict[str, Any]:
    """Counted and published figures of each direction, and the nonzero differences."""
    result: dict[str, Any] = {}
    for title, table in PAPER.items():
        for direction, paper in table.items():
            ours, theirs = asdict(counted[direction]), asdict(paper)
            differences = {key: ours[key] - theirs[key] for key in ours if ours[key] != theirs[key]}
            result[direction] = {"table": title, "counted": ours, "paper": theirs, "differences": differences}
    return result


def table_text(paper: dict[str, Statistics], counted: dict[str, Statistics]) -> str:
    """One table as aligned text: one row per figure, one column per direction."""
    rows = [["", *paper]]
    for key, label in ROWS.items():
        rows.append([label, *(_cell(getattr(counted[d], key), getattr(paper[d], key)) for d in paper)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def _cell(ours: int, theirs: int) -> str:
    return str(ours) if ours == theirs else f"{ours} ({theirs})"


if __name__ == "__main__":
    main()
