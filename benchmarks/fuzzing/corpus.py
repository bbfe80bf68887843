"""Good files of every kind, small, from which the fuzzer makes its inputs: made once, always the same."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bilex.alignment import Alignment
from bilex.entry import Entry
from bilex.errors import BilexError
from bilex.fitting.fit import align, fit
from bilex.fitting.inputs import Inputs, collect
from bilex.io.sheets.review_writer import write_review_sheet
from bilex.lexicon import Lexicon
from bilex.methods.base import all_methods, get_method
from bilex.retrieval import CSLS, InvertedSoftmax
from bilex.run.corrections import Corrections
from bilex.run.provenance import begin
from bilex.settings.fields import to_text
from bilex.settings.file import MethodSettings, write_settings
from bilex.table import EmbeddingTable
from bilex.training.checkpoint import Checkpoint

if TYPE_CHECKING:
    from torch import Tensor

    from bilex.methods.base import Method
    from bilex.training.trace import Trace, Value
from fuzzing.containers import gzipped

WORDS, DIM, PAIRS = 24, 5, 16
RUNS: dict[str, dict[str, str]] = {
    "procrustes": {},
    "geomm": {},
    "vecmap": {},
    "rapo": {"epochs": "1"},
    "instamap": {},
    "lnmap": {
        **dict.fromkeys(("hidden", "code", "mapper_hidden", "samples", "batch"), "6"),
        **dict.fromkeys(("autoencoder_epochs", "iterations", "epochs"), "1"),
    },
}
"""Methods whose mappings are of different kinds, and settings that save time."""
CHECKPOINTS: dict[str, dict[str, str]] = {
    "rapo": {"epochs": "2"},
    "rapo_semi": {"base.epochs": "1", "rounds": "1"},
}
SUITE = """
title = "Some"
notes = "Of all kinds."
[directions.en-fr]
sample = "en-fr"
max_words = 100
[directions.own]
source = { file = "../inputs/source.vec", max_words = 20, sha256 = "00ff" }
target = { file = "../inputs/target.vec" }
train = { file = "../inputs/train.tsv" }
test = { file = "../inputs/test.tsv" }
[defaults]
rng_seeds = [0, 1]
settings = { normalize = "unit" }
[[systems]]
method = "procrustes"
pairs = [5, 10]
directions = ["own"]
[[systems]]
label = "another"
method = "rapo"
protocol = "paper"
settings = { epochs = 1, "learning_rate" = 0.5, decay = true }
"""
SHEETS = Path(__file__).resolve().parents[2] / "tests" / "io" / "sheets" / "files"
BOMB = 320 << 20
"""Bytes that a small file unpacks to."""


class Corpus:
    """The files by name, and the inputs that runs were made of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        self.files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}

    def below(self, prefix: str) -> dict[str, bytes]:
        """The files of a folder, by their names in it."""
        return {name.removeprefix(prefix): data for name, data in self.files.items() if name.startswith(prefix)}

    @cached_property
    def test(self) -> Lexicon:
        """Pairs that no run was trained on."""
        return Lexicon.read(self.folder / "inputs" / "test.tsv")

    @cached_property
    def alignment(self) -> Alignment:
        """A good run."""
        return Alignment.load(self.folder / "runs" / "procrustes")

    def inputs(self, method: str) -> Inputs:
        """What a checkpoint of a method was made from."""
        return _inputs(self.folder / "inputs", method)


def make_corpus(folder: Path) -> None:
    """Write all files."""
    source, target, train, test = _world()
    _write_inputs(folder / "inputs", source, target, train, test)
    _write_tables(folder / "tables", source)
    _write_runs(folder / "runs", source, target, train, test)
    for method in CHECKPOINTS:
        _write_partial(folder / "partials" / method, _inputs(folder / "inputs", method))
    _write_decisions(folder / "decisions" / "corrections.sqlite")
    _write_texts(folder, train)


def _world() -> tuple[EmbeddingTable, EmbeddingTable, Lexicon, Lexicon]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((WORDS, DIM))
    z = x @ np.linalg.qr(rng.standard_normal((DIM, DIM)))[0] + 0.1 * rng.standard_normal(x.shape)
    sources = [f"s{i}" for i in range(WORDS - 2)] + ["école", "слово"]
    targets = [f"t{i}" for i in range(WORDS - 2)] + ["\u4e2d\u6587", "a\u00a0b"]
    pairs = list(zip(sources, targets, strict=True))
    return (
        EmbeddingTable(sources, x.astype(np.float32)),
        EmbeddingTable(targets, z.astype(np.float32)),
        Lexicon.from_pairs(pairs[:PAIRS]),
        Lexicon.from_pairs(pairs[PAIRS:]),
    )


def _write_inputs(folder: Path, source: EmbeddingTable, target: EmbeddingTable, train: Lexicon, test: Lexicon) -> None:
    folder.mkdir(parents=True)
    source.write(folder / "source.vec")
    target.write(folder / "target.vec")
    train.write(folder / "train.tsv")
    test.write(folder / "test.tsv")


def _inputs(folder: Path, method: str) -> Inputs:
    return collect(
        EmbeddingTable.read(folder / "source.vec"),
        EmbeddingTable.read(folder / "target.vec"),
        Lexicon.read(folder / "train.tsv"),
        method=get_method(method, CHECKPOINTS[method]),
    )


def _write_tables(folder: Path, table: EmbeddingTable) -> None:
    folder.mkdir()
    for suffix in ("vec", "txt", "bin", "npz", "safetensors"):
        table.write(folder / f"table.{suffix}")
    np.save(folder / "table.npy", table.rows)
    np.save(folder / "columns.npy", np.asfortranarray(table.rows, np.float64))
    (folder / "table.words").write_text("\n".join(table.words), encoding="utf-8")
    for suffix in ("npz", "safetensors"):
        table.write(folder / f"half.{suffix}", dtype="float16")
    (folder / "together.bin").write_bytes(_without_newlines(table))
    for suffix in ("vec", "txt", "bin"):
        (folder / f"table.{suffix}.gz").write_bytes(gzipped((folder / f"table.{suffix}").read_bytes()))
    half = EmbeddingTable(table.words[:-1], table.rows[:-1])
    np.savez(folder / "strings.npz", words=np.array(half.words), vectors=half.rows.astype(np.float64))
    _write_fasttext(folder / "fasttext.bin", table.words)
    _write_bombs(folder.parent / "bombs")


def _without_newlines(table: EmbeddingTable) -> bytes:
    """Some programs write a .bin so."""
    pairs = zip(table.words, table.rows, strict=True)
    return b"%d %d\n" % table.rows.shape + b"".join(word.encode() + b" " + row.tobytes() for word, row in pairs)


def _write_fasttext(path: Path, words: list[str]) -> None:
    from gensim.models.fasttext import FastText, save_facebook_model

    model = FastText(vector_size=DIM, min_count=1, bucket=20, workers=1, epochs=1, seed=1)
    sentences = [words] * 3
    model.build_vocab(sentences)
    model.train(sentences, total_examples=3, epochs=1)
    save_facebook_model(model, str(path))


def _write_bombs(folder: Path) -> None:
    """Members and streams that unpack to much more than their files hold."""
    folder.mkdir()
    zeros, words = np.zeros(BOMB, np.uint8), np.frombuffer(b"a\nb", np.uint8)
    needed = {"words.npy": words, "rows.npy": np.ones((2, 3), np.float32)}
    for name, members in (
        ("unneeded", {**needed, "more.npy": zeros}),
        ("rows", {**needed, "rows.npy": zeros.view(np.float32).reshape(-1, 4)}),
    ):
        with zipfile.ZipFile(folder / f"{name}.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for member, array in members.items():
                with archive.open(member, "w") as file:
                    np.save(file, array)
    for name, head, byte in (("width.bin", b"3 1000000000000000\na ", b"\0"), ("line.vec", b"a 1 2\n", b"0")):
        # What is compressed in pieces is one stream when it is read.
        (folder / f"{name}.gz").write_bytes(gzipped(head) + gzipped(byte * (1 << 20)) * (BOMB >> 20))


def _write_runs(folder: Path, source: EmbeddingTable, target: EmbeddingTable, train: Lexicon, test: Lexicon) -> None:
    for method, settings in RUNS.items():
        align(source, target, train, method=get_method(method, settings)).save(folder / method)
        _fill_cache(folder / method, test)
    subwords = EmbeddingTable.read(folder.parent / "tables" / "fasttext.bin")
    align(subwords, target, train, method="procrustes").save(folder / "subwords")


def _fill_cache(run: Path, test: Lexicon) -> None:
    for retrieval in (CSLS(), InvertedSoftmax()):
        Alignment.load(run).translate(test.sources, retrieval=retrieval)
        used = Alignment.load(run)
        used.induce(retrieval=retrieval)
        used.evaluate(test, retrieval=retrieval)


class _KeptError(BilexError):
    pass


class _OneCheckpoint(Checkpoint):
    """Stops a method when it saves its second checkpoint."""

    def save(self, trace: Trace, arrays: dict[str, Tensor], **values: Value) -> None:
        if self.last is not None:
            raise _KeptError
        super().save(trace, arrays, **values)


def _write_partial(folder: Path, inputs: Inputs) -> None:
    folder.parent.mkdir(exist_ok=True)
    begin(folder, inputs.describe())
    try:
        fit(inputs, checkpoint=_OneCheckpoint(folder))
    except _KeptError:
        return
    raise AssertionError(f"{inputs.method.name} kept no checkpoint")


def _write_decisions(path: Path) -> None:
    path.parent.mkdir()
    with closing(Corrections(path)) as corrections:
        corrections.decide("s1", "t1", "accepted")
        corrections.decide("s2", "t9", "corrected", target="t2", note="no")
        corrections.decide("s3", "t8", "rejected")
        corrections.decide("s4", "t7", "rejected")
        corrections.undo()
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = DELETE")


def _write_texts(folder: Path, train: Lexicon) -> None:
    """Dictionaries in all their forms, judgements, settings."""
    texts = folder / "dictionaries"
    texts.mkdir()
    pairs = list(train)
    for name, separator in (("tab", "\t"), ("space", " "), ("comma", ","), ("comma-space", ", ")):
        (texts / f"{name}.txt").write_text("".join(f"{s}{separator}{t}\n" for s, t in pairs), encoding="utf-8")
    noted = "".join(f"{s}\t{t}\t0.5\t1\n" for s, t in pairs)
    (texts / "noted.txt").write_text("\ufeff# a comment\n\n" + noted.replace("\n", "\r\n"), encoding="utf-8")
    quoted = "".join(f'"{s}, ""to"" {s}" , "{t} b",n\n' for s, t in pairs)
    (texts / "quoted.csv").write_text(quoted, encoding="utf-8")
    for encoding in ("utf-16", "latin-1"):
        (texts / f"{encoding}.txt").write_bytes("".join(f"é{s}\t#{t}\n" for s, t in pairs).encode(encoding))
    _write_sheets(folder / "sheets", pairs)
    (folder / "judgements").mkdir()
    judged = "".join(f"{s}\t{t}\t{i / 3:.2f}\n" for i, (s, t) in enumerate(pairs))
    (folder / "judgements" / "judged.tsv").write_text("# a comment\n" + judged, encoding="utf-8")
    (folder / "settings").mkdir()
    for name, method in all_methods().items():
        write_settings(folder / "settings" / f"{name}.toml", MethodSettings(name, _settings_of(method())))
    (folder / "suites").mkdir()
    (folder / "suites" / "suite.toml").write_text(SUITE, encoding="utf-8")


def _write_sheets(folder: Path, pairs: list[tuple[str, str]]) -> None:
    """Spreadsheets: text of several kinds, the sheet of a review, and files of real programs."""
    folder.mkdir()
    rows = [("Note", "English", "n", "French"), *(("x", s, str(i), f"{t}, (a) / é") for i, (s, t) in enumerate(pairs))]
    for name, separator, encoding in (("semicolon.csv", ";", "cp1252"), ("tab.txt", "\t", "utf-16")):
        text = "\r\n".join(separator.join(f'"{cell}"' for cell in row) for row in rows)
        (folder / name).write_bytes(text.encode(encoding, "replace"))
    decided = ["accept", "reject", "a; b", "?", '"no"', ""]
    lines = [("source", "target", "decision", "note")]
    lines += [(s, t, decided[i % len(decided)], "n") for i, (s, t) in enumerate(pairs)]
    (folder / "review.csv").write_text("".join(";".join(line) + "\n" for line in lines), encoding="utf-8")
    write_review_sheet(folder / "review.xlsx", [Entry(s, t, 0.5, 1) for s, t in pairs], {"s1": ["t2", "t3"]})
    for name in (
        "lo.xlsx",
        "lo.ods",
        "lo-merged.xlsx",
        "lo-merged.ods",
        "lo-decorated.ods",
        "lo-formulas.ods",
        "pandas.xlsx",
    ):
        shutil.copy(SHEETS / name, folder)


def _settings_of(method: Method, prefix: str = "") -> dict[str, str]:
    """All settings as texts; those of a method among them by names with a dot."""
    found: dict[str, str] = {}
    for field in fields(method):
        value = getattr(method, field.name)
        if is_dataclass(value):
            found |= _settings_of(value, f"{prefix}{field.name}.")  # type: ignore[arg-type]
        else:
            found[prefix + field.name] = to_text(value)
    return found


def fresh(folder: Path) -> Path:
    """The folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
