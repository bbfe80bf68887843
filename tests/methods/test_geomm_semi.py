import pytest
import torch

from bilex import AlignmentError, SettingsError, get_method
from bilex.methods.geomm import GeoMM
from bilex.normalize import unit
from bilex.training.trace import Trace

PENALTY = 10.0


def fit(given, *, dev=True, trace=None, **settings):
    x, z, train, held_out = given
    return get_method("geomm_semi", {"base.penalty": str(PENALTY), "min_dev_words": "1", **settings}).fit(
        x,
        z,
        train[:40],
        dev=held_out if dev else None,
        generator=torch.Generator().manual_seed(0),
        trace=trace or Trace(),
    )


def geomm(x, z, pairs):
    return GeoMM(penalty=(PENALTY,)).fit(x, z, pairs, dev=None, trace=Trace())


def best_translations(mapping, x, z, k=10):
    """Forward and backward by CSLS, with all scores at once."""
    cosines = unit(mapping.source(x)) @ unit(mapping.target(z)).T
    csls = 2 * cosines - cosines.topk(k, dim=1).values.mean(1)[:, None] - cosines.topk(k, dim=0).values.mean(0)
    forward = torch.stack([torch.arange(len(x)), csls.argmax(1)], 1)
    return torch.cat([forward, torch.stack([csls.argmax(0), torch.arange(len(z))], 1)])


def together(pairs, induced):
    known = {source for source, _ in pairs.tolist()}
    return torch.tensor(pairs.tolist() + [pair for pair in induced.tolist() if pair[0] not in known])


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_as_its_rounds_one_by_one(given, rounds):
    x, z, train, dev = given
    train, trace = train[:40], Trace()
    mapping = fit(given, trace=trace, rounds=str(rounds), patience="none")
    lists = [train]
    for _ in range(rounds - 1):
        lists.append(together(train, best_translations(geomm(x, z, lists[-1]), x, z)))
    assert [record["pairs"] for record in trace.records if "induced" in record] == list(map(len, lists))
    kept = next(record["kept_round"] for record in trace.records if "kept_round" in record)
    expected = geomm(x, z, together(torch.cat([train, dev]), lists[kept]))
    own, other = (unit(m.source(x)) @ unit(m.target(z)).T for m in (mapping, expected))
    torch.testing.assert_close(own, other, rtol=0, atol=1e-4)


def test_without_a_round_that_helps_it_is_geomm(given, same):
    x, z, train, dev = given
    assert same(fit(given, rounds="1"), geomm(x, z, torch.cat([train[:40], dev])))


def test_nothing_to_add_is_said(given):
    with pytest.raises(AlignmentError, match="round 0 of geomm_semi found no pair to add"):
        fit(given, **{"induction.threshold": "9"})


BAD = [
    ({"rounds": "0"}, "geomm_semi: rounds=0; needed at least 1"),
    ({"patience": "0"}, "geomm_semi: patience=0; needed at least 1"),
    ({"precision": "90"}, "geomm_semi: precision=90.0; needed a number from 0 to 1"),
    ({"normalize": "unit,center"}, "geomm_semi: .*let normalize end in unit"),
    ({"base.penalty": "0"}, "geomm: penalty=0.0; needed one or more numbers above 0"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=[str(settings) for settings, _ in BAD])
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        get_method("geomm_semi", settings)
