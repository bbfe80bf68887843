"""Cut the bundled sample (src/bilex/sample/data) from the tables and dictionaries in $BILEX_SHARED/data.

    python tools/make_sample.py [OUT_DIR] [--measure]

The rule is stated in src/bilex/sample/NOTICE.md. No vector is looked at to choose a word or a pair. Running it twice
gives the same bytes. `--measure` prints P@1 on dev of orthogonal Procrustes with CSLS, fitted on train.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from pathlib import Path

import numpy as np

from bilex.lexicon import Lexicon
from bilex.table import EmbeddingTable

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("BILEX_SHARED", ROOT.parent / "shared"))
OUT = ROOT / "src" / "bilex" / "sample" / "data"
TARGETS = ("fr", "fi")
WORDS = 5_700
SOURCE_CORE, TARGET_CORE = 4_500, 3_000
RANK = 3
TEST_SHARE, DEV_SHARE = 0.2, 0.1
RNG_SEED = 20220


def main() -> None:
    """Write the sample, and print its files with their sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?", default=OUT)
    parser.add_argument("--measure", action="store_true")
    args = parser.parse_args()
    make(args.out)
    for path in sorted(args.out.iterdir()):
        print(f"{path.stat().st_size:>9,}  {path.name}")
    print(f"{sum(path.stat().st_size for path in args.out.iterdir()):>9,}  in all")
    if args.measure:
        for language in TARGETS:
            print(f"en-{language}  dev P@1 {measure(args.out, language):.1f}")


def make(out: Path) -> None:
    """Write three tables and six lexicons to `out`."""
    out.mkdir(parents=True, exist_ok=True)
    full = {target: Lexicon.read(SHARED / "data/dictionaries/omw" / f"en-{target}.tsv") for target in TARGETS}
    listed = {target: lexicon.targets_of() for target, lexicon in full.items()}
    source = cut("en", SOURCE_CORE, set.intersection(*(set(targets) for targets in listed.values())))
    source.write(out / "en.safetensors", dtype="float16")
    for language in TARGETS:
        wanted = {word for source_word in source.words for word in listed[language].get(source_word, [])[:RANK]}
        target = cut(language, TARGET_CORE, wanted)
        target.write(out / f"{language}.safetensors", dtype="float16")
        write_split(out, f"en-{language}", plausible_pairs(listed[language], source.words, set(target.words)))


def cut(language: str, core: int, wanted: set[str]) -> EmbeddingTable:
    """The `core` most frequent plain words and the most frequent `wanted` ones (then any), in order of frequency."""
    words, rows = load(language)
    plain = [row for row, word in enumerate(words) if word.isalpha() and word == word.lower()]
    wanted_first = sorted(plain[core:], key=lambda row: words[row] not in wanted)
    chosen = sorted(plain[:core] + wanted_first[: WORDS - core])
    return EmbeddingTable([words[row] for row in chosen], rows[chosen])


def load(language: str) -> tuple[list[str], np.ndarray]:
    """A table, read by the reader in the data folder."""
    spec = importlib.util.spec_from_file_location("unpack", SHARED / "data" / "unpack.py")
    assert spec is not None
    assert spec.loader is not None
    unpack = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(unpack)
    return unpack.load(language)


def plausible_pairs(listed: dict[str, list[str]], sources: list[str], targets: set[str]) -> Lexicon:
    """Pairs near the top from both ends: t is among the first RANK targets of s, s among the first RANK sources of t.

    The sources of t are ordered by the place of t in their lists, then by frequency.
    """
    places = {s: [t for t in listed[s] if t in targets and len(t) > 1] for s in sources if s in listed and len(s) > 2}
    backward: dict[str, list[tuple[int, int, str]]] = {}
    for frequency, (source, found) in enumerate(places.items()):
        for place, target in enumerate(found):
            backward.setdefault(target, []).append((place, frequency, source))
    first = {target: {source for *_, source in sorted(entries)[:RANK]} for target, entries in backward.items()}
    return Lexicon.from_pairs((s, t) for s, found in places.items() for t in found[:RANK] if s in first[t])


def write_split(out: Path, name: str, lexicon: Lexicon) -> None:
    """Split a lexicon by source word into train, dev and test."""
    words = len(lexicon.sources)
    rest, test = hold_out(lexicon, round(TEST_SHARE * words))
    train, dev = hold_out(rest, round(DEV_SHARE * words))
    for part, pairs in {"train": train, "dev": dev, "test": test}.items():
        pairs.write(out / f"{name}.{part}.tsv")


def hold_out(lexicon: Lexicon, count: int) -> tuple[Lexicon, Lexicon]:
    """(rest, held out): source words drawn by their place in the lexicon.

    `Lexicon.split` draws by the word, and would give another sample than the one whose figures are in the documents.
    """
    sources = lexicon.sources
    order = np.argsort(np.random.PCG64(RNG_SEED).random_raw(len(sources)), kind="stable")
    held = {sources[i] for i in order[:count]}
    rest = lexicon.without_sources(held)
    return rest, lexicon.without_sources(rest.sources)


def measure(out: Path, language: str) -> float:
    """P@1 on dev, in percent: orthogonal Procrustes on train, CSLS (k = 10) over the whole tables."""
    source, target = (EmbeddingTable.read(out / f"{name}.safetensors") for name in ("en", language))
    train, dev = (Lexicon.read(out / f"en-{language}.{part}.tsv").index(source, target) for part in ("train", "dev"))
    x, z = normalized(source.rows), normalized(target.rows)
    u, _, vt = np.linalg.svd(x[train.pairs[:, 0]].T @ z[train.pairs[:, 1]])
    similarity = x @ (u @ vt) @ z.T
    r_source = np.partition(similarity, -10, axis=0)[-10:].mean(axis=0)
    queries = list(dev.gold)
    # r_target is the same for all candidates of a query and cannot change the best of them.
    best = (2 * similarity[queries] - r_source).argmax(axis=1)
    return 100 * float(np.mean([row in dev.gold[query] for query, row in zip(queries, best, strict=True)]))


def normalized(rows: np.ndarray) -> np.ndarray:
    """Unit length, centred, unit length."""
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows - rows.mean(axis=0)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
