import pytest
import torch

from bilex import SettingsError, get_method
from bilex.induction.induction import Induction
from bilex.methods.lnmap import Autoencoder, LNMap, LNMapMapping, descend
from bilex.normalize import unit
from bilex.training.network import Network
from bilex.training.trace import Trace
from random_tensors import generator

SMALL = {"hidden": 32, "code": 16, "mapper_hidden": 20, "samples": 640, "autoencoder_epochs": 4, "epochs": 5}


def fit(given, trace=None, **settings):
    x, z, train, _ = given
    method = LNMap(**{**SMALL, **settings})
    return method.fit(x, z, train, generator=generator(), trace=trace or Trace())


def plain(network, rows):
    """A network without dropout, layer by layer."""
    for i, (w, b) in enumerate(zip(network.weights, network.biases, strict=True)):
        rows = rows @ w + b
        if i + 1 < len(network.weights):
            rows = torch.tanh(rows) if network.slope is None else torch.where(rows > 0, rows, network.slope * rows)
    return rows


def test_the_loss_as_written_out():
    random = generator()
    like = torch.zeros(1, dtype=torch.float64)
    x, codes = (torch.randn(7, n, generator=random, dtype=torch.float64) for n in (5, 6))
    source = Autoencoder(Network.random([5, 8, 8, 6], like, random), Network.random([6, 8, 8, 5], like, random))
    forth, back = Network.random([6, 9, 6], like, random), Network.identity([6, 9, 6], like)
    method = LNMap(dropout=0.0, mapper_dropout=0.0)
    found = method.losses(x, codes, source, forth, back, random)
    own = plain(source.encoder, x)
    mapped = plain(forth, own)
    cycled = plain(back, mapped)
    again = torch.tanh(plain(source.decoder, cycled))
    expected = sum(((a - b) ** 2).mean() for a, b in ((mapped, codes), (cycled, own), (again, x)))
    torch.testing.assert_close(found, expected)
    dropped = LNMap().losses(x, codes, source, forth, back, random)
    assert float(dropped.detach()) != pytest.approx(float(found.detach()))


def test_one_step_of_one_iteration(given):
    """Adam on the autoencoder, gradient descent on the mappers; the target stays."""
    x, z, train, _ = given
    settings = {"iterations": 1, "epochs": 1, "batch": 1000, "dropout": 0.0, "mapper_dropout": 0.0}
    method = LNMap(**{**SMALL, **settings, "mapper_rate": 0.5})
    mapping = method.fit(x, z, train, generator=generator(), trace=Trace())
    random = generator()
    source = method.autoencode(x, "source", random, Trace())
    target = method.autoencode(z, "target", random, Trace()).encoder
    forth, back = Network.identity([16, 20, 16], x), Network.identity([16, 20, 16], x)
    loss = method.losses(x[train[:, 0]], plain(target, z).detach()[train[:, 1]], source, forth, back, random)
    adam = torch.optim.Adam(source.parameters(), lr=method.learning_rate)
    adam.zero_grad()
    loss.backward()
    adam.step()
    with torch.no_grad():
        for parameter in forth.parameters():
            parameter -= 0.5 * parameter.grad
    torch.testing.assert_close(mapping.source(x), plain(forth, plain(source.encoder, x)).detach(), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(mapping.target(z), plain(target, z).detach(), rtol=1e-3, atol=1e-5)


def test_autoencoders_learn_to_give_words_back(given):
    x = given[0]
    worse, better = (
        LNMap(**{**SMALL, "autoencoder_epochs": epochs}).autoencode(x, "source", generator(), Trace())
        for epochs in (0, 30)
    )
    first, last = (((both.decoder(both.encoder(x)).tanh() - x) ** 2).mean() for both in (worse, better))
    assert last < 0.7 * first


def test_pairs_grow_by_those_of_the_highest_cosine(given):
    trace = Trace()
    fit(given, trace, iterations=3, growth=4)
    sizes = [record["pairs"] for record in trace.records if "iteration" in record]
    assert sizes == [len(given[2]), len(given[2]) + 4, len(given[2]) + 8]
    assert [record["autoencoder"] for record in trace.records[:2]] == ["source", "target"]


def test_induced_pairs(given):
    x, z, _, _ = given
    method = LNMap(induction=Induction(max_rank=100, candidates=160, beyond=False, k=3))
    pairs = method.induce(3 * x, 2 * z, 7, generator())
    every = method.induction(unit(x), unit(z), generator()).pairs
    cosines = {tuple(pair): float(x[pair[0]] @ z[pair[1]]) for pair in every.tolist()}
    assert list(map(tuple, pairs.tolist())) == sorted(cosines, key=cosines.get, reverse=True)[:7]
    assert int(pairs.max()) < 100


def test_the_rate_of_the_mappers_falls_and_begins_anew(given, monkeypatch):
    rates = []

    def told(parameters, gradients, rate):
        rates.append(rate)
        descend(parameters, gradients, rate)

    monkeypatch.setattr("bilex.methods.lnmap.descend", told)
    fit(given, iterations=2, epochs=10, batch=1000, growth=0, mapper_rate=1.0)
    once = [1.0] * 3 + [0.1] * 3 + [0.01] * 3 + [0.001]
    assert rates == pytest.approx(once * 2)


def test_the_mapping_is_its_arrays_in_any_order(given, same):
    mapping = fit(given, iterations=1)
    arrays = dict(sorted(mapping.arrays().items(), reverse=True))
    again = LNMapMapping.from_arrays(arrays)
    assert same(mapping, again)
    assert torch.equal(again.source(given[0]), mapping.source(given[0]))
    assert again.target(given[1][:0]).shape == (0, 16)
    assert again.source(given[0].double()).dtype == torch.float64


@pytest.mark.parametrize(
    "setting",
    ["hidden=0", "code=0", "samples=0", "iterations=0", "epochs=0", "learning_rate=-1.0", "growth=-1", "dropout=1.0"],
)
def test_bad_settings_are_refused(setting):
    with pytest.raises(SettingsError, match=f"lnmap: {setting}; needed"):
        get_method("lnmap", dict([setting.split("=")]))
