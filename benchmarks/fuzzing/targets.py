"""What the fuzzer damages, and what is then done with it: what a user would do."""

from __future__ import annotations

import io
import shutil
from contextlib import ExitStack, closing, contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from bilex.alignment import Alignment
from bilex.bench.suite import Suite
from bilex.cli import main
from bilex.errors import BilexError
from bilex.fitting.fit import fit
from bilex.fitting.inputs import collect
from bilex.io.dictionary import read_pairs
from bilex.io.inspection import inspect_table
from bilex.io.open import FORMATS
from bilex.io.stream import GZIP_MAGIC
from bilex.lexicon import Lexicon
from bilex.methods.base import get_method
from bilex.report.page import page
from bilex.report.run_report import make_run_report
from bilex.retrieval import CSLS, InvertedSoftmax, Nearest
from bilex.run.corrected import corrected
from bilex.run.corrections import Corrections
from bilex.run.files import CACHE, CORRECTIONS, DESCRIPTION, MAPPING, check_unfinished
from bilex.run.folder import describe
from bilex.run.provenance import INPUTS, check_same, read
from bilex.run.review import read_review
from bilex.settings.file import read_settings
from bilex.storage.lock import LOCK_FILE, lock_owner
from bilex.storage.strict_json import to_json
from bilex.table import EmbeddingTable
from bilex.text.printable import printable
from bilex.training.checkpoint import CHECKPOINT, Checkpoint
from fuzzing.checks import check_finite, check_json, check_text
from fuzzing.containers import (
    gzipped,
    mutate_checkpoint,
    mutate_npy,
    mutate_npz,
    mutate_safetensors,
    mutate_sqlite,
    mutate_word2vec,
    mutate_workbook,
)
from fuzzing.corpus import CHECKPOINTS, RUNS
from fuzzing.inputs import Files, Special
from fuzzing.mutators import mutate_bytes, mutate_json, mutate_json_lines, mutate_lines, some
from fuzzing.seals import seal_arrays, seal_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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


def _make_packed(corpus: Corpus, rng: Random) -> Files:
    """What is only read as it is, in gzip."""
    name = rng.choice(["table.npz", "table.npy", "table.safetensors", "fasttext.bin"])
    return {"table": gzipped(some(corpus.files[f"tables/{name}"], rng, mutate_bytes))}


def _make_npy(corpus: Corpus, rng: Random) -> Files:
    rows = corpus.files[rng.choice(["tables/table.npy", "tables/columns.npy"])]
    words = corpus.files["tables/table.words"]
    if rng.random() < 0.3:
        return {"table": rows, "table.words": some(words, rng, mutate_lines)}
    return {"table": some(rows, rng, mutate_npy), "table.words": words}


def _make_bomb(corpus: Corpus, rng: Random) -> Files:
    bombs = corpus.below("bombs/")
    return {"table": bombs[rng.choice(sorted(bombs))]}


def _use_table(corpus: Corpus, folder: Path, rng: Random) -> None:
    content = (folder / "table").read_bytes()
    small = len(content) < SMALL and not content.startswith(GZIP_MAGIC)
    with _in_pieces(rng) if small and rng.random() < 0.3 else nullcontext():
        _use_file(corpus, folder, rng)


@contextmanager
def _in_pieces(rng: Random) -> Iterator[None]:
    """Have small files read as large ones are, in several pieces."""
    with ExitStack() as stack:
        for name in PIECEWISE:
            stack.enter_context(patch(f"bilex.io.{name}", rng.choice([3, 50, 200])))
        yield


def _use_file(corpus: Corpus, folder: Path, rng: Random) -> None:
    path = folder / "table"
    max_words = rng.choice([None, None, 1, 7])
    encoding = rng.choice(["utf-8"] * 4 + ["latin-1"])
    if rng.random() < 0.05:
        _call(["inspect", str(path), "--json"], whole=True)
        return
    if rng.random() < 0.5:
        found = inspect_table(path, max_words=max_words, encoding=encoding).to_json()
        check_finite(found)
        assert found["rows"] >= 1
        return
    form = rng.choice(FORMATS) if rng.random() < 0.1 else None
    table = EmbeddingTable.read(path, max_words=max_words, format=form, encoding=encoding, strict=rng.random() < 0.2)
    check_finite(table.rows, "rows")
    check_finite([found.score for found in table.most_similar(table.words[0], 3)], "score")
    assert len(table.words) == len(table.rows)
    check_finite(table.report.to_json())
    if table.subwords is not None:
        check_finite(table.subwords("unseen"), "subwords")
    if rng.random() < 0.3:
        written = folder / f"again.{rng.choice(['safetensors', 'npz', 'vec', 'bin'])}"
        table.write(written)
        useful = dict.fromkeys(word for word, row in zip(table.words, table.rows, strict=True) if row.any())
        expected = table.words if written.suffix == ".safetensors" else list(useful)
        assert EmbeddingTable.read(written).words == expected
    elif rng.random() < 0.2:
        _align_with(table, corpus, rng)


PIECEWISE = ("text.CHUNK_BYTES", "word2vec.CHUNK_BYTES", "npy.BLOCK_BYTES", "arrays.BLOCK_ROWS", "native.BLOCK_ROWS")
SMALL = 100_000
"""Bytes of a file that is read in pieces of a few."""


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
    if asked.subwords is not None and rng.random() < 0.5:
        words.append("unseen")
    for translation in alignment.translate(words, 3, direction=direction, retrieval=retrieval):
        check_finite([candidate.score for candidate in translation.candidates], "score")
    entries = alignment.induce(mutual=rng.random() < 0.3, direction=direction, retrieval=retrieval)
    check_finite([entry.score for entry in entries if entry.origin == "found"], "score")
    test = corpus.test if direction == "forward" else corpus.test.swapped()
    check_finite(alignment.evaluate(test, direction=direction, retrieval=retrieval).to_json())


def _make_run(corpus: Corpus, rng: Random) -> Files:
    """One or two files of a run folder are damaged, replaced, exchanged or taken away; beside it is somebody's file."""
    files: Files = dict(corpus.below(f"runs/{rng.choice([*sorted(RUNS), 'subwords'])}/"))
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


def _call(arguments: list[str], *, whole: bool = False) -> None:
    """A command of which each line on standard output is JSON, or all that is there."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(io.StringIO()), suppress(SystemExit):
        main(arguments)
    for text in [said.getvalue()] if whole and said.getvalue() else said.getvalue().splitlines():
        check_json(text)


def _make_dictionary(corpus: Corpus, rng: Random) -> Files:
    texts = corpus.below("dictionaries/")
    kind = rng.choice(sorted(texts))
    files: Files = {"dictionary": some(texts[kind], rng, mutate_lines)}
    if kind in ("utf-16.txt", "latin-1.txt"):
        files["encoding"] = kind.removesuffix(".txt").encode()
    return files


def _use_dictionary(corpus: Corpus, folder: Path, rng: Random) -> None:
    separator = rng.choice(["auto"] * 5 + ["tab", "semicolon", "comma", "space"])
    own = (folder / "encoding").read_text() if (folder / "encoding").exists() else "utf-8"
    encoding = rng.choice([own] * 5 + ["auto", "utf-8", "latin-1", "utf-16"])
    comment = rng.choice(["#", "#", None])
    lexicon = Lexicon.read(folder / "dictionary", separator=separator, encoding=encoding, comment=comment)
    found = lexicon.index(corpus.alignment.source, corpus.alignment.target, fold_case=rng.random() < 0.3)
    check_finite(found.to_json())
    if rng.random() < 0.5:
        lexicon.write(folder / "again")
        assert Lexicon.read(folder / "again", separator="tab").pairs == lexicon.pairs
    rest, held = lexicon.split(0.2, rng_seed=0)
    assert len(rest) + len(held) == len(lexicon)


def _make_sheet(corpus: Corpus, rng: Random) -> Files:
    sheets = corpus.below("sheets/")
    name = rng.choice(sorted(sheets))
    is_workbook = name.endswith((".xlsx", ".ods"))
    return {"sheet": some(sheets[name], rng, mutate_workbook if is_workbook else mutate_lines)}


def _use_sheet(corpus: Corpus, folder: Path, rng: Random) -> None:
    path = folder / "sheet"
    if rng.random() < 0.05:
        _call(["inspect", str(path), "--json"], whole=True)
        return
    if rng.random() < 0.3:
        with closing(Corrections(folder / "corrections.sqlite")) as corrections:
            review = read_review(path, corrections)
            corrections.decide_all(review.decisions)
            assert sum(corrections.counts().values()) == len(review.decisions)
            assert not read_review(path, corrections).decisions
            corrected(corpus.alignment.induce(), corrections)
        return
    lexicon = Lexicon.read(
        path,
        columns=rng.choice([None, None, None, "1,2", "English,French", (2, 4)]),
        cells=rng.choice(["auto", "auto", "split", "whole"]),
        header=rng.choice([None, None, True, False]),
        encoding=rng.choice(["auto", "auto", "auto", "cp1252"]),
    )
    lexicon.write(folder / "again.tsv")
    assert read_pairs(folder / "again.tsv", separator="tab")[0] == lexicon.pairs
    for line in lexicon.report.summary() if lexicon.report else ():
        check_text(printable(line))
    check_json(to_json(lexicon.report.to_json() if lexicon.report else {}))
    check_finite(lexicon.index(corpus.alignment.source, corpus.alignment.target).to_json())


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
    lock = some(b'{"process": 1, "host": "h", "since": "s"}', rng, mutate_json)
    return {**files, name: damaged, LOCK_FILE: lock, "method": method.encode()}


def _use_checkpoint(corpus: Corpus, folder: Path, rng: Random) -> None:  # noqa: ARG001
    """As `bilex align --resume` does."""
    inputs = corpus.inputs((folder / "method").read_text())
    check_text(lock_owner(folder / LOCK_FILE))
    check_unfinished(folder, (INPUTS, CHECKPOINT, LOCK_FILE))
    check_same(inputs.describe(), read(folder / INPUTS, again="align"), folder)
    alignment = fit(inputs, checkpoint=Checkpoint(folder), measured=True)
    check_finite(alignment.provenance["held_out"])
    alignment.save(folder / "run")
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


def _make_suite(corpus: Corpus, rng: Random) -> Files:
    suite = corpus.files["suites/suite.toml"]
    if rng.random() < 0.1:
        suite = b'title = "x"\ndirections_from = "sample.toml"\n' + suite[suite.index(b"[[") :]
    damaged = some(suite, rng, mutate_lines)
    if rng.random() < 0.02:
        damaged += b"\n[more]\nx = " + b"[" * 100_000
    return {"suite.toml": damaged}


def _use_suite(corpus: Corpus, folder: Path, rng: Random) -> None:  # noqa: ARG001
    """As `bilex bench run` does, up to the first cell."""
    suite = Suite.read(folder / "suite.toml")
    for cell in suite.cells():
        assert cell.name.isprintable()
        for given in cell.direction.inputs():
            with suppress(BilexError):
                given.find()
    check_finite(suite.describe())
    check_json(to_json(suite.describe()))


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
    "sheet": Target(_make_sheet, _use_sheet, 120),
    "judgements": Target(_make_judgements, _use_judgements, 40),
    "settings": Target(_make_settings, _use_settings, 60),
    "suite": Target(_make_suite, _use_suite, 40),
    "text": _table("table.vec", mutate_lines, 80),
    "glove": _table("table.txt", mutate_lines, 50),
    "word2vec": _table("table.bin", mutate_word2vec, 50),
    "gzipped-text": _table("table.vec", mutate_lines, 40, _make_gzipped),
    "gzipped-word2vec": _table("table.bin", mutate_word2vec, 40, _make_gzipped),
    "together": _table("together.bin", mutate_word2vec, 20),
    "gzipped-glove": _table("table.txt", mutate_lines, 20, _make_gzipped),
    "packed": Target(_make_packed, _use_table, 5),
    "npz": _table("table.npz", mutate_npz, 40),
    "npz-half": _table("half.npz", mutate_npz, 15),
    "npz-strings": _table("strings.npz", mutate_npz, 30),
    "npy": Target(_make_npy, _use_table, 40),
    "native": _table("table.safetensors", mutate_safetensors, 50),
    "native-half": _table("half.safetensors", mutate_safetensors, 20),
    "fasttext": _table("fasttext.bin", mutate_bytes, 30),
    "bomb": Target(_make_bomb, _use_table, 1),
}
REFUSED = BilexError
