import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save

import bilex.run.folder
from bilex import CSLS, Alignment, EmbeddingTable, InvertedSoftmax, Lexicon, Nearest, align
from bilex.errors import AlignmentError, BilexError
from bilex.retrieval import RETRIEVALS, index

FILES = [
    "alignment.json",
    "mapping.safetensors",
    "source.safetensors",
    "target.safetensors",
    "trace.jsonl",
    "train.tsv",
]


@pytest.fixture(scope="module")
def saved(alignment, tmp_path_factory):
    """A run folder that no test writes to."""
    path = tmp_path_factory.mktemp("saved") / "run"
    alignment.save(path)
    return path


@pytest.fixture
def fresh(world):
    """The same alignment, before anybody asked it anything."""
    return align(world.source, world.target, world.train, method="procrustes")


@pytest.fixture
def run(saved, tmp_path):
    """A run folder of one's own."""
    shutil.copytree(saved, tmp_path / "run", ignore=shutil.ignore_patterns("cache"))
    return tmp_path / "run"


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def forget_everything(*_, **__):
    raise AssertionError("computed again")


class TestRoundTrip:
    def test_the_files(self, saved):
        assert sorted(path.name for path in saved.iterdir() if path.name != "cache") == FILES
        for path in saved.iterdir():
            assert not path.read_bytes().startswith((b"\x80", b"PK")), f"{path} is pickle or an archive"

    @pytest.mark.parametrize("direction", ["forward", "backward"])
    @pytest.mark.parametrize("retrieval", [CSLS(k=4), Nearest(), InvertedSoftmax()], ids=repr)
    def test_answers_are_the_same_to_the_bit(self, alignment, world, run, retrieval, direction):
        test = world.test if direction == "forward" else world.test.swapped()
        how = {"retrieval": retrieval, "direction": direction}
        for _ in range(2):  # without, then with the cache
            opened = Alignment.load(run)
            assert opened.translate(test.sources, 3, **how) == alignment.translate(test.sources, 3, **how)
            assert opened.induce(mutual=True, **how) == alignment.induce(mutual=True, **how)
            assert opened.evaluate(test, **how) == alignment.evaluate(test, **how)
            assert opened.hubness(**how) == alignment.hubness(**how)

    def test_everything_else_is_the_same(self, alignment, saved):
        opened = Alignment.load(saved)
        assert opened.provenance == json.loads(json.dumps(alignment.provenance))
        assert (opened.train, opened.dev, opened.folder) == (alignment.train, None, saved)
        assert opened.trace.records == alignment.trace.records
        assert opened.source.words == alignment.source.words
        assert np.array_equal(opened.source.rows, alignment.source.rows)

    def test_dev_and_trace_are_kept(self, alignment, world, tmp_path):
        made = dataclasses.replace(alignment, dev=world.test)
        made.trace.records.append({"epoch": 1, "loss": 0.5})
        try:
            made.save(tmp_path / "run")
        finally:
            made.trace.records.clear()
        opened = Alignment.load(tmp_path / "run")
        assert opened.dev == world.test
        assert opened.trace.records == [{"epoch": 1, "loss": 0.5}]

    def test_strange_words_survive(self, tmp_path):
        words = ["#tag", "#", "a,b", "New York", "</s>", '"', "\u00a0x", "ﬁ", "\u2028", "日本"]
        rows = np.random.default_rng(0).standard_normal((10, 4)).astype(np.float32)
        table, train = EmbeddingTable(words, rows), Lexicon.from_pairs((word, word) for word in words)
        align(table, table, train, method="procrustes").save(tmp_path / "run")
        opened = Alignment.load(tmp_path / "run")
        assert (opened.source.words, opened.train) == (words, train)

    def test_saved_again_from_a_run(self, saved, tmp_path):
        Alignment.load(saved).save(tmp_path / "again")
        assert contents(tmp_path / "again") == {
            name: data for name, data in contents(saved).items() if not name.startswith("cache")
        }

    def test_a_folder_may_be_moved(self, run, tmp_path, alignment):
        run.rename(tmp_path / "moved")
        assert Alignment.load(tmp_path / "moved").translate(["s1"]) == alignment.translate(["s1"])

    def test_folders_above_are_made(self, alignment, tmp_path):
        alignment.save(tmp_path / "a" / "b" / "run")
        assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["run"]


class TestWriting:
    @pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.write_text("mine")], ids=["folder", "file"])
    def test_what_exists_is_left_as_it_is(self, alignment, tmp_path, make):
        make(tmp_path / "run")
        before = contents(tmp_path)
        with pytest.raises(AlignmentError, match="exists already and is left as it is"):
            alignment.save(tmp_path / "run")
        assert contents(tmp_path) == before

    @pytest.mark.parametrize("name", ["Path.write_text", "Lexicon.write", "EmbeddingTable.write", "Trace.write"])
    @pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=["full", "interrupted"])
    def test_a_failure_leaves_nothing_behind(self, alignment, tmp_path, monkeypatch, name, error):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr(f"bilex.run.folder.{name}", fail)
        with pytest.raises(AlignmentError if isinstance(error, OSError) else KeyboardInterrupt) as caught:
            alignment.save(tmp_path / "run")
        monkeypatch.undo()
        assert list(tmp_path.iterdir()) == []
        if isinstance(error, OSError):
            assert "disk full" in str(caught.value)


class TestCache:
    def test_is_used_and_may_be_deleted(self, run, fresh, monkeypatch):
        first = Alignment.load(run).induce(mutual=True)
        assert len(list((run / "cache").iterdir())) == 2
        with monkeypatch.context() as patch:
            patch.setattr(CSLS, "penalty", forget_everything)
            assert Alignment.load(run).induce(mutual=True) == first
        shutil.rmtree(run / "cache")
        assert Alignment.load(run).induce(mutual=True) == first == fresh.induce(mutual=True)

    def test_parts_are_kept(self, run, fresh, monkeypatch):
        monkeypatch.setattr(index, "MIN_ROWS", 0)
        words = fresh.source.words[3:6]
        first = Alignment.load(run).translate(words, n=2)
        assert [path.name for path in (run / "cache").iterdir()] == ["csls-k=10.target.partial.safetensors"]
        with monkeypatch.context() as patch:
            patch.setattr(CSLS, "bounds", forget_everything)
            assert Alignment.load(run).translate(words, n=2) == first
        assert fresh.translate(words, n=2) == first
        assert Alignment.load(run).induce() == fresh.induce()

    def test_is_kept_per_setting(self, run, fresh):
        for retrieval in (CSLS(k=2), CSLS(k=20), InvertedSoftmax(beta=5), InvertedSoftmax(beta=50), CSLS(k=2)):
            assert Alignment.load(run).induce(retrieval=retrieval) == fresh.induce(retrieval=retrieval)
        # CSLS scores need r of the sources too, the inverted softmax penalties of the targets only.
        assert len(list((run / "cache").iterdir())) == 2 * 2 + 2 * 1

    def test_damage_is_repaired(self, run, fresh):
        Alignment.load(run).induce()
        (file,) = (run / "cache").glob("*.target.*")
        whole = file.read_bytes()
        for damaged in (b"", whole[:-5], b"x" * 100):
            file.write_bytes(damaged)
            assert Alignment.load(run).induce() == fresh.induce()
            assert file.read_bytes() == whole

    def test_penalties_of_other_tables_are_not_taken(self, run, fresh):
        Alignment.load(run).induce()
        for file in (run / "cache").iterdir():
            file.write_bytes(save({name: array[:-1].contiguous() for name, array in load_file(file).items()}))
        assert Alignment.load(run).induce() == fresh.induce()

    @pytest.mark.parametrize("name", RETRIEVALS)
    def test_a_folder_that_cannot_be_written_to(self, run, fresh, name):
        (run / "cache").write_text("a file where the folder would be: even root cannot write below it")
        before = contents(run)
        how = {"retrieval": RETRIEVALS[name]()}
        assert Alignment.load(run).induce(**how) == fresh.induce(**how)
        assert contents(run) == before

    def test_a_read_only_folder(self, run, fresh):
        run.chmod(0o555)
        try:
            assert Alignment.load(run).induce() == fresh.induce()
        finally:
            run.chmod(0o755)


class TestDamage:
    def test_no_run_folder(self, tmp_path):
        for path in (tmp_path, tmp_path / "absent"):
            with pytest.raises(AlignmentError, match=r"this is no run folder .*make one with `align`"):
                Alignment.load(path)

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", "3", "null", "{}", '{"format": "bilex-alignment", "version": 999}']
    )
    def test_alignment_json(self, run, text):
        (run / "alignment.json").write_text(text)
        with pytest.raises(AlignmentError, match=r"alignment\.json"):
            Alignment.load(run)

    @pytest.mark.parametrize("key", ["mapping", "normalize", "subwords"])
    def test_alignment_json_without_a_part(self, run, key):
        found = json.loads((run / "alignment.json").read_text())
        del found[key]
        (run / "alignment.json").write_text(json.dumps(found))
        with pytest.raises(AlignmentError, match=r"alignment\.json"):
            Alignment.load(run)

    @pytest.mark.parametrize(
        ("name", "damage"),
        [
            *((name, damage) for name in FILES if ".safetensors" in name for damage in ("missing", "cut", "empty")),
            *(("train.tsv", damage) for damage in ("missing", "empty")),  # one that is cut is a smaller dictionary
        ],
    )
    def test_other_files(self, run, name, damage):
        """A table or a dictionary may say it in its own class; what counts is that it names the file."""
        file = run / name
        data = file.read_bytes()
        if damage == "missing":
            file.unlink()
        else:
            file.write_bytes(data[: len(data) // 2] if damage == "cut" else b"")
        with pytest.raises(AlignmentError if name.startswith("mapping") else BilexError, match=name):
            Alignment.load(run)

    def test_a_trace_that_is_no_json(self, run):
        (run / "trace.jsonl").write_text("{")
        with pytest.raises(BilexError, match=r"trace\.jsonl"):
            Alignment.load(run)

    def test_a_mapping_without_its_arrays(self, run):
        from safetensors.torch import save_file

        save_file({"other": torch.zeros(1)}, run / "mapping.safetensors")
        with pytest.raises(AlignmentError, match=r"mapping\.safetensors"):
            Alignment.load(run)

    def test_an_unknown_kind_of_mapping(self, run):
        found = json.loads((run / "alignment.json").read_text())
        (run / "alignment.json").write_text(json.dumps({**found, "mapping": "cubic"}))
        with pytest.raises(AlignmentError, match="unknown kind of mapping 'cubic'"):
            Alignment.load(run)


class TestSubwords:
    """A fastText table is too large to copy: its file is opened when a word asks for it."""

    @pytest.fixture
    def file(self, tmp_path):
        path = tmp_path / "big.bin"
        path.write_text("stands for a fastText file")
        return path

    @pytest.fixture
    def table(self, world, file, monkeypatch):
        table = dataclasses.replace(
            world.source, subwords=lambda word: world.source.rows[len(word)].copy(), origin=file
        )
        read = EmbeddingTable.read.__func__
        opened = []

        def fake(cls, path, **more):
            if Path(path) == file.resolve():
                opened.append(more)
                return table
            return read(cls, path, **more)

        monkeypatch.setattr(EmbeddingTable, "read", classmethod(fake))
        self.opened = opened
        return table

    @pytest.fixture
    def run(self, table, world, tmp_path):
        align(table, world.target, world.train, method="procrustes").save(tmp_path / "run")
        return tmp_path / "run"

    def test_keep_working_and_are_opened_late(self, table, world, run):
        opened = Alignment.load(run)
        opened.translate(["s5"])
        assert self.opened == []
        words = ["unknown", "unheard of"]
        found = opened.translate(words, 3)
        assert found == align(table, world.target, world.train, method="procrustes").translate(words, 3)
        assert [translation.through for translation in found] == ["subwords", "subwords"]
        assert len(self.opened) == 1

    def test_say_when_the_file_is_gone(self, run, file):
        file.unlink()
        opened = Alignment.load(run)
        assert opened.translate(["s5"])[0].through == "table"
        with pytest.raises(AlignmentError, match=r"'unknown' is not in the table, and .*big\.bin.* is gone"):
            opened.translate(["unknown"])

    def test_say_when_the_file_has_none_any_more(self, run, table):
        object.__setattr__(table, "subwords", None)
        with pytest.raises(BilexError, match=r"big\.bin"):
            Alignment.load(run).translate(["unknown"])

    def test_survive_being_saved_again(self, run, tmp_path):
        opened = Alignment.load(run)
        opened.save(tmp_path / "again")
        again = Alignment.load(tmp_path / "again")
        assert again.translate(["unknown"]) == opened.translate(["unknown"])

    def test_a_table_without_them_stays_without(self, saved):
        assert Alignment.load(saved).source.subwords is None
        described = json.loads((saved / "alignment.json").read_text())
        assert described["subwords"] == {"source": None, "target": None}


def test_describe_and_check_free(saved, tmp_path):
    assert bilex.run.folder.describe(saved)["inputs"]["method"] == "procrustes"
    bilex.run.folder.check_free(tmp_path / "new")
    with pytest.raises(AlignmentError):
        bilex.run.folder.check_free(saved)


@pytest.mark.parametrize("provenance", [{"protocol": 3}, {"inputs": {}}], ids=str)
def test_a_provenance_that_could_not_be_opened_again_is_refused(alignment, tmp_path, provenance):
    """Before anything is written."""
    made = dataclasses.replace(alignment, provenance=alignment.provenance | provenance)
    with pytest.raises(AlignmentError, match=r"could not be opened again \(its provenance: .*; align again"):
        made.save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


class TestReplaced:
    def test_by_a_whole_run(self, alignment, run):
        (run / "mapping.safetensors").write_bytes(b"damaged")
        with pytest.raises(
            AlignmentError, match=r"exists already and is left as it is: .* replace it with `replace=True`"
        ):
            alignment.save(run)
        alignment.save(run, replace=True)
        assert torch.equal(Alignment.load(run).index().x, alignment.index().x)
        assert [path.name for path in run.parent.iterdir()] == ["run"]

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("corrections.sqlite-shm", "is open in bilex explore"),
            ("notes.txt", r"also has files that are not of bilex \(notes.txt\)"),
        ],
    )
    def test_but_not_where_something_would_be_lost(self, alignment, run, name, why):
        (run / name).touch()
        before = contents(run)
        with pytest.raises(AlignmentError, match=why):
            alignment.save(run, replace=True)
        assert contents(run) == before
