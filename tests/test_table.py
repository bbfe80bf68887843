import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import bilex.errors
from bilex.errors import SettingsError, TableError, UnknownWordError
from bilex.table import EmbeddingTable, ReadReport

WORDS = ["the", "of", "the", "and"]
ROWS = np.arange(1, 13, dtype=np.float32).reshape(4, 3)


def test_a_table_knows_its_words():
    table = EmbeddingTable(WORDS, ROWS)
    assert (len(table), table.dim) == (4, 3)
    assert table.index == {"the": 0, "of": 1, "and": 3}
    assert "of" in table
    assert "Of" not in table
    assert table.vector("the").tolist() == [1, 2, 3]
    assert table.index is table.index
    assert list(table) == WORDS


def test_vectors_by_word():
    table = EmbeddingTable(WORDS, ROWS)
    assert table["of"].tolist() == [4, 5, 6]
    assert np.shares_memory(table["of"], ROWS)
    assert table[["of", "the", "of"]].tolist() == ROWS[[1, 0, 1]].tolist()
    assert table[[]].shape == (0, 3)
    with pytest.raises(KeyError) as caught:
        table["Of"]
    assert isinstance(caught.value, UnknownWordError)
    assert str(caught.value).startswith("'Of' is not among the 4 words of the table; check letter case")
    with pytest.raises(SettingsError, match=r"found 1 \(int\); needed a string"):
        table[1]


def test_head_shares_rows():
    table = EmbeddingTable(WORDS, ROWS)
    head = table.head(2)
    assert (head.words, head.index) == (["the", "of"], {"the": 0, "of": 1})
    assert np.shares_memory(head.rows, table.rows)
    assert len(table.head(99)) == 4


@pytest.mark.parametrize(
    ("words", "rows", "message"),
    [
        (WORDS, ROWS[:3], "4 words and 3 rows; needed one word for each row"),
        (WORDS, ROWS.astype(np.float64), "rows are float64 of shape .4, 3.; needed a float32 matrix"),
        (WORDS, ROWS[:, 0], "needed a float32 matrix"),
        ([], ROWS[:0], "at least one row"),
        (WORDS, np.asfortranarray(ROWS), "not row-major; pass np.ascontiguousarray"),
    ],
)
def test_words_and_rows_have_to_fit(words, rows, message):
    with pytest.raises(TableError, match=message):
        EmbeddingTable(words, rows)


def test_unknown_words_go_through_subwords():
    table = EmbeddingTable(WORDS, ROWS, subwords=lambda word: np.full(3, len(word), np.float32))
    assert table.vector("of").tolist() == [4, 5, 6]
    assert table.vector("unknown").tolist() == [7, 7, 7]
    with pytest.raises(TableError, match="'' is not among"):
        table.vector("")
    with pytest.raises(TableError, match=r"'Of' is not among the 4 words of x\.vec; check letter case"):
        EmbeddingTable(WORDS, ROWS, origin=Path("x.vec")).vector("Of")


def test_writes_in_half_the_precision(tmp_path):
    made = EmbeddingTable(WORDS[1:], ROWS[1:] / 3)
    made.write(tmp_path / "t.npz", dtype="float16")
    found = EmbeddingTable.read(tmp_path / "t.npz").rows
    assert found.tolist() == made.rows.astype(np.float16).tolist() != made.rows.tolist()


def test_reads_and_writes(tmp_path):
    EmbeddingTable(WORDS, ROWS).write(tmp_path / "t.vec")
    table = EmbeddingTable.read(str(tmp_path / "t.vec"))
    assert table.words == ["the", "of", "and"]
    assert table.origin == tmp_path / "t.vec"
    assert isinstance(table.report, ReadReport)
    assert table.report.count("duplicate") == 1
    assert table.rows.tolist() == ROWS[[0, 1, 3]].tolist()
    with pytest.raises(TableError, match="line 4: duplicate: 'the', first on line 2"):
        EmbeddingTable.read(tmp_path / "t.vec", strict=True)
    assert EmbeddingTable.read(tmp_path / "t.vec", max_words=1).words == ["the"]


@pytest.mark.parametrize("name", ["t.vec", "t.vec.gz", "t.bin", "t.npz", "t.safetensors"])
def test_torch_takes_the_rows_without_a_warning(tmp_path, name):
    EmbeddingTable(WORDS[1:], ROWS[1:]).write(tmp_path / name)
    tensor = torch.from_numpy(EmbeddingTable.read(tmp_path / name).rows)
    assert tensor.tolist() == ROWS[1:].tolist()


def test_words_of_a_matrix_may_be_named(tmp_path):
    np.save(tmp_path / "m.npy", ROWS[:2])
    (tmp_path / "w").write_text("a\nb\n")
    assert EmbeddingTable.read(tmp_path / "m.npy", words=tmp_path / "w").words == ["a", "b"]


def test_importing_is_cheap():
    code = (
        "import sys, bilex.table, bilex.io.open, bilex.io.write; print({'torch','gensim','polars'} & set(sys.modules))"
    )
    source = Path(bilex.errors.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(source)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
