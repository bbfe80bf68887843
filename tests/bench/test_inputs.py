import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bilex.bench.inputs import Input, Store, expand, some_pairs
from bilex.bench.suite import Suite
from bilex.errors import SuiteError
from bilex.lexicon import Lexicon
from bilex.storage.files import sha256
from bilex.table import EmbeddingTable

UNPACK = """
import numpy as np
from pathlib import Path

def load(name, limit=None):
    with np.load(Path(__file__).parent / "vectors" / f"{name}.npz") as packed:
        return packed["words"].tobytes().decode().split("\\n")[:limit], packed["rows"][:limit]
"""


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "tables")


def given(path, **more):
    return Input(**{"kind": "table", "place": "file", "name": path.name, "base": path.parent, **more})


def test_a_native_table_and_a_dictionary_are_read_where_they_are(write, tmp_path, store):
    ready = store.prepare(given(tmp_path / "x.safetensors", max_words=7))
    assert (ready.path, ready.max_words) == (tmp_path / "x.safetensors", 7)
    ready = store.prepare(given(tmp_path / "train.tsv", kind="dictionary"))
    assert (ready.path, ready.sha256) == (tmp_path / "train.tsv", sha256(tmp_path / "train.tsv"))
    assert not store.folder.exists()


@pytest.mark.parametrize(("name", "comment"), [("train.tsv", "#"), ("en-fr.0-5000.txt", None)])
def test_what_a_comment_begins_with_is_told_by_the_name_of_a_dictionary(tmp_path, store, name, comment):
    """A table has no comments. Those of MUSE have none either, and words such as #tag."""
    for kind, expected in (("dictionary", comment), ("table", None)):
        path = tmp_path / (name if kind == "dictionary" else "x.safetensors")
        path.write_text("a\tb\n", encoding="utf-8")
        assert store.prepare(given(path, kind=kind)).comment == expected


def test_other_tables_are_converted_once(write, world, tmp_path, store):
    wanted = given(tmp_path / "z.vec", max_words=50)
    ready = store.prepare(wanted)
    assert (ready.path.parent, ready.max_words) == (store.folder, None)
    table = EmbeddingTable.read(ready.path)
    assert table.words == world.target.words[:50]
    np.testing.assert_allclose(table.rows, world.target.rows[:50], rtol=1e-5)
    written = ready.path.stat().st_mtime_ns
    assert Store(store.folder).prepare(wanted) == ready
    assert ready.path.stat().st_mtime_ns == written


def test_a_table_that_has_changed_is_converted_again(write, world, tmp_path, store):
    before = store.prepare(given(tmp_path / "z.vec"))
    world.source.write(tmp_path / "z.vec")
    os.utime(tmp_path / "z.vec", ns=(1, 1))
    after = Store(store.folder).prepare(given(tmp_path / "z.vec"))
    assert after.sha256 != before.sha256


@pytest.mark.parametrize(
    ("name", "kind"), [("z.vec", "table"), ("x.safetensors", "table"), ("train.tsv", "dictionary")]
)
def test_checksums_are_checked_where_they_are_given(write, tmp_path, store, name, kind):
    path = tmp_path / name
    store.prepare(given(path, kind=kind, sha256=sha256(path).upper()))
    with pytest.raises(SuiteError, match=f"{name}: its SHA-256 is {sha256(path)}, but the suite needs 00ff"):
        store.prepare(given(path, kind=kind, sha256="00ff"))


def test_tables_of_the_shared_folder_are_unpacked(world, tmp_path, store, monkeypatch):
    folder = tmp_path / "shared" / "data"
    (folder / "vectors").mkdir(parents=True)
    (folder / "unpack.py").write_text(UNPACK)
    words = np.frombuffer("\n".join(world.source.words).encode(), np.uint8)
    np.savez(folder / "vectors" / "en.npz", words=words, rows=world.source.rows)
    wanted = Input(kind="table", place="shared", name="en", base=tmp_path, max_words=30)
    with monkeypatch.context() as patched:
        patched.delenv("BILEX_SHARED", raising=False)
        with pytest.raises(SuiteError, match="BILEX_SHARED is not set; set it to the folder"):
            wanted.find()
    monkeypatch.setenv("BILEX_SHARED", str(tmp_path / "shared"))
    table = EmbeddingTable.read(store.prepare(wanted).path)
    assert table.words == world.source.words[:30]
    np.testing.assert_array_equal(table.rows, world.source.rows[:30])
    with pytest.raises(SuiteError, match=r"fr.npz: there is no such file; set BILEX_SHARED"):
        Input(kind="table", place="shared", name="fr", base=tmp_path).find()


def test_files_of_muse_that_are_missing_can_be_fetched(tmp_path):
    direction = Suite.read("paper-table-1").directions["en-es"]
    places = [Path("wiki.en.vec"), Path("wiki.es.vec"), Path("en-es.0-5000.txt"), Path("en-es.5000-6500.txt")]
    for wanted, name in zip(direction.inputs(), places, strict=True):
        with pytest.raises(
            SuiteError, match=f"muse/{name}: there is no such file; fetch it with bilex data fetch muse en-es"
        ):
            wanted.find()
        (tmp_path / "data" / "muse" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / "muse" / name).touch()
        assert wanted.find() == tmp_path / "data" / "muse" / name


def test_variables(monkeypatch, tmp_path):
    monkeypatch.setenv("SOMEWHERE", "there")
    assert expand("${SOMEWHERE}/x/${SOMEWHERE}.vec") == "there/x/there.vec"
    assert expand("${BILEX_DATA}/x") == f"{tmp_path}/data/x"
    assert expand("a $b {c}") == "a $b {c}"
    with pytest.raises(SuiteError, match="NOWHERE is not set"):
        expand("${NOWHERE}/x")


def test_some_pairs_are_of_different_words_in_both_tables(world):
    drawn = some_pairs(world.train, world.source, world.target, 20, rng_seed=1)
    assert len(drawn) == len(drawn.sources) == 20
    assert set(drawn) <= set(world.train)
    assert drawn == some_pairs(world.train, world.source, world.target, 20, rng_seed=1)
    assert drawn != some_pairs(world.train, world.source, world.target, 20, rng_seed=2)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_a_name_that_no_file_can_have(tmp_path, name):
    with pytest.raises(SuiteError, match="there is no such file; correct the path in the suite"):
        Input(kind="table", place="file", name=name, base=tmp_path).find()


def test_identical_words_are_a_dictionary(tmp_path, store):
    """In the order of the source table, cut to a range; a word that a reader takes for a comment is left out."""
    tables = {"x": ["d", "#c", "b", "only x", "a"], "z": ["a", "b", "#c", "d", "only z"]}
    for name, words in tables.items():
        EmbeddingTable([word.replace(" ", "_") for word in words], np.eye(5, dtype=np.float32)).write(
            tmp_path / f"{name}.safetensors"
        )
    sides = tuple(given(tmp_path / f"{name}.safetensors") for name in tables)
    ready = [
        store.prepare(Input(kind="dictionary", place="identical", name=name, base=tmp_path, tables=sides))
        for name in ("0-2", "2-9")
    ]
    assert [list(Lexicon.read(one.path)) for one in ready] == [[("d", "d"), ("b", "b")], [("a", "a")]]
    assert ready[0].sha256 == sha256(ready[0].path)
    shorter = (sides[0], replace(sides[1], max_words=1))
    ready = store.prepare(Input(kind="dictionary", place="identical", name="0-2", base=tmp_path, tables=shorter))
    assert list(Lexicon.read(ready.path)) == [("a", "a")]
    (tmp_path / "z.safetensors").unlink()
    with pytest.raises(SuiteError, match="there is no such file"):
        Input(kind="dictionary", place="identical", name="0-2", base=tmp_path, tables=sides).find()
