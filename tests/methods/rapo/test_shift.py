"""The shift of each source word towards the translations of the dictionary words near it."""

import pytest
import torch

from bilex import Alignment, SettingsError, align, get_method
from bilex.mapping import mapping_from_arrays
from bilex.methods.rapo.learner import RankingLearner
from bilex.methods.rapo.mapping import TowerMapping
from bilex.methods.rapo.shift import POWER, SHARES, Residuals, ShiftedMapping
from bilex.normalize import unit
from bilex.training.trace import Trace

QUICK = {"epochs": "2", "batch": "32", "hard": "8", "random": "8", "learning_rate": "0.01"}


@pytest.fixture(scope="module")
def given():
    """Two tables that a bend keeps apart, which no linear map removes; pairs to learn from, and dev."""
    generator = torch.Generator().manual_seed(0)
    x = unit(torch.randn(300, 12, generator=generator))
    z = unit(x + 1.5 * (x @ torch.randn(12, 12, generator=generator)).square() / 12)
    pairs = torch.arange(200)[:, None].expand(-1, 2).contiguous()
    return x, z, pairs[:150], pairs[150:]


def fit(given, *, trace=None, warm=None, dev=True, **settings):
    x, z, train, held_out = given
    method = get_method("rapo", {**QUICK, **settings})
    more = {"dev": held_out if dev else None, "generator": torch.Generator().manual_seed(0), "warm": warm}
    return method.fit(x, z, train, trace=trace or Trace(), **more)


def test_as_word_by_word():
    generator = torch.Generator().manual_seed(0)
    x, z = (unit(torch.randn(n, 5, generator=generator)) for n in (30, 40))
    pairs = torch.tensor([[3, 1], [3, 7], [8, 2], [12, 12], [20, 0]])
    residuals = Residuals.of(x, z, pairs)
    offsets = {
        word: torch.nn.functional.normalize(sum(z[j] for i, j in pairs.tolist() if i == word), dim=0) - x[word]
        for word in (3, 8, 12, 20)
    }
    for row, shifted in zip(x, residuals.shift(x, 3), strict=True):
        nearest = sorted(offsets, key=lambda word: -float(row @ x[word]))[:3]
        weights = {word: max(0.0, float(row @ x[word])) ** POWER for word in nearest}
        expected = sum(weights[word] * offsets[word] for word in nearest) / max(1e-12, sum(weights.values()))
        torch.testing.assert_close(shifted, expected, rtol=1e-4, atol=1e-5)


def test_without_a_near_word_there_is_none():
    residuals = Residuals(anchors=torch.tensor([[-1.0, 0.0]]), offsets=torch.tensor([[5.0, 5.0]]))
    assert not residuals.shift(torch.tensor([[1.0, 0.0]]), 10).any()


def test_the_mapping_is_the_towers_and_then_the_shift(given):
    towers, shifted = fit(given, shift="0"), fit(given, shift="0.5", shift_neighbours="4")
    assert isinstance(towers, TowerMapping)
    assert isinstance(shifted, ShiftedMapping)
    x, z, train, dev = given
    mapped = unit(towers.source(x))
    residuals = Residuals.of(mapped, unit(towers.target(z)), torch.cat([train, dev]))
    torch.testing.assert_close(shifted.source(x), mapped + 0.5 * residuals.shift(mapped, 4))
    torch.testing.assert_close(shifted.target(z), towers.target(z))


def test_without_refit_dev_is_no_anchor(given):
    mapping = fit(given, shift="1", refit="false")
    assert len(mapping.residuals.anchors) == len(given[2])


def test_dev_chooses_the_share(given):
    trace = Trace()
    mapping = fit(given, trace=trace)
    (record,) = (record for record in trace.records if record["stage"] == "shift")
    x, z, _, dev = given
    scores = {}
    for share in SHARES:
        found = fit(given, shift=str(share), refit="false")
        right = (unit(found.source(x[dev[:, 0]])) @ unit(found.target(z)).T).argmax(1) == dev[:, 1]
        scores[share] = float(right.double().mean())
    assert record["share"] == mapping.share > 0
    assert record["gain"] > 0
    assert scores[mapping.share] > scores[0.0]
    (held_out,) = (record for record in trace.records if record["stage"] == "held_out")
    chosen = next(record["chosen"] for record in trace.records if record["stage"] == "refit")
    unshifted = next(r["dev"] for r in trace.records if r["stage"] == "choose" and r["epoch"] == chosen)
    assert held_out["mrr"] == pytest.approx(unshifted + record["gain"])


def test_a_share_whose_gain_may_be_chance_is_not_chosen(given, monkeypatch):
    """Two words gain and one loses as much: the mean gain is below its standard error."""
    ranks = {share: torch.tensor([1.0, 1.0, 2.0, 1.0] if share else [2.0, 2.0, 1.0, 1.0]) for share in SHARES}
    monkeypatch.setattr(RankingLearner, "ranks_by_share", lambda *_: ranks)
    trace = Trace()
    assert isinstance(fit(given, trace=trace), TowerMapping)
    (record,) = (record for record in trace.records if record["stage"] == "shift")
    assert (record["share"], record["gain"]) == (0, 0)


def test_later_rounds_have_the_share_of_the_round_before(given):
    first = fit(given, refit="false")
    assert fit(given, dev=False, warm=first).share == first.share
    towers = fit(given, refit="false", shift="0")
    assert isinstance(fit(given, dev=False, warm=towers), TowerMapping), "dev has chosen no shift"
    assert fit(given, dev=False).share > 0, "without dev, a small one"


def test_a_light_mapping_is_shifted_as_much(given):
    """It stands for the mapping where folds are mapped, with residuals of its own."""
    x, z, train, _ = given
    mapping, light = fit(given, shift="0.75", shift_neighbours="4"), fit(given, shift="0")
    completed = mapping.completing(light, x, z, train)
    mapped = unit(light.source(x))
    expected = mapped + 0.75 * Residuals.of(mapped, unit(light.target(z)), train).shift(mapped, 4)
    torch.testing.assert_close(completed.source(x), expected)
    assert light.completing(mapping, x, z, train) is mapping, "towers alone have no further steps"


def test_it_is_stored(given, tmp_path):
    mapping = fit(given, shift="0.75")
    again = mapping_from_arrays("shifted", mapping.arrays(), {"d": 12})
    assert (again.share, again.neighbours) == (0.75, mapping.neighbours)
    assert torch.equal(again.source(given[0]), mapping.source(given[0]))
    tables = [{f"w{i}": row for i, row in enumerate(rows.numpy())} for rows in given[:2]]
    pairs = [(f"w{i}", f"w{j}") for i, j in given[2].tolist()]
    quick = {name: float(text) if "." in text else int(text) for name, text in QUICK.items()}
    run = align(*tables, pairs, method="rapo", shift=0.5, vectors_only=True, **quick)
    run.save(tmp_path / "run")
    assert Alignment.load(tmp_path / "run").translate("w170") == run.translate("w170")


@pytest.mark.parametrize("settings", [[2.0, 30], [0.5, 0], [0.5, 1.5]])
def test_damaged_settings_are_refused(given, settings):
    arrays = fit(given, shift="0.5").arrays()
    with pytest.raises(ValueError, match="not those of a shift"):
        mapping_from_arrays("shifted", arrays | {"settings": torch.tensor(settings, dtype=torch.float64)})


@pytest.mark.parametrize("shift", ["-0.1", "1.5"])
def test_shares_are_from_0_to_1(shift):
    with pytest.raises(SettingsError, match=f"rapo: shift={shift}; needed a number from 0 to 1, or none"):
        get_method("rapo", {"shift": shift})
