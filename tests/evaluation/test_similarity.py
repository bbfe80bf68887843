import pytest
import torch
from scipy.stats import spearmanr

from bilex.errors import LexiconError, SettingsError
from bilex.evaluation.similarity import Judgement, read_judgements, similarity
from bilex.table import EmbeddingTable

TABLE = EmbeddingTable(["a", "b", "c", "d"], torch.tensor([[1.0, 0], [2, 1], [1, 1], [0, 3]]).numpy())
SHARED = (TABLE, torch.from_numpy(TABLE.rows))
# Angles from a: b 27, c 45, d 90; people here find c nearest.
JUDGEMENTS = [Judgement("a", "b", 5.0), Judgement("a", "c", 9.0), Judgement("a", "d", 1.0), Judgement("a", "x", 2.0)]


def read(tmp_path, text, **more):
    path = tmp_path / "judgements.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_judgements(path, **more)


def test_by_hand():
    found = similarity(JUDGEMENTS, SHARED, SHARED)
    expected = spearmanr([3, 2, 1], [5, 9, 1])  # only the order counts
    assert found.spearman == pytest.approx(expected.statistic) == 0.5
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.covered, found.pairs) == (3, 4)
    assert found.to_json() == {
        "spearman": found.spearman,
        "p_value": found.p_value,
        "covered": 3,
        "pairs": 4,
    }


@pytest.mark.parametrize("scores", [(1.0, 1 + 1e-12, 1 + 2e-12), (1e300, 2e300, 3e300), (1e-320, 2e-320, 3e-320)])
def test_scores_that_single_precision_cannot_tell_apart(scores):
    judged = [Judgement("a", word, score) for word, score in zip("dcb", scores, strict=True)]
    assert similarity(judged, SHARED, SHARED).spearman == pytest.approx(1)


def test_each_word_is_looked_up_on_its_own_side(world, alignment):
    pairs = [Judgement(*pair, 10.0) for pair in list(world.test)[:20]]
    pairs += [Judgement(a, b, 0.0) for (a, _), (_, b) in zip(list(world.test), list(world.test)[30:], strict=False)]
    assert alignment.similarity(pairs).spearman > 0.5
    turned = [Judgement(j.second, j.first, j.score) for j in pairs]
    assert alignment.similarity(turned, ("target", "source")) == alignment.similarity(pairs)
    with pytest.raises(LexiconError, match="0 of"):
        alignment.similarity(turned)


def test_in_any_form(alignment, tmp_path):
    triples = [("s1", "s2", 3), ("s1", "s3", 1.5), ("s4", "s2", 2), ("s4", "s5", 9)]
    (tmp_path / "j.txt").write_text("".join("{} {} {}\n".format(*triple) for triple in triples))
    expected = alignment.similarity([Judgement(*triple) for triple in triples], ("source", "source"))
    for given in (triples, iter(triples), tmp_path / "j.txt", str(tmp_path / "j.txt")):
        assert alignment.similarity(given, "source") == expected
    for wrong in ("a", ("a", "b"), ("a", "b", "3"), ("a", "b", float("nan")), 5):
        with pytest.raises(LexiconError, match=r"judgement 2: found .*; needed two words and a number"):
            alignment.similarity([triples[0], wrong])
    with pytest.raises(SettingsError, match="sides='sourc': needed 'source', 'target', or two of these"):
        alignment.similarity(triples, "sourc")


def test_too_few_covered():
    with pytest.raises(LexiconError, match="2 of 3 word pairs have vectors for both words; at least 3"):
        similarity([*JUDGEMENTS[:2], JUDGEMENTS[3]], SHARED, SHARED)


def test_judgements_that_are_all_equal_have_no_order():
    """Refused, or a number: never a NaN, which is no JSON, nor a warning from below."""
    equal = [Judgement(j.first, j.second, 1.0) for j in JUDGEMENTS]
    with pytest.raises(LexiconError):
        similarity(equal, SHARED, SHARED)
    same = [Judgement(j.first, j.first, j.score) for j in JUDGEMENTS]
    with pytest.raises(LexiconError, match="have the same cosine"):
        similarity(same, SHARED, SHARED)


@pytest.mark.parametrize(
    "text", ["a\tb\t1\nc\td\t2.5\n", "# head\na b 1\n\n  c d 2.5", "a\tb\t1\r\nc\td\t2.5\r\n", "\ufeffa b 1\nc d 2.5"]
)
def test_reading(tmp_path, text):
    assert read(tmp_path, text) == [Judgement("a", "b", 1.0), Judgement("c", "d", 2.5)]


def test_words_with_spaces_need_tabs(tmp_path):
    assert read(tmp_path, "New York\tcity\t7\textra\n") == [Judgement("New York", "city", 7.0)]


@pytest.mark.parametrize("bad", ["a b", "a b c", "a\tb", "a b nan", "a b -inf", "word1\tword2\tscore"])
def test_a_bad_line_is_named(tmp_path, bad):
    with pytest.raises(LexiconError, match=r"judgements\.txt:3: found .*needed two words and a number"):
        read(tmp_path, f"# head\na b 1\n{bad}\nc d 2\n")


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(LexiconError, match="found no word pairs"):
        read(tmp_path, "# nothing\n")


def test_another_encoding(tmp_path):
    latin = "é\tb\t1\n".encode("latin-1")
    assert read(tmp_path, latin, encoding="latin-1") == [Judgement("é", "b", 1.0)]
    with pytest.raises(LexiconError, match=r"judgements\.txt.*(utf-8|UTF-8)"):
        read(tmp_path, latin)
