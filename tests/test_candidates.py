import numpy as np
import pytest
import torch

from bilex import Candidate, EmbeddingTable, Nearest, SettingsError, TableError, UnknownWordError

ROWS = np.array([[1, 0], [3, 3], [0, 2], [-1, 0]], np.float32)
TABLE = EmbeddingTable(["east", "northeast", "north", "west"], ROWS)


def test_by_hand():
    half = pytest.approx(2**-0.5)
    assert TABLE.most_similar("north", 2) == [("northeast", half), ("east", 0.0)]
    assert TABLE.most_similar([5, 0], 2) == [("east", 1.0), ("northeast", half)]
    assert isinstance(TABLE.most_similar("north")[0], Candidate)
    assert len(TABLE.most_similar("north", 99)) == 3


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_lengths_do_not_count(scale):
    scaled = EmbeddingTable(TABLE.words, ROWS * np.array([[scale], [1], [1 / scale], [1]], np.float32))
    assert [word for word, _ in scaled.most_similar("north")] == ["northeast", "east", "west"]


def test_the_same_as_gensim(world):
    keyed = pytest.importorskip("gensim.models").KeyedVectors(world.source.dim)
    keyed.add_vectors(world.source.words, world.source.rows)
    for query in ("s3", world.source["s4"] + world.source["s5"]):
        ours, theirs = world.source.most_similar(query, topn=7), keyed.most_similar(query, topn=7)
        assert [word for word, _ in ours] == [word for word, _ in theirs]
        assert [cosine for _, cosine in ours] == pytest.approx([cosine for _, cosine in theirs], abs=1e-6)


def test_a_word_twice_in_the_table_is_a_neighbour_of_itself():
    twice = EmbeddingTable(["a", "b", "a"], np.array([[1, 0], [0, 1], [1, 0.1]], np.float32))
    assert [word for word, _ in twice.most_similar("a")] == ["a", "b"]


def test_words_through_subwords():
    table = EmbeddingTable(TABLE.words, ROWS, subwords=lambda _: np.array([0, 1], np.float32))
    assert table.most_similar("nord", 1) == [("north", 1.0)]


@pytest.mark.parametrize(
    ("query", "n", "error", "message"),
    [
        ("south", 1, UnknownWordError, "'south' is not among the 4 words of the table"),
        ("north", 0, SettingsError, "n=0: needed a whole number of at least 1"),
        (["north", "west"], 1, TableError, r"found \['north', 'west'\].*; needed a word, or a vector of 2 numbers"),
        ([1, 2, 3], 1, TableError, r"of shape \(3,\); needed a word, or a vector of 2 numbers"),
        ([[1, 2]], 1, TableError, r"of shape \(1, 2\)"),
        (5, 1, TableError, r"found 5 \(int\)"),
        ([0.0, 0.0], 1, TableError, "the vector given has only zeros"),
        ([1e300, 1.0], 1, TableError, "has only zeros"),
        ([np.nan, 1.0], 1, TableError, "has only zeros"),
    ],
)
def test_refusals(query, n, error, message):
    with pytest.raises(error, match=message):
        TABLE.most_similar(query, n)


def test_a_word_without_a_direction():
    with pytest.raises(TableError, match="'b' has only zeros"):
        EmbeddingTable(["a", "b"], np.array([[1, 0], [0, 0]], np.float32)).most_similar("b")


class TestShared:
    """Neighbours in the shared space of an alignment."""

    @pytest.mark.parametrize("direction", ["forward", "backward"])
    def test_across_languages_it_is_plain_retrieval(self, alignment, direction):
        word, sides = ("s7", ("source", "target")) if direction == "forward" else ("t7", ("target", "source"))
        expected = alignment.translate(word, 6, direction=direction, retrieval=Nearest()).candidates
        found = alignment.most_similar(word, 6, sides=sides)
        assert [word for word, _ in found] == [word for word, _ in expected]
        assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in expected], abs=1e-6)
        assert alignment.most_similar(word, topn=6, sides=sides) == found

    def test_a_vector_is_of_the_first_side(self, alignment, world):
        assert alignment.most_similar(world.source["s7"]) == alignment.most_similar("s7")
        assert alignment.most_similar(torch.from_numpy(world.target["t7"]), 1, sides="target")[0].word == "t7"

    @pytest.mark.parametrize("side", ["source", "target"])
    def test_within_a_language(self, alignment, side):
        rows = getattr(alignment, f"{side}_rows")
        cosines = rows @ rows[7]
        cosines[7] = -2
        found = alignment.most_similar(f"{side[0]}7", 5, sides=side)
        assert found == alignment.most_similar(f"{side[0]}7", 5, sides=(side, side))
        assert [word for word, _ in found] == [f"{side[0]}{row}" for row in cosines.topk(5).indices.tolist()]

    def test_unknown_words_and_sides(self, alignment):
        with pytest.raises(KeyError, match="'t7' is not among the 160 words"):
            alignment.most_similar("t7")
        for sides in ("sorce", ("source", "goal"), ("source",)):
            with pytest.raises(SettingsError, match="needed 'source', 'target', or two of these"):
                alignment.most_similar("s7", sides=sides)
