"""Orthogonal Procrustes on the sixteen open directions, compared with reference figures.

    python benchmarks/procrustes_table.py [--json]

Unit, center, unit; all train pairs in both vocabularies; CSLS k = 10 over the whole tables; covered test sources.
"""

from __future__ import annotations

import argparse
import json

from bilex import align
from open_directions import DIRECTIONS

EXPECTED = {  # P@1, P@5, P@10, covered
    "en-fr": (80.7, 91.2, 93.5, 974),
    "fr-en": (82.6, 92.7, 94.4, 935),
    "en-fi": (53.4, 74.0, 80.5, 863),
    "fi-en": (58.5, 77.7, 82.7, 907),
    "en-ru": (56.5, 76.6, 82.8, 804),
    "ru-en": (56.8, 79.2, 83.9, 871),
    "en-zh": (47.0, 68.9, 75.2, 1169),
    "zh-en": (43.9, 62.0, 69.6, 1342),
    "en-he": (20.3, 36.3, 43.6, 637),
    "he-en": (29.1, 49.5, 57.3, 639),
    "en-ar": (30.1, 52.8, 59.0, 735),
    "ar-en": (40.8, 62.0, 67.6, 903),
    "en-es": (38.0, 57.2, 63.5, 958),
    "es-en": (40.0, 58.0, 65.4, 903),
    "en-it": (18.8, 36.5, 44.2, 943),
    "it-en": (16.6, 33.2, 40.3, 880),
}


def main() -> None:
    """Print the table. Exits with 1 if a figure differs by more than 0.2, or if a count differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    results = {}
    for name, expected in EXPECTED.items():
        direction = DIRECTIONS[name]
        source, target = direction.load()
        result = align(source, target, direction.train(), method="procrustes", vectors_only=True).evaluate(
            direction.test()
        )
        found = (result.scores.p_at_1, result.scores.p_at_5, result.scores.p_at_10)
        agrees = all(abs(a - b) <= 0.2 for a, b in zip(found, expected, strict=False)) and result.covered == expected[3]
        results[name] = {**result.to_json(), "expected": expected, "agrees": agrees}
        if not as_json:
            if len(results) == 1:
                print(f"{'':8}{'P@1':>16}{'P@5':>16}{'P@10':>16}{'covered':>14}{'MRR':>8}{'P@1 all':>9}")
            cells = "".join(f"{a:8.2f} ({b:5.1f})" for a, b in zip(found, expected, strict=False))
            verdict = "" if agrees else "   DIFFERS"
            print(
                f"{name:8}{cells}{result.covered:6d} ({expected[3]:4d}) {result.scores.mrr:8.3f}"
                f"{result.scores_all.p_at_1:9.2f}{verdict}",
                flush=True,
            )
    if as_json:
        print(json.dumps(results))
    raise SystemExit(not all(result["agrees"] for result in results.values()))


if __name__ == "__main__":
    main()
