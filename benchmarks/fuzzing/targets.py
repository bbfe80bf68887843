"""What the fuzzer damages, and what is then done with it: what a user would do."""

from __future__ import annotations

import io
import shutil
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from bilex.alignment import Alignment
from bilex.cli import main
from bilex.errors import BilexError
from bilex.explorer.corrected import corrected
from bilex.explorer.corrections import Corrections
from bilex.fitting import collect, fit
from bilex.io.inspection import inspect_table
from bilex.lexicon import Lexicon
from bilex.methods.base import get_method
from bilex.provenance import INPUTS, check_same, read
from bilex.report.page import page
from bilex.report.run_report import make_run_report
from bilex.retrieval import CSLS, InvertedSoftmax, Nearest
from bilex.run import describe
from bilex.run_files import CACHE, CORRECTIONS, DESCRIPTION, MAPPING
from bilex.settings_file import read_settings
from bilex.strict_json import to_json
from bilex.table import EmbeddingTable
from bilex.trace import CHECKPOINT, Trace
from fuzzing.checks import check_finite, check_json, check_text
from fuzzing.containers import (
    gzipped,
    mutate_checkpoint,
    mutate_npy,
    mutate_npz,
    mutate_safetensors,
    mutate_sqlite,
    mutate_word2vec,
)
from fuzzing.corpus import CHECKPOINTS, RUNS
from fuzzing.inputs import Files, Special
from fuzzing.mutators import mutate_bytes, mutate_json, mutate_json_lines, mutate_lines, some
from fuzzing.seals import seal_arrays, seal_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

    from fuzzing.corpus import Corpus


@dataclass(frozen=True)
class Target:
    """`make` gives files that are damaged, `use` does with the folder they are in what a user would.

    `use` returns if the result is right, raises a BilexError if the files are refused, and anything else is a fault.
    """

    make: Callable[[Corpus, Random], Files]
    use: Callable[[Corpus, Path, Random], None]
    weight: int
    """Its share of all inputs."""


def _make_table(name: str, mutate: Callable[[bytes, Random], bytes], corpus: Corpus, rng: Random) -> Files:
    return {"table": some(corpus.files[f"tables/{name}"], rng, mutate)}


def _make_gzipped(name: str, mutate: Callable[[bytes, Random], bytes], corpus: Corpus, rng: Random) -> Files:
    if rng.random() < 0.4:
        return {"table": mutate_bytes(corpus.files[f"tables/{name}.gz"], rng)}
    return {"table": gzipped(some(corpus.files[f"tables/{name}"], rng, mutate))}


def _make_npy(corpus: Corpus, rng: Random) -> Files:
    rows, words = corpus.files["tables/table.npy"], corpus.files["tables/table.words"]
    if rng.random() < 0.3:
        return {"table": rows, "table.words": some(words, rng, mutate_lines)}
    return {"table": some(rows, rng, mutate_npy), "table.words": words}


def _make_bomb(corpus: Corpus, rng: Random) -> Files:
    bombs = corpus.below("bombs/")
    return {"table": bombs[rng.choice(sorted(bombs))]}


def _use_table(corpus: Corpus, folder: Path, rng: Random) -> None:
    path = folder / "table"
    max_words = rng.choice([None, None, 1, 7])
    encoding = rng.choice(["utf-8"] * 4 + ["latin-1"])
    if rng.random() < 0.5:
        found = inspect_table(path, max_words=max_words, encoding=encoding).to_json()
        check_finite(found)
        assert found["rows"] >= 1
        return
    table = EmbeddingTable.read(path, max_words=max_words, encoding=encoding, strict=rng.random() < 0.2)
    check_finite(table.rows, "rows")
    assert len(table.words) == len(table.rows)
    check_finite(table.report.to_json())
    if table.subwords is not None:
        check_finite(table.subwords("unseen"), "subwords")
    if rng.random() < 0.3:
        written = folder / f"again.{rng.choice(['safetensors', 'npz', 'vec', 'bin'])}"
        table.write(written)
        assert EmbeddingTable.read(written).words == table.words
    elif rng.random() < 0.2:
        _align_with(table, corpus, rng)


def _align_with(table: EmbeddingTable, corpus: Corpus, rng: Random) -> None:
    """What a damaged table was read as takes the place of the good one."""
    method = rng.choice(["procrustes", "ridge", "vecmap", "geomm", "cca", "rcsls", "procrustes_refinement"])
    inputs = collect(table, corpus.alignment.target, corpus.alignment.train, method=method)
    for doubt in inputs.doubts():
        check_text(doubt)
    _use_alignment(fit(inputs), corpus, rng)


def _use_alignment(alignment: Alignment, corpus: Corpus, rng: Random) -> None:
    retrieval = rng.choice([CSLS(), CSLS(), CSLS(k=3), Nearest(), InvertedSoftmax()])
    direction = rng.choice(["forward", "forward", "backward"])
    asked = alignment.source if direction == "forward" else alignment.target
    words = [asked.words[0], rng.choice(asked.words), "unknown"]
    for translation in alignment.translate(words, 3, direction=direction, retrieval=retrieval):
        check_finite([candidate.score for candidate in translation.candidates], "score")
    entries = alignment.induce(mutual=rng.random() < 0.3, direction=direction, retrieval=retrieval)
    check_finite([entry.score for entry in entries if entry.origin == "found"], "score")
    test = corpus.test if direction == "forward" else corpus.test.swapped()
    check_finite(alignment.evaluate(test, direction=direction, retrieval=retrieval).to_json())


def _make_run(corpus: Corpus, rng: Random) -> Files:
    """One or two files of a run folder are damaged, replaced, exchanged or taken away; beside it is somebody's file."""
    files: Files = dict(corpus.below(f"runs/{rng.choice(sorted(RUNS))}/"))
    if rng.random() < 0.3:
        files[CORRECTIONS] = corpus.files["decisions/corrections.sqlite"]
    for _ in range(rng.choice([1, 1, 1, 2])):
        name = rng.choice([*sorted(files), *[DESCRIPTION, MAPPING] * 4])
        _damage(files, name, corpus, rng)
    seal_run(files, rng)
    if rng.random() < 0.02:
        files = {name: content for name, content in files.items() if not name.startswith(f"{CACHE}/")}
        files[rng.choice([CACHE, CORRECTIONS, f"{CORRECTIONS}-wal"])] = rng.choice(PLACES)
    return {OUTSIDE: MINE, **{f"run/{name}": content for name, content in files.items()}}


def _damage(files: Files, name: str, corpus: Corpus, rng: Random) -> None:
    content = files.get(name)
    if not isinstance(content, bytes):
        return
    chance = rng.random()
    if chance < 0.02:
        del files[name]
    elif chance < 0.03:
        files[name] = rng.choice([Special("link", name.rpartition("/")[2]), *PLACES])
    elif chance < 0.06:
        files[name] = rng.choice([b"", *corpus.below("runs/").values()])
    else:
        files[name] = some(content, rng, _FORMS[name.rpartition(".")[2]])


OUTSIDE, MINE = "outside/file", b"mine"
PLACES = [
    *(
        Special("folder"),
        Special("fifo"),
        Special("socket"),
        Special("link", "/dev/null"),
        Special("link", "/dev/zero"),
    ),
    *(Special("link", "../outside"), Special("link", "../outside/file"), Special("link", "../outside/new")),
    *(Special("link", "../../outside/file"), Special("link", ".")),
]
"""What may stand in the place of a file; two of the links lead out of a run, and one out of its cache."""
_FORMS = {
    "json": mutate_json,
    "jsonl": mutate_json_lines,
    "tsv": mutate_lines,
    "safetensors": mutate_safetensors,
    "sqlite": mutate_sqlite,
}


def _use_run(corpus: Corpus, folder: Path, rng: Random) -> None:
    try:
        _use_opened(folder / "run", corpus, rng)
    finally:
        there = {path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder / "outside").iterdir()}
        assert there == {OUTSIDE: MINE}, "something outside of the run was written"


def _use_opened(run: Path, corpus: Corpus, rng: Random) -> None:
    """As the commands do, which look at the decisions, too."""
    if rng.random() < 0.1:
        _call(["translate", str(run), "s1", "--json"])
    describe(run)
    if (run / CORRECTIONS).exists():
        with closing(Corrections(run / CORRECTIONS)) as corrections:
            corrections.lexicon()
    alignment = Alignment.load(run)
    _use_alignment(alignment, corpus, rng)
    if rng.random() < 0.05:
        report = make_run_report(alignment, corpus.test)
        check_json(to_json(report.to_json()))
        check_finite(report.to_json())
        page(report, plots=False).encode()
    if rng.random() < 0.2:
        saved = run / "saved"
        alignment.save(saved)
        check_json((saved / "alignment.json").read_text(encoding="utf-8"))
        for line in (saved / "trace.jsonl").read_text(encoding="utf-8").splitlines():
            check_json(line)
        shutil.rmtree(saved)


def _call(arguments: list[str]) -> None:
    """A command, of which each line on standard output is JSON."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(io.StringIO()), suppress(SystemExit):
        main(arguments)
    for line in said.getvalue().splitlines():
        check_json(line)


def _make_dictionary(corpus: Corpus, rng: Random) -> Files:
    texts = corpus.below("dictionaries/")
    return {"dictionary": some(texts[rng.choice(sorted(texts))], rng, mutate_lines)}


def _use_dictionary(corpus: Corpus, folder: Path, rng: Random) -> None:
    separator = rng.choice(["auto"] * 5 + ["tab", "comma", "space"])
    encoding = rng.choice(["utf-8"] * 5 + ["latin-1", "utf-16"])
    comment = rng.choice(["#", "#", None])
    lexicon = Lexicon.read(folder / "dictionary", separator=separator, encoding=encoding, comment=comment)
    found = lexicon.index(corpus.alignment.source, corpus.alignment.target, fold_case=rng.random() < 0.3)
    check_finite(found.to_json())
    if rng.random() < 0.5:
        lexicon.write(folder / "again")
        assert Lexicon.read(folder / "again", separator="tab").pairs == lexicon.pairs
    rest, held = lexicon.split(0.2, rng_seed=0)
    assert len(rest) + len(held) == len(lexicon)


def _make_decisions(corpus: Corpus, rng: Random) -> Files:
    return {"corrections.sqlite": mutate_sqlite(corpus.files["decisions/corrections.sqlite"], rng)}


def _use_decisions(corpus: Corpus, folder: Path, rng: Random) -> None:
    with closing(Corrections(folder / "corrections.sqlite")) as corrections:
        corrections.counts()
        lexicon = corrections.lexicon(corpus.alignment.train if rng.random() < 0.5 else None)
        lexicon.write(folder / "lexicon.tsv")
        corrected(corpus.alignment.induce(), corrections)
        if rng.random() < 0.3:
            corrections.decide("s5", "t5", "accepted")
            assert ("s5", "t5") in corrections.current()
            corrections.undo()


def _make_checkpoint(corpus: Corpus, rng: Random) -> Files:
    method = rng.choice(sorted(CHECKPOINTS))
    files: Files = dict(corpus.below(f"partials/{method}/"))
    name, mutate = rng.choice([(INPUTS, mutate_json), *[(CHECKPOINT, mutate_checkpoint)] * 4])
    content = files[name]
    assert isinstance(content, bytes)
    damaged: bytes | Special = some(content, rng, mutate)
    if name == CHECKPOINT and rng.random() < 0.7:
        damaged = seal_arrays(damaged)
    if rng.random() < 0.05:
        damaged = rng.choice(PLACES)
    return {**files, name: damaged, "method": method.encode()}


def _use_checkpoint(corpus: Corpus, folder: Path, rng: Random) -> None:  # noqa: ARG001
    """As `bilex align --resume` does."""
    inputs = corpus.inputs((folder / "method").read_text())
    check_same(inputs.describe(), read(folder / INPUTS, again="align"), folder)
    alignment = fit(inputs, trace=Trace(folder=folder))
    check_finite([entry.score for entry in alignment.induce(given=False)], "score")
    alignment.trace.write(folder / "trace.jsonl")
    for line in (folder / "trace.jsonl").read_text(encoding="utf-8").splitlines():
        check_json(line)


def _make_settings(corpus: Corpus, rng: Random) -> Files:
    texts = corpus.below("settings/")
    return {"settings.toml": some(texts[rng.choice(sorted(texts))], rng, mutate_lines)}


def _use_settings(corpus: Corpus, folder: Path, rng: Random) -> None:  # noqa: ARG001
    filed = read_settings(folder / "settings.toml")
    check_finite(get_method(filed.method, filed.settings).describe())


def _make_judgements(corpus: Corpus, rng: Random) -> Files:
    return {"judged.tsv": some(corpus.files["judgements/judged.tsv"], rng, mutate_lines)}


def _use_judgements(corpus: Corpus, folder: Path, rng: Random) -> None:  # noqa: ARG001
    from bilex.evaluation.similarity import read_judgements

    check_finite(corpus.alignment.similarity(read_judgements(folder / "judged.tsv")).to_json())


def _table(name: str, mutate: Callable[[bytes, Random], bytes], weight: int, make: Any = _make_table) -> Target:
    return Target(partial(make, name, mutate), _use_table, weight)


TARGETS: dict[str, Target] = {
    "run": Target(_make_run, _use_run, 200),
    "checkpoint": Target(_make_checkpoint, _use_checkpoint, 15),
    "decisions": Target(_make_decisions, _use_decisions, 60),
    "dictionary": Target(_make_dictionary, _use_dictionary, 200),
    "judgements": Target(_make_judgements, _use_judgements, 40),
    "settings": Target(_make_settings, _use_settings, 60),
    "text": _table("table.vec", mutate_lines, 80),
    "glove": _table("table.txt", mutate_lines, 50),
    "word2vec": _table("table.bin", mutate_word2vec, 50),
    "gzipped-text": _table("table.vec", mutate_lines, 40, _make_gzipped),
    "gzipped-word2vec": _table("table.bin", mutate_word2vec, 40, _make_gzipped),
    "npz": _table("table.npz", mutate_npz, 40),
    "npz-strings": _table("strings.npz", mutate_npz, 30),
    "npy": Target(_make_npy, _use_table, 40),
    "native": _table("table.safetensors", mutate_safetensors, 50),
    "fasttext": _table("fasttext.bin", mutate_bytes, 30),
    "bomb": Target(_make_bomb, _use_table, 1),
}
REFUSED = BilexError
