import pytest
import torch

from bilex import get_method
from bilex.methods.geomm import GeoMM
from bilex.methods.procrustes import Procrustes
from bilex.methods.rapo import best_start as module
from bilex.methods.rapo.best_start import CANDIDATES, best_start
from bilex.methods.rapo.start import from_linear
from bilex.normalize import unit
from bilex.training.trace import Trace


@pytest.fixture
def turned_noisily():
    """Six hundred words, their noisy rotation, and a pair for each word."""
    random = torch.Generator().manual_seed(0)
    x = unit(torch.randn(600, 20, generator=random, dtype=torch.float64))
    turn = torch.linalg.qr(torch.randn(20, 20, generator=random, dtype=torch.float64)).Q
    z = unit(x @ turn + 0.15 * torch.randn(600, 20, generator=random, dtype=torch.float64))
    return x, z, torch.arange(600)[:, None].expand(-1, 2)


def start(given, trace=None):
    return best_start(CANDIDATES["best"], *given, torch.Generator(), trace or Trace())


def test_the_candidate_with_the_best_mrr_on_held_out_words_is_fitted_to_all_pairs(turned_noisily, monkeypatch, same):
    x, z, pairs = turned_noisily
    told, judged = iter([0.1, 0.2, 0.2, 0.3]), []

    def ranks(mapped, target, dev):
        judged.append(dev)
        return torch.full((3,), next(told), dtype=torch.float64)

    monkeypatch.setattr(module, "reciprocal_ranks", ranks)
    trace = Trace()
    made = start(turned_noisily, trace)
    assert same(made, Procrustes().fit(x, z, pairs))
    assert (trace.records[0]["start"], trace.records[0]["start_mrr"]) == ("procrustes", 0.3)
    assert judged[0][:, 0].tolist() == list(range(0, 600, 5))


def test_held_out_words_are_not_learnt(turned_noisily, monkeypatch):
    fitted = []
    monkeypatch.setattr(
        module, "_fit", lambda method, x, z, pairs, _: fitted.append(pairs) or Procrustes().fit(x, z, pairs)
    )
    start(turned_noisily)
    assert [len(pairs) for pairs in fitted] == [480] * len(CANDIDATES["best"]) + [600]
    assert not (fitted[0][:, 0] % 5 == 0).any()


def test_with_few_words_nothing_is_chosen(turned_noisily, same):
    x, z, pairs = turned_noisily
    few, trace = pairs[:400], Trace()
    made = best_start(CANDIDATES["best"], x, z, few, torch.Generator(), trace)
    assert not trace.records
    assert same(made, GeoMM(penalty=(3e3,)).fit(x, z, few, dev=None, trace=Trace()))


def test_the_penalty_of_geomm_is_chosen(turned_noisily, monkeypatch, same):
    x, z, pairs = turned_noisily
    told = iter([0.1, 0.2])
    monkeypatch.setattr(module, "reciprocal_ranks", lambda *_: torch.full((3,), next(told), dtype=torch.float64))
    trace = Trace()
    made = best_start(CANDIDATES["geomm"], x, z, pairs, torch.Generator(), trace)
    assert same(made, GeoMM(penalty=(1e4,)).fit(x, z, pairs, dev=None, trace=Trace()))
    assert trace.records[0]["penalty"] == "(10000.0,)"


def test_only_frequent_words_are_looked_at(turned_noisily, monkeypatch):
    seen = []
    monkeypatch.setattr(module, "MAX_RANK", 520)
    monkeypatch.setattr(
        module, "reciprocal_ranks", lambda x, z, dev: seen.append((len(x), len(z), int(dev.max()))) or torch.ones(1)
    )
    start(turned_noisily)
    assert set(seen) == {(520, 520, 515)}


def test_rapo_begins_there(turned_noisily):
    x, z, pairs = turned_noisily
    method = get_method("rapo", {"start": "best", "epochs": "0", "refit": "false", "shift": "0"})
    mapping = method.fit(x, z, pairs, dev=None, generator=torch.Generator().manual_seed(0), trace=Trace())
    expected = from_linear(start(turned_noisily), "linear", "householder")
    torch.testing.assert_close(mapping.source_adapter, expected["source_adapter"])
