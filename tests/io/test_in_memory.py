import collections
import warnings

import numpy as np
import pytest
import torch

from bilex import EmbeddingTable, Entry, Lexicon, LexiconError, SettingsError, TableError

WORDS = ["the", "of", "and"]
ROWS = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
PAIRS = (("cat", "chat"), ("cat", "chatte"), ("dog", "chien"))


class TestTables:
    @pytest.mark.parametrize(
        "given",
        [
            pytest.param((WORDS, ROWS), id="words and rows"),
            pytest.param([tuple(WORDS), ROWS.tolist()], id="lists"),
            pytest.param((np.array(WORDS), ROWS.astype(np.float64)), id="arrays"),
            pytest.param((iter(WORDS), ROWS.astype(np.int64)), id="whole numbers"),
            pytest.param((WORDS, torch.nn.Parameter(torch.from_numpy(ROWS))), id="a tensor with gradients"),
            pytest.param((WORDS, torch.from_numpy(ROWS).bfloat16()), id="a tensor of another type"),
            pytest.param(dict(zip(WORDS, ROWS, strict=True)), id="a dict of arrays"),
            pytest.param(dict(zip(WORDS, ROWS.tolist(), strict=True)), id="a dict of lists"),
        ],
    )
    def test_in_any_form(self, given):
        table = EmbeddingTable.of(given)
        assert table.words == WORDS
        assert table.rows.tolist() == ROWS.tolist()
        assert table.rows.dtype == np.float32
        assert table.origin is None

    def test_a_table_stays_as_it_is(self):
        table = EmbeddingTable(WORDS, ROWS)
        assert EmbeddingTable.of(table) is table

    def test_files(self, tmp_path):
        EmbeddingTable(WORDS, ROWS).write(tmp_path / "t.vec")
        for path in (tmp_path / "t.vec", str(tmp_path / "t.vec")):
            assert EmbeddingTable.of(path).words == WORDS
            assert EmbeddingTable.of(path).origin == tmp_path / "t.vec"

    def test_gensim(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            models = pytest.importorskip("gensim.models")
        keyed = models.KeyedVectors(2)
        keyed.add_vectors(WORDS, ROWS)
        model = models.Word2Vec([WORDS] * 5, vector_size=3, min_count=1, epochs=1, workers=1)
        assert EmbeddingTable.of(keyed).rows.tolist() == ROWS.tolist()
        assert EmbeddingTable.of(model).words == model.wv.index_to_key == EmbeddingTable.from_gensim(model).words

    def test_a_single_word(self):
        assert EmbeddingTable.of(("school", [[1.0, 2.0]])).words == ["school"]

    def test_rows_without_use_are_counted(self):
        table = EmbeddingTable.of((["a", "b", "a", "c"], [[1.0, 2], [0, 0], [3, 4], [5, np.inf]]))
        assert table.words == ["a"]
        assert [table.report.count(kind) for kind in ("zero", "duplicate", "not_finite")] == [1, 1, 1]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (
                5,
                r"found 5 \(int\); needed an EmbeddingTable, the path of a file, KeyedVectors .*, \(words, rows\)",
            ),
            (None, "found None; needed an EmbeddingTable"),
            (ROWS, "found a value of type ndarray; needed an EmbeddingTable"),
            ((WORDS, ROWS, ROWS), "needed an EmbeddingTable"),
            ((WORDS, ROWS[:2]), "the vectors given: 3 words and 2 rows; needed one word for each row"),
            ((WORDS[:2], ROWS), "2 words and 3 rows"),
            ((WORDS, [[1, 2], [3], [5, 6]]), "needed numbers .*inhomogeneous"),
            ((WORDS, [["a"], ["b"], ["c"]]), "needed a matrix of floating-point numbers"),
            ((WORDS, ROWS[:, 0]), r"of shape \(3,\); needed a matrix"),
            ((["a\nb", "b", "c"], ROWS), "row 1: the word .* has a line end"),
            ({}, "needed a matrix"),
        ],
    )
    def test_refusals(self, given, message):
        with pytest.raises(TableError, match=message):
            EmbeddingTable.of(given)

    def test_words_that_are_none(self):
        with pytest.raises(SettingsError, match=r"the words of the table: number 2 is 2 \(int\)"):
            EmbeddingTable.of((["a", 2, "c"], ROWS))

    def test_a_string_is_no_list_of_words(self):
        with pytest.raises(TableError, match="words are the string 'abc'; needed a list of words"):
            EmbeddingTable("abc", ROWS)
        with pytest.raises(TableError, match=r"found 'x.kv' \(str\); needed KeyedVectors"):
            EmbeddingTable.from_gensim("x.kv")


class TestPairs:
    @pytest.mark.parametrize(
        "given",
        [
            pytest.param(PAIRS, id="tuples"),
            pytest.param([list(pair) for pair in PAIRS], id="lists"),
            pytest.param((pair for pair in PAIRS), id="a generator"),
            pytest.param(np.array(PAIRS), id="an array"),
            pytest.param(zip(*zip(*PAIRS, strict=True), strict=True), id="columns zipped"),
            pytest.param({"cat": ["chat", "chatte"], "dog": "chien"}, id="a dict"),
            pytest.param(collections.OrderedDict(cat=("chat", "chatte"), dog=["chien"]), id="another mapping"),
            pytest.param([Entry(*pair, 0.5, 1) for pair in PAIRS], id="an induced lexicon"),
        ],
    )
    @pytest.mark.parametrize("make", [Lexicon.of, Lexicon.from_pairs])
    def test_in_any_form(self, given, make):
        if isinstance(given, collections.abc.Iterator):
            given = iter(PAIRS)  # one that the other case has not used up
        assert make(given).pairs == PAIRS

    def test_a_lexicon_stays_as_it_is(self):
        lexicon = Lexicon.from_pairs(PAIRS)
        assert Lexicon.of(lexicon) is lexicon

    def test_files(self, tmp_path):
        Lexicon.from_pairs(PAIRS).write(tmp_path / "d.tsv")
        for path in (tmp_path / "d.tsv", str(tmp_path / "d.tsv")):
            assert Lexicon.of(path).pairs == PAIRS
            assert Lexicon.of(path).origin == tmp_path / "d.tsv"

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (
                "en-fr.tsv",
                r"found 'en-fr.tsv' \(str\); needed pairs such as .*, or a dict .*; a file is read by Lexicon",
            ),
            (5, r"found 5 \(int\); needed pairs"),
            (None, "found None; needed pairs"),
            (("dog", "chien"), r"pair 1: found 'dog' \(str\); needed two words"),
            (["ab", "cd"], r"pair 1: found 'ab' \(str\)"),
            ([("dog", "chien"), ("cat", "chat", "chatte")], r"pair 2: found \('cat', 'chat', 'chatte'\)"),
            ([("dog", None)], r"pair 1: found \('dog', None\)"),
            ([{"dog", "chien"}], "pair 1: found a value of type set"),
            (np.array([[1, 2]]), r"pair 1: found \[1, 2\]"),
            (np.array(5), "needed pairs"),
            ([("dog", "")], "pair 1: found an empty word"),
            ({"dog": ["chien", " "]}, "pair 2: found an empty word"),
        ],
    )
    def test_refusals(self, given, message):
        with pytest.raises(LexiconError, match=message):
            Lexicon.from_pairs(given)

    @pytest.mark.parametrize(
        ("given", "message"),
        [({"dog": 5}, "the translations of 'dog': found 5"), ({"dog": ["chien", 5]}, "of 'dog': number 2 is 5")],
    )
    def test_translations_that_are_none(self, given, message):
        with pytest.raises(SettingsError, match=message):
            Lexicon.of(given)

    def test_columns_of_a_frame_are_no_pairs(self):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"source": ["dog", "cat"], "target": ["chien", "chat"]})
        with pytest.raises(LexiconError, match="found a value of type Series; needed two words"):
            Lexicon.of(frame)
        assert Lexicon.of(frame.rows()).pairs == (("dog", "chien"), ("cat", "chat"))

    def test_what_is_no_tuple_of_pairs(self):
        with pytest.raises(LexiconError, match=r"pairs are .* \(list\); needed a tuple; Lexicon.of accepts any pairs"):
            Lexicon([("dog", "chien")])
