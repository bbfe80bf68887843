import dataclasses
import inspect
import json
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from bilex import Alignment, Lexicon, Method, align, all_methods, get_method
from bilex.errors import AlignmentError, LexiconError, SettingsError, TableError
from bilex.fitting.inputs import collect
from bilex.mapping import LinearMapping
from bilex.storage.files import sha256
from bilex.table import EmbeddingTable
from bilex.training.trace import Trace


@pytest.fixture
def spy():
    """A method that chooses on dev, and the list of what each of its fits was given."""
    all_methods()  # found once for all: this one is not to be among them
    seen = []

    @dataclass(frozen=True, kw_only=True)
    class Spy(Method):
        """Looks."""

        name = "spy"
        paper = "none (2024)"
        uses_dev = True

        def fit(self, x, z, pairs, **given):
            seen.append({"x": x, "z": z, "pairs": pairs, **given})
            given["trace"](epoch=1, draw=float(torch.rand(1, generator=given["generator"])))
            return LinearMapping(source_matrix=torch.eye(x.shape[1]))

    return Spy(), seen


def same(one, other):
    return torch.equal(one.source_rows, other.source_rows) and torch.equal(one.target_rows, other.target_rows)


def rows_of(pairs):
    return set(pairs[:, 0].tolist())


def test_the_same_inputs_give_the_same_bits(world, alignment):
    again = align(world.source, world.target, world.train, method="procrustes")
    assert same(alignment, again)
    assert alignment.translate(["s3", "s90"]) == again.translate(["s3", "s90"])


def test_the_tables_are_left_as_they_are(world):
    before = world.source.rows.copy(), world.target.rows.copy()
    align(world.source, world.target, world.train, method="procrustes").evaluate(world.test)
    assert np.array_equal(world.source.rows, before[0])
    assert np.array_equal(world.target.rows, before[1])


def test_a_method_by_name_or_as_a_value(world):
    kind = all_methods()["procrustes"]
    by_value = align(world.source, world.target, world.train, method=kind(normalize=("unit",)))
    assert not same(by_value, align(world.source, world.target, world.train, method="procrustes"))
    assert by_value.provenance["inputs"]["settings"]["normalize"] == ("unit",)


class TestInputs:
    """Tables and dictionaries in the forms in which people have them."""

    def test_files(self, world, alignment, tmp_path):
        paths = [tmp_path / name for name in ("s.safetensors", "t.safetensors", "d.tsv")]
        for path, written in zip(paths, world, strict=False):
            written.write(path)
        for given in (paths, map(str, paths)):
            made = align(*given, method="procrustes")
            assert same(made, alignment)
        assert made.provenance["inputs"]["train"]["sha256"] == sha256(paths[2])

    def test_pairs_and_dicts(self, world, alignment):
        for train in (list(world.train), world.train.targets_of(), dict(world.train)):
            assert same(align(world.source, world.target, train, method="procrustes"), alignment)
        with pytest.raises(LexiconError, match="pair 1: found 's0'"):
            align(world.source, world.target, ("s0", "t4"))

    def test_words_and_rows(self, world, alignment):
        source = (world.source.words, world.source.rows)
        target = dict(zip(world.target.words, world.target.rows, strict=True))
        assert same(align(source, target, world.train, method="procrustes"), alignment)
        with pytest.raises(TableError, match="found a value of type ndarray; needed an EmbeddingTable, the path"):
            align(world.source.rows, target, world.train)

    def test_gensim(self, world, alignment):
        models = pytest.importorskip("gensim.models")
        tables = [models.KeyedVectors(table.dim) for table in world[:2]]
        for keyed, table in zip(tables, world, strict=False):
            keyed.add_vectors(table.words, table.rows)
        assert same(align(*tables, world.train, method="procrustes"), alignment)

    def test_dev(self, world, spy):
        align(world.source, world.target, world.train, dev=dict(world.test), method=spy[0])
        assert len(spy[1][0]["dev"]) == len(world.test)


class TestSettings:
    def test_by_keyword(self, world):
        made = align(world.source, world.target, world.train, method="ridge", penalty=3.0, normalize=["unit"])
        expected = get_method("ridge", {"penalty": "3", "normalize": "unit"})
        assert same(made, align(world.source, world.target, world.train, method=expected))
        assert made.provenance["inputs"]["settings"] == {"normalize": ("unit",), "penalty": 3.0}

    def test_of_settings(self, world):
        made = align(
            world.source, world.target, world.train, method="self_learning", rounds=1, base="cca", induction={"k": 3}
        )
        settings = made.provenance["inputs"]["settings"]
        assert (settings["rounds"], settings["base"]["method"], settings["induction"]["k"]) == (1, "cca", 3)

    def test_change_those_of_a_method_at_hand(self, world):
        ridge = get_method("ridge", {"penalty": 3.0, "normalize": "unit"})
        made = align(world.source, world.target, world.train, method=ridge, penalty=5)
        assert made.provenance["inputs"]["settings"] == {"normalize": ("unit",), "penalty": 5.0}
        assert ridge.penalty == 3.0

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"method": "rapo", "epoch": 3}, r"method rapo has no setting 'epoch' \(did you mean 'epochs'\?\); it has"),
            ({"method": "rapo", "rng_sed": 3}, r"no setting 'rng_sed' \(did you mean 'rng_seed'\?\)"),
            ({"method": "rapo", "epochs": 3.5}, "method rapo: epochs=3.5: needed a whole number"),
            ({"method": "rapo", "test": 1}, "method rapo has no setting 'test'"),
            ({"method": 5}, r"method: found 5 \(int\); needed a name, such as 'rapo', or a method"),
            ({"method": Method}, "needed a name, such as 'rapo', or a method"),
        ],
    )
    def test_mistakes_are_found_before_anything_is_read(self, given, message):
        with pytest.raises(SettingsError, match=message):
            align("no such file", "no such file", "no such file", **given)

    def test_mistakes_about_the_default_without_a_dictionary_are_found_as_early(self):
        with pytest.raises(SettingsError, match="rapo_unsupervised has no setting 'epochs'"):
            align("no such file", "no such file", epochs=3)

    def test_none_is_named_as_a_parameter_of_align(self):
        own = set(inspect.signature(align).parameters)
        for name, method in all_methods().items():
            taken = own & {field.name for field in dataclasses.fields(method)}
            assert not taken, f"{name}: align(..., {taken}=...) does not reach the method"


def test_nothing_takes_a_test_lexicon():
    for function in (align, Method.fit):
        assert not [name for name in inspect.signature(function).parameters if "test" in name]
    assert set(inspect.signature(Method.fit).parameters) == {"self", "x", "z", "pairs", "dev", "generator", "trace"}


class TestDev:
    @pytest.fixture
    def train(self, world):
        """Half of the sources have two translations, as in a real dictionary, and one pair is not covered."""
        more = [(source, f"t{i}") for i, (source, _) in enumerate(world.train) if i % 2]
        return Lexicon.from_pairs([*world.train, *more, ("house", "maison")])

    def test_is_held_out_by_source_word(self, world, train, spy):
        align(world.source, world.target, train, method=spy[0])
        (seen,) = spy[1]
        kept, held = rows_of(seen["pairs"]), rows_of(seen["dev"])
        assert not kept & held
        assert len(kept) + len(held) == len(world.train)
        assert len(held) == round(0.1 * len(world.train))

    def test_is_all_that_fit_sees(self, world, train, spy):
        align(world.source, world.target, train, method=spy[0])
        (seen,) = spy[1]
        assert seen.keys() == {"x", "z", "pairs", "dev", "generator", "trace"}
        known = {tuple(pair) for pair in train.index(world.source, world.target).pairs.tolist()}
        assert {tuple(pair) for part in ("pairs", "dev") for pair in seen[part].tolist()} == known

    def test_is_kept_with_the_alignment(self, world, train, spy):
        made = align(world.source, world.target, train, method=spy[0])
        assert not set(made.train.sources) & set(made.dev.sources)
        assert "10% of the source words of train, held out with rng_seed 0" in made.provenance["protocol"]
        assert made.evaluate(made.dev).train_overlap == len(made.dev.sources)
        assert made.evaluate(world.test).train_overlap == 0

    def test_depends_on_rng_seed_and_share(self, world, train, spy):
        for more in ({}, {}, {"rng_seed": 1}, {"dev_share": 0.5}):
            align(world.source, world.target, train, method=spy[0], **more)
        first, again, other, half = (rows_of(seen["dev"]) for seen in spy[1])
        assert first == again != other
        assert len(half) == len(world.train) // 2

    def test_that_is_given_is_used_and_all_of_train_trained_on(self, world, spy):
        made = align(world.source, world.target, world.train, dev=world.test, method=spy[0])
        (seen,) = spy[1]
        assert len(seen["pairs"]) == len(world.train)
        assert len(seen["dev"]) == len(world.test)
        assert made.provenance["protocol"] == "choices on the dev dictionary given"

    def test_is_not_taken_from_a_method_that_chooses_nothing(self, alignment):
        assert alignment.dev is None
        assert alignment.provenance["protocol"] == "no choices made; all of train is trained on"

    def test_shares_no_source_word_with_train(self, world, spy):
        overlapping = Lexicon.from_pairs([*world.test, ("s0", "t0")])
        with pytest.raises(AlignmentError, match=r"1 source words are in both .* \(such as 's0'\)"):
            align(world.source, world.target, world.train, dev=overlapping, method=spy[0])

    def test_has_to_be_usable(self, world, spy):
        with pytest.raises(LexiconError, match="0 of 1 pairs"):
            align(world.source, world.target, world.train, dev=Lexicon.from_pairs([("a", "b")]), method=spy[0])

    def test_shares_no_row_with_train_when_case_is_folded(self, world, spy):
        """`S1` and `s1` are the same row then: it may not be on both sides."""
        both = Lexicon.from_pairs([*world.train, *((source.upper(), target) for source, target in world.train)])
        align(world.source, world.target, both, method=spy[0], fold_case=True)
        (seen,) = spy[1]
        assert not rows_of(seen["pairs"]) & rows_of(seen["dev"])

    def test_given_shares_no_row_with_train_when_case_is_folded(self, world, spy):
        dev = Lexicon.from_pairs((source.upper(), target) for source, target in world.train)
        with pytest.raises(AlignmentError, match="in both the train and the dev dictionary"):
            align(world.source, world.target, world.train, dev=dev, method=spy[0], fold_case=True)


def test_the_generator_follows_rng_seed(world, spy):
    traces = [align(world.source, world.target, world.train, method=spy[0], rng_seed=i).trace for i in (0, 0, 1)]
    draws = [trace.records[0]["draw"] for trace in traces]
    assert draws[0] == draws[1] != draws[2]


def test_a_trace_is_told(world, spy):
    heard = []
    align(world.source, world.target, world.train, method=spy[0], trace=Trace(heard.append))
    assert heard[0]["epoch"] == 1


def test_fold_case_finds_more_pairs(world):
    upper = Lexicon.from_pairs((source.upper(), target) for source, target in world.train)
    with pytest.raises(LexiconError, match="letter case"):
        align(world.source, world.target, upper, method="procrustes")
    assert same(
        align(world.source, world.target, upper, fold_case=True, method="procrustes"),
        align(world.source, world.target, world.train, method="procrustes"),
    )


def refusals():
    def narrow(world):
        return dataclasses.replace(world.target, rows=np.ascontiguousarray(world.target.rows[:, :5]))

    return [
        pytest.param(
            lambda w: align(w.source, w.target, method="procrustes"),
            AlignmentError,
            "none was given: pass one as `train`",
            id="no train",
        ),
        pytest.param(
            lambda w: align(w.source, narrow(w), w.train, method="procrustes"),
            TableError,
            "source vectors have 12 dimensions and the target vectors 5",
            id="dimensions",
        ),
        pytest.param(
            lambda w: align(w.source, w.target, w.train.swapped(), method="procrustes"),
            LexiconError,
            "seems to run from target to source: 0 of 80 pairs fit as given, 80 when swapped",
            id="languages swapped",
        ),
        pytest.param(
            lambda w: align(w.source, w.target, Lexicon.from_pairs([("house", "maison")]), method="procrustes"),
            LexiconError,
            "0 of 1 pairs are in both vocabularies .*not found: house, maison",
            id="no usable pair",
        ),
        pytest.param(
            lambda w: align(w.source, w.target, w.train, method="procrustse"),
            SettingsError,
            "no method 'procrustse' .did you mean 'procrustes'",
            id="unknown method",
        ),
        pytest.param(
            lambda w: align(w.source, w.target, w.train, device="abacus", method="procrustes"),
            SettingsError,
            "device 'abacus' cannot be used here .*use cpu or auto",
            id="unknown device",
        ),
    ]


@pytest.mark.parametrize(("call", "error", "message"), refusals())
def test_refuses(world, call, error, message):
    with pytest.raises(error, match=message):
        call(world)


def test_a_device_without_values_is_refused(world):
    with pytest.raises(SettingsError, match="device 'meta' cannot be used here"):
        align(world.source, world.target, world.train, device="meta", method="procrustes")


@pytest.mark.parametrize("normalize", ["unit", "unit,center"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(world, number, normalize):
    """By the word that has them: centring would spread them over all rows."""
    rows = world.source.rows.copy()
    rows[7, 2] = number
    broken = EmbeddingTable(world.source.words, rows)
    with pytest.raises(TableError, match=f"not finite, first in the row of '{world.source.words[7]}'; remove it"):
        align(broken, world.target, world.train, method="procrustes", normalize=normalize)


@pytest.mark.parametrize("rows", [np.ones, np.zeros], ids=["all equal", "all zero"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_table_of_one_direction_is_refused(world, rows, side):
    words = getattr(world, side).words
    tables = {"source": world.source, "target": world.target} | {
        side: EmbeddingTable(words, rows((len(words), world.source.dim), np.float32))
    }
    with pytest.raises(TableError, match=f"the {side} table: all 160 rows .*; needed vectors that differ"):
        align(**tables, train=world.train, method="procrustes")


def test_a_table_of_few_directions_is_warned_of(world):
    rows = world.source.rows.copy()
    rows[100:] = rows[100]
    with pytest.warns(
        UserWarning, match="the source table has 59 rows with the direction of another one, and 0 of zer"
    ):
        align(EmbeddingTable(world.source.words, rows), world.target, world.train, method="procrustes")


@pytest.mark.parametrize("method", ["procrustes", "procrustes_refinement"])
@pytest.mark.parametrize("scale", [1e20, 1e37])
def test_one_gigantic_row_spoils_nothing(exact, method, scale):
    rows = [table.rows.copy() for table in (exact.source, exact.target)]
    rows[0][0] *= scale
    tables = [EmbeddingTable(t.words, r) for t, r in zip((exact.source, exact.target), rows, strict=True)]
    with pytest.warns(
        UserWarning, match=r"the source table has a row 7.*e.* times as long as the median .row 1, 's0'."
    ):
        found = align(*tables, exact.train, method=method)
    assert found.evaluate(exact.test).scores.p_at_1 == 100
    assert found.evaluate(exact.train).ranks["s0"] == 1


@pytest.mark.parametrize("method", ["procrustes", "procrustes_refinement"])
def test_values_near_the_largest_number(exact, method, tmp_path):
    tables = [EmbeddingTable(t.words, t.rows / abs(t.rows).max() * 3.3e38) for t in (exact.source, exact.target)]
    made = align(*tables, exact.train, method=method)
    assert made.evaluate(exact.test).scores.p_at_1 == 100
    made.save(tmp_path / "run")
    opened = Alignment.load(tmp_path / "run")
    assert opened.translate(["s3"], n=3) == made.translate(["s3"], n=3)
    assert torch.isfinite(opened.source_rows).all()


def test_a_decomposition_that_fails_is_a_divergence(world, spy, monkeypatch):
    def fail(*_, **__):
        raise torch.linalg.LinAlgError("it did not converge")

    monkeypatch.setattr(type(spy[0]), "fit", fail)
    with pytest.raises(AlignmentError, match="method spy diverged"):
        align(world.source, world.target, world.train, method=spy[0])


def test_who_had_no_dev_words_made_no_choices(world, spy, monkeypatch):
    monkeypatch.setattr(type(spy[0]), "needs_pairs", False)
    made = align(world.source, world.target, method=spy[0])
    assert made.dev is None
    assert made.provenance["protocol"].startswith("no choices made")


@pytest.mark.parametrize("share", [0, 1, -0.5])
def test_refuses_a_share_that_leaves_nothing(world, spy, share):
    with pytest.raises(SettingsError, match="between 0 and 1"):
        align(world.source, world.target, world.train, method=spy[0], dev_share=share)


def test_provenance(world, tmp_path):
    paths = {name: tmp_path / name for name in ("source.vec", "target.vec", "train.tsv")}
    world.source.write(paths["source.vec"])
    world.target.write(paths["target.vec"])
    world.train.write(paths["train.tsv"])
    made = align(
        *(EmbeddingTable.read(paths[name]) for name in ("source.vec", "target.vec")),
        Lexicon.read(paths["train.tsv"]),
        method="procrustes",
    )
    found = json.loads(json.dumps(made.provenance))
    inputs = found["inputs"]
    assert inputs["method"] == "procrustes"
    assert inputs["settings"] == {"normalize": ["unit", "center", "unit"]}
    assert (inputs["rng_seed"], inputs["dev"], inputs["fold_case"]) == (0, None, False)
    for name, path in paths.items():
        part = inputs[path.stem]
        assert part["file"] == str(path.resolve()), name
        assert part["sha256"] == sha256(path)
    assert (inputs["source"]["words"], inputs["source"]["dim"], inputs["train"]["pairs"]) == (160, 12, 80)
    assert found["train_coverage"]["pairs_covered"] == 80
    assert found["made_with"].keys() >= {"bilex", "torch", "numpy", "python", "platform", "device", "threads"}
    assert found["protocol"]


class TestSpelling:
    def tables(self, world):
        """The target's words renamed so that some are spelt as in the source."""
        names = dict(world.train.pairs[:30])
        back = {target: source for source, target in names.items()}
        words = [back.get(word, word) for word in world.target.words]
        return world.source, EmbeddingTable(words, world.target.rows)

    def test_words_spelt_alike_are_trained_on(self, world):
        source, target = self.tables(world)
        made = align(source, target, spelling="identical", method="procrustes")
        assert {pair[0] for pair in made.train} == {pair[0] for pair in world.train.pairs[:30]}
        assert all(a == b for a, b in made.train)

    def test_the_dictionary_comes_first(self, world):
        source, target = self.tables(world)
        word = world.train.pairs[0][0]
        given = Lexicon.from_pairs([(word, target.words[5])])
        made = align(source, target, given, spelling="identical", method="procrustes")
        assert (word, target.words[5]) in made.train.pairs
        assert (word, word) not in made.train.pairs
        assert len(made.train) == 30

    def test_what_it_was_made_of_is_kept(self, world, tmp_path):
        """So that --resume tells one dictionary from another."""
        source, target = self.tables(world)
        world.train.write(tmp_path / "train.tsv")
        made = collect(
            source, target, Lexicon.read(tmp_path / "train.tsv"), spelling="identical", method="procrustes"
        ).describe()
        assert made["spelling"] == "identical"
        assert made["train"]["sha256"] == sha256(tmp_path / "train.tsv")

    def test_files_are_hashed_once(self, world, tmp_path, monkeypatch):
        world.train.write(tmp_path / "train.tsv")
        made = collect(*world[:2], Lexicon.read(tmp_path / "train.tsv"), method="procrustes")
        first = made.describe()
        first["train"].clear()
        monkeypatch.setattr("bilex.fitting.inputs.sha256", lambda _: pytest.fail("hashed again"))
        assert made.describe()["train"]["sha256"] == sha256(tmp_path / "train.tsv")

    @pytest.mark.parametrize("spelling", ["identical", "numerals"])
    def test_none_in_common(self, world, spelling):
        with pytest.raises(AlignmentError, match=r"the two tables have no (words|numerals) in common; give a dict"):
            align(world.source, world.target, spelling=spelling, method="procrustes")


def test_a_method_that_needs_no_pairs(world):
    made = align(world.source, world.target, method="vecmap_unsupervised")
    assert len(made.train) == 0
    assert made.dev is None
    assert made.evaluate(world.test).train_overlap == 0
