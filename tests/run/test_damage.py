"""Run folders of which something is damaged, whoever did it: refused in a sentence, or opened and as good as ever."""

import copy
import dataclasses
import json
import os
import re
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from bilex import Alignment, EmbeddingTable, align
from bilex.errors import AlignmentError, BilexError
from bilex.mapping import LinearMapping
from bilex.methods.base import get_method
from bilex.run.folder import describe

KINDS = {
    "procrustes": {},
    "geomm": {},
    "rapo": {"epochs": "0", "batch": "8", "hard": "4"},
    "instamap": {"start": "vecmap"},
    "lnmap": {
        **dict.fromkeys(("hidden", "code", "mapper_hidden", "samples", "batch"), "8"),
        **dict.fromkeys(("autoencoder_epochs", "iterations", "epochs"), "1"),
    },
}
"""Methods whose mappings are of different kinds."""


@pytest.fixture(scope="module")
def runs(world, tmp_path_factory):
    """A run of each kind, which no test changes."""
    folder = tmp_path_factory.mktemp("runs")
    for name, settings in KINDS.items():
        method = get_method(
            name, settings | {"normalize": "unit,center,scale,unit"} if name == "procrustes" else settings
        )
        align(world.source, world.target, world.train, method=method).save(folder / name)
    return folder


@pytest.fixture
def run(runs, tmp_path):
    """A run of one's own."""
    return copied(runs / "procrustes", tmp_path)


def copied(run, folder):
    shutil.rmtree(folder / "run", ignore_errors=True)
    return shutil.copytree(run, folder / "run")


def edit(run, change):
    """Change the value of alignment.json."""
    value = json.loads((run / "alignment.json").read_text())
    change(value)
    (run / "alignment.json").write_text(json.dumps(value))


def forget_hashes(run):
    """As the version before has written it."""
    edit(run, lambda value: value.pop("files"))


def refused(run, match, error=AlignmentError):
    with pytest.raises(error, match=match) as caught:
        Alignment.load(run)
    said = str(caught.value)
    assert said.isprintable()
    assert said.count("; ") >= 1, f"it says what to do: {said}"
    return said


def at(value, path):
    *above, last = path.split("/")
    for name in above:
        value = value[name]
    return value, last


NEEDED = [
    *("format", "version", "mapping", "normalize", "subwords", "subwords/source", "inputs", "inputs/method"),
    *("inputs/settings", "inputs/rng_seed", "inputs/dev_share", "inputs/source", "inputs/source/words"),
    *("inputs/target/dim", "inputs/source/file", "inputs/source/sha256", "inputs/train", "inputs/train/pairs"),
    *("inputs/dev", "protocol", "train_coverage", "train_coverage/pairs_covered", "dev_coverage", "made_with"),
    *("made_with/bilex", "files/mapping.safetensors/bytes", "files/train.tsv/sha256"),
]


class TestDescription:
    @pytest.mark.parametrize("path", NEEDED)
    def test_what_is_missing(self, run, path):
        def remove(value):
            inside, last = at(value, path)
            del inside[last]

        edit(run, remove)
        said = refused(run, r"alignment\.json: ")
        assert path in ("format", "version") or f"missing required field `{path.rpartition('/')[2]}`" in said

    @pytest.mark.parametrize("path", NEEDED)
    @pytest.mark.parametrize("wrong", ["x\n\x1b", 1.5, -1, True, [], {"a": 1}, [[]]], ids=repr)
    def test_what_is_of_another_type(self, run, path, wrong):
        """Some of the values are as good as any other; all that matters is that nothing but a refusal is raised."""
        fits = {
            "x\n\x1b": ("inputs/method", "subwords/source", "inputs/source/file", "protocol", "made_with/bilex"),
            1.5: ("inputs/dev_share",),
            -1: ("inputs/dev_share", "inputs/rng_seed"),
        }
        if (wrong, path) == ({"a": 1}, "inputs/settings"):
            return

        def replace(value):
            inside, last = at(value, path)
            inside[last] = copy.copy(wrong)

        edit(run, replace)
        if isinstance(wrong, list | dict) or path not in fits.get(wrong, ()):
            refused(run, r"\w", BilexError)
        else:
            describe(run)

    @pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 3000 + "1" + "}" * 3000, "NaN", "\ud800", "9" * 5000])
    def test_texts_that_are_none(self, run, text):
        (run / "alignment.json").write_text(text, encoding="utf-8", errors="surrogatepass")
        refused(run, r"alignment\.json")

    def test_cut_anywhere(self, run):
        whole = (run / "alignment.json").read_bytes()
        for length in range(0, len(whole) - 2, 97):
            (run / "alignment.json").write_bytes(whole[:length])
            refused(run, r"alignment\.json: cannot be read")

    def test_deep_inside(self, run):
        edit(run, lambda value: value["inputs"]["settings"].update(a=json.loads("[" * 900 + "]" * 900)))
        refused(run, "nested more than 100 levels deep")

    def test_unknown_steps(self, run):
        edit(run, lambda value: value.update(normalize=["unit", "squash\x07"]))
        refused(run, r"alignment\.json: .*there is no step 'squash.x07'; .*align again")

    def test_what_another_version_tells_is_left_alone(self, run):
        edit(
            run, lambda value: [value.update(more=[1]), value["inputs"].update(more={}), value["made_with"].update(x=1)]
        )
        assert Alignment.load(run).provenance["more"] == [1]


class TestEarlierVersions:
    def test_runs_without_hashes_open(self, run, alignment):
        expected = Alignment.load(run).translate(["s1", "s2"])
        forget_hashes(run)
        edit(run, lambda value: [value.pop("held_out"), value.pop("agreement"), value["inputs"].pop("spelling")])
        assert Alignment.load(run).translate(["s1", "s2"]) == expected

    def test_numbers_in_a_trace_that_are_none(self, run):
        (run / "trace.jsonl").write_text('{"epoch": 1, "loss": NaN, "best": -Infinity}\n')
        forget_hashes(run)
        assert Alignment.load(run).trace.records == [{"epoch": 1, "loss": None, "best": None}]

    def test_penalties_that_were_kept_are_computed_again(self, run):
        expected = Alignment.load(run).induce()
        for file in (run / "cache").iterdir():
            save_file({"penalty": load_file(file)["penalty"] + 1}, file)
        assert Alignment.load(run).induce() == expected


class TestHashes:
    def test_every_file_has_one(self, run):
        files = describe(run)["files"]
        assert sorted(files) == sorted(
            path.name for path in run.iterdir() if path.name not in ("alignment.json", "cache")
        )
        assert all(file["bytes"] == (run / name).stat().st_size for name, file in files.items())

    def test_tables_that_were_exchanged(self, run):
        source, target = run / "source.safetensors", run / "target.safetensors"
        source.rename(run / "other")
        target.rename(source)
        (run / "other").rename(target)
        refused(run, r"source\.safetensors: was changed or exchanged since the run was saved")

    def test_a_table_whose_rows_were_shifted(self, run, world):
        rows = np.roll(world.source.rows, 1, axis=0)
        (run / "source.safetensors").unlink()
        EmbeddingTable(world.source.words, rows).write(run / "source.safetensors")
        refused(run, r"source\.safetensors: was changed or exchanged since the run was saved")

    def test_a_cut_trace(self, run):
        (run / "trace.jsonl").write_text("{}\n")
        refused(run, r"trace\.jsonl: ")


class TestArrays:
    @pytest.mark.parametrize("name", KINDS)
    def test_damage_of_every_kind_to_every_array(self, runs, name, tmp_path, damages):
        """None is worse than a refusal, and what is not finite or has another rank is refused."""
        run = copied(runs / name, tmp_path)
        forget_hashes(run)
        whole = load_file(run / "mapping.safetensors")
        for key, array in whole.items():
            for damage, damaged in damages(array):
                arrays = {other: values for other, values in whole.items() if other != key}
                save_file(arrays | ({} if damaged is None else {key: damaged}), run / "mapping.safetensors")
                scores, said = scores_or_refusal(run)
                if scores is None:
                    assert re.search(r"mapping\.safetensors: damaged.*; .*align again", said), (key, damage, said)
                else:
                    assert damage not in ("nan", "inf", "rank", "type"), (key, damage)
                    assert np.isfinite(scores).all(), (key, damage)

    @pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("side", ["source", "target"])
    def test_a_table_with_a_number_that_is_none(self, run, side, number):
        forget_hashes(run)
        data = bytearray((run / f"{side}.safetensors").read_bytes())
        start = 8 + int.from_bytes(data[:8], "little") + 4 * (7 * 12 + 3)
        data[start : start + 4] = np.float32(number).tobytes()
        (run / f"{side}.safetensors").write_bytes(data)
        refused(
            run, rf"{side}\.safetensors: damaged, it has numbers that are not finite, first in row 8; .*align again"
        )

    @pytest.mark.parametrize("shape", [(160, 11), (160, 13), (159, 12), (161, 12)])
    def test_a_table_of_another_size(self, run, shape):
        forget_hashes(run)
        rows = np.ones(shape, np.float32)
        EmbeddingTable([f"s{i}" for i in range(shape[0])], rows).write(run / "new.safetensors")
        (run / "new.safetensors").rename(run / "source.safetensors")
        refused(run, r"source\.safetensors: has \d+ words of \d+ dimensions, and the run was made of 160 of 12; ")

    @pytest.mark.parametrize(("step", "value"), [("2", 0.0), ("2", -1.0), ("median", 0.0)])
    def test_a_normalizer_that_divides_by_nothing(self, run, step, value):
        forget_hashes(run)
        arrays = load_file(run / "mapping.safetensors")
        arrays[f"source_normalizer.{step}"] = torch.full((1,) if step == "median" else (12,), value)
        save_file(arrays, run / "mapping.safetensors")
        refused(run, r"mapping\.safetensors: damaged: source_normalizer divides by numbers that are not above 0")

    def test_huge_numbers_that_no_file_shows(self, alignment):
        """Finite as they are, and no longer when they are computed with."""
        mapping = LinearMapping(source_matrix=torch.full((12, 12), 3e38))
        made = dataclasses.replace(alignment, mapping=mapping, _indexes={})
        for use in (made.induce, lambda: made.translate(["s1"])):
            with pytest.raises(AlignmentError, match="the source vectors are mapped to numbers that are not finite"):
                use()

    @pytest.mark.parametrize(
        ("name", "change", "said"),
        [
            ("settings", lambda a: torch.tensor([9.0, 0.9, 0.9, 0.0]), "settings"),
            ("settings", lambda a: torch.tensor([0.5, 0.9, 0.9, 0.0]), "settings"),
            ("settings", lambda a: torch.tensor([0.0, 0.9, 0.9, -1.0]), "settings"),
            ("settings", lambda a: a[:2], "settings"),
            ("source_context.members", lambda a: a + 160, "row numbers that a table of 160 rows does not have"),
            ("source_context.members", lambda a: a - 1, "row numbers that a table of 160 rows does not have"),
            ("source_context.members", lambda a: a[:-1], "offsets of the contexts do not match their members"),
            ("target_context.offsets", lambda a: a.flip(0), "offsets of the contexts do not match their members"),
            ("target_context.offsets", lambda a: a + 1, "offsets of the contexts do not match their members"),
            ("target_context.probe", lambda a: a[:3], "probe rows, which do not match"),
            ("source_adapter", lambda a: a[:, :1], "needed"),
        ],
    )
    def test_contexts_and_settings_of_rapo(self, runs, tmp_path, name, change, said):
        run = copied(runs / "rapo", tmp_path)
        forget_hashes(run)
        arrays = load_file(run / "mapping.safetensors")
        arrays[f"mapping.{name}"] = change(arrays[f"mapping.{name}"]).contiguous()
        save_file(arrays, run / "mapping.safetensors")
        refused(run, rf"mapping\.safetensors: damaged: .*{said}")

    @pytest.mark.parametrize("data", [b"", b"\xff" * 20, b"\x10" + b"\0" * 7 + b"{" * 16, b"\0" * 8])
    def test_headers_of_nothing(self, run, data):
        forget_hashes(run)
        for name in ("mapping.safetensors", "source.safetensors"):
            whole = (run / name).read_bytes()
            (run / name).write_bytes(data)
            refused(run, name, BilexError)
            (run / name).write_bytes(whole)

    @pytest.mark.parametrize(
        "change",
        [
            {"shape": [160.0, 12]},
            {"shape": [[160, 12]]},
            {"shape": [160, 12, 1]},
            {"shape": [-160, -12]},
            {"data_offsets": [0.0, 7680]},
            {"data_offsets": [0, 2**70]},
            {"dtype": ["F32"]},
            [],
        ],
    )
    def test_headers_of_tables(self, run, change):
        forget_hashes(run)
        data = (run / "source.safetensors").read_bytes()
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        header["rows"] = {**header["rows"], **change} if change else change
        encoded = json.dumps(header).encode()
        start = len(encoded).to_bytes(8, "little") + encoded
        (run / "source.safetensors").write_bytes(start + data[8 + length :])
        refused(run, r"source\.safetensors: damaged", BilexError)


class TestTrace:
    @pytest.mark.parametrize("line", ["[]", "1", "null", '"x"', '{"a": [1]}', '{"a": {}}', "{", "[" * 5000, "\x00"])
    def test_lines_that_are_no_records(self, run, line):
        forget_hashes(run)
        (run / "trace.jsonl").write_text(f'{{"epoch": 1}}\n{line}\n{{}}\n')
        refused(run, r"trace\.jsonl, line 2: damaged: .*align again")

    def test_bytes_that_are_no_text(self, run):
        forget_hashes(run)
        (run / "trace.jsonl").write_bytes(b'{"a": "\xff"}\n')
        refused(run, r"trace\.jsonl: cannot be read")


class TestPlaces:
    @pytest.mark.parametrize(
        "name", ["alignment.json", "mapping.safetensors", "source.safetensors", "trace.jsonl", "cache"]
    )
    def test_pipes_are_not_waited_for(self, run, name):
        shutil.rmtree(run / name) if (run / name).is_dir() else (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)
        refused(run, f"{name}: this is a pipe, needed a file")

    def test_a_pipe_in_the_cache(self, run):
        Alignment.load(run).induce()
        file = next((run / "cache").iterdir())
        file.unlink()
        os.mkfifo(file)
        refused(run, "this is a pipe")

    def test_nothing_is_written_through_the_cache(self, run, tmp_path):
        (tmp_path / "outside").mkdir()
        (run / "cache").symlink_to(tmp_path / "outside")
        refused(run, r"cache: this symbolic link leads out of .*; replace it by a copy of its target, or remove it")
        assert list((tmp_path / "outside").iterdir()) == []


def scores_or_refusal(run):
    """What comes of a run, or why it is refused."""
    try:
        return [entry.score for entry in Alignment.load(run).induce()], None
    except AlignmentError as error:
        return None, str(error)


def test_a_run_that_could_not_be_opened_again_is_not_saved(alignment, tmp_path):
    made = dataclasses.replace(alignment, provenance={"inputs": {}})
    with pytest.raises(AlignmentError, match="missing required field"):
        made.save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
