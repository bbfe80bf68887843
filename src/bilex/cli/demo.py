"""bilex demo."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from bilex.cli import options
from bilex.errors import AlignmentError

if TYPE_CHECKING:
    from pathlib import Path

    from bilex.alignment import Alignment
    from bilex.sample import Sample

SHOWN = ("school", "mother", "lake", "chocolate", "shirt", "accept", "rare", "earthquake")
"""Words of both test lexicons; none of them is in the train lexicons."""

METHODS: dict[str, dict[str, str]] = {
    "procrustes": {},
    "vecmap": {},
    "rcsls": {},
    "rapo": {"epochs": "5", "batch": "512", "learning_rate": "0.001", "refit": "false"},
}
"""The methods and settings that save time. With refit=false, rapo does not train on dev, which chooses the method."""

MARKER = ".made-by-bilex-demo"


@click.command()
@click.option("--output", type=options.RunPath, default="demo-output", show_default=True, help="Folder to write to.")
@options.as_json
def demo(output: Path, as_json: bool) -> None:
    """Align the bundled English-French and English-Finnish sample data with several methods, and show the results."""
    from bilex import sample

    _make_folder(output)
    started = time.perf_counter()
    results = [_align(pair, sample.load(pair), output, as_json=as_json) for pair in sample.pairs()]
    seconds = time.perf_counter() - started
    if as_json:
        options.print_json({"pairs": results, "seconds": seconds})
        return
    options.show(f"Done in {seconds:.0f} s. Now look up words yourself, or bring your own vectors:")
    options.show(f"  bilex translate {results[0]['run']} mother lake")
    options.show("  bilex align SOURCE.vec TARGET.vec --train DICTIONARY.tsv --output my-run")


def _align(pair: str, data: Sample, output: Path, *, as_json: bool) -> dict[str, object]:
    """Align one pair with each method; print the scores, some translations, and the path of the lexicon."""
    from bilex.fitting.fit import align
    from bilex.methods.base import get_method

    scores, best, best_dev = [], None, -1.0
    for method, settings in METHODS.items():
        chosen = get_method(method, settings)
        alignment = align(data.source, data.target, data.train, dev=data.dev, method=chosen, vectors_only=True)
        dev = alignment.evaluate(data.dev).scores.mrr
        scores.append({"method": method, **alignment.evaluate(data.test).to_json()})
        if dev > best_dev:  # like every choice, that of the method to show is made on dev
            best, best_dev = alignment, dev
    assert best is not None
    run, lexicon = output / pair, output / f"{pair}.tsv"
    pairs = _write(best, run, lexicon)
    if not as_json:
        _print(pair, data, scores, best, lexicon, pairs)
    return {"pair": pair, "scores": scores, "run": str(run), "lexicon": str(lexicon), "lexicon_pairs": pairs}


def _make_folder(output: Path) -> None:
    """Make the folder with a marker file. A folder without one is refused, so that no user data are replaced."""
    marker = output / MARKER
    if output.exists() and not marker.is_file() and (not output.is_dir() or any(output.iterdir())):
        raise AlignmentError(f"{output} exists already and was not made by bilex demo; choose another --output")
    output.mkdir(parents=True, exist_ok=True)
    marker.touch()


def _write(alignment: Alignment, run: Path, lexicon: Path) -> int:
    """Write the run and its lexicon of given and mutual pairs. Those of an earlier demo are replaced."""
    import shutil

    from bilex.io.entries import write_entries

    if run.exists():
        shutil.rmtree(run)
    alignment.save(run)
    entries = alignment.induce(mutual=True)
    write_entries(lexicon, entries, "tsv")
    return len(entries)


def _print(
    pair: str, data: Sample, scores: list[dict[str, object]], best: Alignment, lexicon: Path, pairs: int
) -> None:
    covered, all_sources = scores[0]["covered"], scores[0]["sources"]
    options.show(
        f"{pair}: {len(data.source):,} and {len(data.target):,} words, {len(data.train):,} train pairs; "
        f"tested on {covered} of {all_sources} source words that were not trained on"
    )
    rows = [(s["method"], *(f"{s[key]:.1f}" for key in ("p_at_1", "p_at_5", "p_at_10"))) for s in scores]
    options.print_table(["method", "P@1", "P@5", "P@10"], rows)
    translations = best.translate(SHOWN, 4)
    options.print_table(
        ["word", "translations, best first"],
        [(t.word, ", ".join(c.word for c in t.candidates)) for t in translations],
        left=2,
    )
    given = len(best.given)
    options.show(
        f"lexicon: {pairs:,} pairs in {lexicon}, {given:,} given and {pairs - given:,} found in both directions\n"
    )
