import numpy as np
import pytest
import torch

from bilex import Alignment, AlignmentError, SettingsError, align, get_method
from bilex.mapping import mapping_from_arrays
from bilex.methods.instamap import InstaMapping, Round
from bilex.normalize import Normalizer, unit
from bilex.training.trace import Trace


def fit(x, z, pairs, **settings):
    method = get_method("instamap", {name.replace("__", "."): str(value) for name, value in settings.items()})
    return method.fit(x, z, pairs, dev=None, generator=torch.Generator().manual_seed(0), trace=Trace())


@pytest.fixture(scope="module")
def tables():
    """Two tables of thirty dimensions, an unequal number of rows and rows of unequal length, and pairs."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 30)) * np.linspace(2, 0.5, 30) * rng.uniform(0.5, 2, (150, 1)) + 0.3
    z = x[:140] @ np.linalg.qr(rng.normal(size=(30, 30)))[0] + 0.5 * rng.normal(size=(140, 30)) - 0.2
    return x, z, np.stack([np.arange(90), np.arange(90)], 1)


def unit_rows(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def pca(rows, dims):
    mean = rows.mean(0)
    return mean, np.linalg.svd(rows - mean, full_matrices=False)[2][:dims].T


def shifted(row, near, far, neighbours):
    cosines = np.maximum(0, [row @ n / np.linalg.norm(row) / np.linalg.norm(n) for n in near])
    nearest = np.argsort(-cosines)[:neighbours]
    return row + sum(cosines[j] * (far[j] - near[j]) for j in nearest) / cosines[nearest].sum()


def slowly(x, z, pairs, *, rounds, neighbours, dims):
    """Word by word; both tables after the last round."""
    for _ in range(rounds):
        (mean_x, p), (mean_z, q) = pca(x, dims), pca(z, dims)
        x, z = (x - mean_x) @ p, (z - mean_z) @ q
        u, _, vt = np.linalg.svd(x[pairs[:, 0]].T @ z[pairs[:, 1]])
        x = x @ u @ vt
        s, t = x[pairs[:, 0]], z[pairs[:, 1]]
        x, z = (
            np.array([shifted(row, near, far, neighbours) for row in rows])
            for rows, near, far in ((x, s, t), (z, t, s))
        )
        cosines = unit_rows(x) @ unit_rows(z).T
        pairs = np.array([(i, j) for i, j in enumerate(cosines.argmax(1)) if cosines[:, j].argmax() == i])
    return cosines


@pytest.mark.parametrize("neighbours", [1, 10, 1000])
@pytest.mark.parametrize("rounds", [1, 3])
def test_as_word_by_word(tables, rounds, neighbours):
    x, z, pairs = tables
    mapping = fit(*map(torch.from_numpy, tables), rounds=rounds, neighbours=neighbours)
    found = unit(mapping.source(torch.from_numpy(x))) @ unit(mapping.target(torch.from_numpy(z))).T
    expected = slowly(x, z, pairs, rounds=rounds, neighbours=neighbours, dims=29)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-9)


def test_words_with_several_translations(tables):
    x, z, pairs = tables
    pairs = np.concatenate([pairs[:30], [[0, 3], [5, 3]]])
    mapping = fit(*map(torch.from_numpy, (x, z, pairs)), rounds=1)
    found = unit(mapping.source(torch.from_numpy(x))) @ unit(mapping.target(torch.from_numpy(z))).T
    np.testing.assert_allclose(found.numpy(), slowly(x, z, pairs, rounds=1, neighbours=32, dims=29), atol=1e-9)


def test_with_one_neighbour_a_pair_changes_places(tables):
    x, z, pairs = (torch.from_numpy(array) for array in tables)
    mapping = fit(x, z, pairs, rounds=1, neighbours=1)
    each = mapping.rounds[0]
    torch.testing.assert_close(mapping.source(x[:90]), each.t)
    torch.testing.assert_close(mapping.target(z[:90]), each.s)


def test_new_rows_are_mapped_as_if_they_were_of_the_table(tables):
    """A row of the table and the same row as a new one; and one row alone or among others."""
    x, z, pairs = (torch.from_numpy(array) for array in tables)
    mapping = fit(x, z, pairs)
    new = torch.cat([x[100:103], x[:2] + 0.1])
    whole = mapping.source(torch.cat([x, new]))
    torch.testing.assert_close(whole[150:153], mapping.source(x)[100:103])
    for i in range(5):
        torch.testing.assert_close(mapping.source(new[i : i + 1], among=x), whole[150 + i : 151 + i])


def test_a_word_that_is_like_none_in_the_dictionary_stays_where_it_is():
    one = torch.ones(1, 2)
    each = Round(0 * one[0], torch.eye(2), 0 * one[0], torch.eye(2), one, one + 1, torch.tensor(70))
    assert torch.equal(each.source(-one), -one)
    assert torch.equal(each.source(one), one + 1)
    assert torch.equal(each.target(one), one - 1)
    assert torch.equal(each.source(0 * one), 0 * one)


def test_on_the_tables_of_another_method(tables):
    """As on its mapped tables, and saved with all that it did."""
    x, z, pairs = (torch.from_numpy(array) for array in tables)
    mapping = fit(x, z, pairs, start="vecmap", rounds=2)
    base = get_method("vecmap")
    normalized = [Normalizer.fit(rows, base.normalize)[1] for rows in (x, z)]
    first = base.fit(*normalized, pairs)
    mapped = first.source(normalized[0]), first.target(normalized[1])
    second = fit(*mapped, pairs, rounds=2)
    assert torch.equal(mapping.source(x), second.source(mapped[0]))
    assert torch.equal(mapping.target(z), second.target(mapped[1]))
    backwards = dict(sorted(mapping.arrays().items(), reverse=True))
    again = mapping_from_arrays(mapping.kind, backwards)
    assert isinstance(again, InstaMapping)
    assert again.start.source_normalizer.steps == base.normalize
    assert torch.equal(again.source(x), mapping.source(x))
    assert torch.equal(again.target(z), mapping.target(z))


def test_start_may_look_at_the_neighbours_of_a_word_and_be_itself_started(world, tmp_path):
    settings = {"start": "instamap", "start.start": "rapo", "start.start.epochs": "1", "rounds": "1"}
    made = align(world.source, world.target, world.train, method=get_method("instamap", settings))
    made.save(tmp_path / "run")
    opened = Alignment.load(tmp_path / "run")
    assert opened.evaluate(world.test) == made.evaluate(world.test)
    assert len(opened.mapping.rounds) == 1
    assert len(opened.mapping.start.mapping.rounds) == 4
    some = made.map_rows(torch.from_numpy(world.source.rows[[7, 3]].copy()))
    torch.testing.assert_close(some, made.source_rows[[7, 3]])


@pytest.mark.parametrize("neighbours", [0, -1])
def test_a_round_without_neighbours_is_refused(tables, neighbours):
    arrays = fit(*map(torch.from_numpy, tables), rounds=1).arrays()
    arrays["0.neighbours"] = torch.tensor(neighbours)
    with pytest.raises(ValueError, match=f"a round has {neighbours} neighbours; needed at least 1"):
        InstaMapping.from_arrays(arrays)


def test_no_pairs_are_said(tables):
    with pytest.raises(AlignmentError, match="round 0 of instamap found no pairs"):
        fit(*map(torch.from_numpy, tables), induction__threshold=9)


@pytest.mark.parametrize("setting", ["rounds=0", "neighbours=0", "pca=0.0", "pca=1.5"])
def test_bad_settings_are_refused(setting):
    with pytest.raises(SettingsError, match=f"instamap: {setting}; needed"):
        get_method("instamap", dict([setting.split("=")]))
