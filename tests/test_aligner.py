import numpy as np
import pytest

from bilex import Aligner, AlignmentError, LexiconError, Nearest, SettingsError, TableError, align
from bilex.methods.ridge import Ridge


@pytest.fixture(scope="module")
def rows(world):
    pairs = [(int(s[1:]), int(t[1:])) for s, t in world.train]
    return world.source.rows, world.target.rows, np.array(pairs)


def test_the_same_as_align(world, alignment, rows):
    aligner = Aligner("procrustes").fit(*rows)
    np.testing.assert_allclose(aligner.transform(rows[0]), alignment.source_rows.numpy(), atol=1e-6)
    np.testing.assert_allclose(aligner.transform(rows[1], "target"), alignment.target_rows.numpy(), atol=1e-6)
    words = [f"t{row}" for row in aligner.predict(rows[0][:20])]
    assert words == [t.candidates[0].word for t in alignment.translate([f"s{i}" for i in range(20)], 1)]
    assert aligner.predict(rows[0][:20], 3).shape == (20, 3)


def test_tables_and_lexicons(world, alignment):
    aligner = Aligner("procrustes", retrieval=Nearest()).fit(world.source, world.target, world.train)
    assert aligner.alignment_.evaluate(world.test).scores == alignment.evaluate(world.test).scores


def test_tables_and_lexicons_in_any_form(world, alignment, tmp_path):
    world.source.write(tmp_path / "s.safetensors")
    target = dict(zip(world.target.words, world.target.rows, strict=True))
    for pairs in (list(world.train), world.train.targets_of()):
        aligner = Aligner("procrustes").fit(tmp_path / "s.safetensors", target, pairs)
        assert aligner.alignment_.evaluate(world.test) == alignment.evaluate(world.test)
    words = [f"t{row}" for row in aligner.predict(tmp_path / "s.safetensors")[:9]]
    assert words == [t.words[0] for t in alignment.translate(world.source.words[:9], 1)]


def test_settings(world, rows):
    by_name = Aligner("ridge", settings={"penalty": 3.0}).fit(*rows)
    by_value = Aligner(Ridge(penalty=3.0)).fit(*rows)
    np.testing.assert_array_equal(by_name.transform(rows[0]), by_value.transform(rows[0]))
    changed = Aligner(Ridge(), settings={"penalty": 3.0}).fit(*rows)
    np.testing.assert_array_equal(changed.transform(rows[0]), by_value.transform(rows[0]))


def test_parameters():
    aligner = Aligner("ridge", rng_seed=3)
    assert Aligner(**aligner.get_params()).get_params() == aligner.get_params()
    assert aligner.set_params(method="cca").method == "cca"
    assert "method='cca'" in repr(aligner)
    with pytest.raises(SettingsError, match="did you mean 'method'"):
        aligner.set_params(metod="cca")


def test_mistakes(rows):
    with pytest.raises(AlignmentError, match="call fit"):
        Aligner().predict(rows[0])
    with pytest.raises(LexiconError, match=r"shape \(3,\)"):
        Aligner("procrustes").fit(rows[0], rows[1], [1, 2, 3])
    with pytest.raises(LexiconError, match="X has 160 rows"):
        Aligner("procrustes").fit(rows[0], rows[1], [[0, 0], [200, 0]])
    with pytest.raises(TableError, match=r"found \[\['a'\]\].*; needed a matrix of numbers .n, d., or a table"):
        Aligner().fit([["a"]], rows[1], rows[2])
    with pytest.raises(AlignmentError, match="needs a dictionary"):
        Aligner("procrustes").fit(rows[0], rows[1])


def test_many_rows_are_no_reason_to_doubt_their_order(rows):
    """Numbers as words are in the order of the alphabet, nearly; that tells nothing."""
    many = np.random.default_rng(0).standard_normal((2000, 4))
    made = Aligner("self_learning", settings={"base": "procrustes", "induction.max_rank": 500, "rounds": 1})
    made.fit(many, many, np.stack([np.arange(200)] * 2, 1))
    assert made.predict(many[:5]).tolist() == list(range(5))


def test_in_a_pipeline(world, rows):
    pipeline = pytest.importorskip("sklearn.pipeline", reason="scikit-learn is not installed")
    from sklearn.base import clone
    from sklearn.preprocessing import FunctionTransformer

    made = pipeline.Pipeline(
        [("double", FunctionTransformer(lambda x: 2 * x)), ("aligner", clone(Aligner("procrustes")))]
    )
    made.fit(rows[0], rows[1], aligner__pairs=rows[2])
    plain = align(world.source, world.target, world.train, method="procrustes")
    np.testing.assert_allclose(made.transform(rows[0]), plain.source_rows.numpy(), atol=1e-5)
