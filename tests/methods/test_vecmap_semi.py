from dataclasses import replace

import pytest
import torch

from bilex import align, get_method
from bilex.induction.confidence import isin_pairs
from bilex.methods import vecmap_semi
from bilex.methods.vecmap import VecMap
from bilex.training.trace import Trace


def induced(given, name, **settings):
    """From forty right pairs and a wrong one."""
    x, z, train, _ = given
    seed = torch.cat([train[:40], torch.tensor([[150, int(train[0, 1])]])])
    method = get_method(name, {"min_agreement": "0", **settings})
    return seed, method.induce(x, z, seed, generator=torch.Generator().manual_seed(0), trace=Trace())


@pytest.mark.parametrize("keep_dictionary", [True, False])
def test_whether_the_dictionary_stays(given, keep_dictionary):
    seed, pairs = induced(given, "vecmap_semi", keep_dictionary=str(keep_dictionary))
    assert bool(isin_pairs(seed, pairs).all()) == keep_dictionary
    assert len(pairs) > 160
    if not keep_dictionary:
        assert bool(isin_pairs(seed[:40], pairs).double().mean() > 0.5), "most is found again"


def test_is_the_unsupervised_one_given_a_dictionary(given):
    seed, pairs = induced(given, "vecmap_semi", keep_dictionary="true")
    assert torch.equal(pairs, induced(given, "vecmap_unsupervised")[1])
    assert bool(isin_pairs(seed, pairs).all())


@pytest.mark.parametrize("self_learning", [False, True])
def test_dev_chooses_between_self_learning_and_the_dictionary(given, monkeypatch, same, self_learning):
    x, z, train, dev = given
    told = iter([0.5, 0.6] if self_learning else [0.5, 0.5])
    monkeypatch.setattr(vecmap_semi, "reciprocal_ranks", lambda *_: torch.full((3,), next(told), dtype=torch.float64))
    method, trace = get_method("vecmap_semi", {"min_dev_words": "1"}), Trace()
    made = method.fit(x, z, train, dev=dev, generator=torch.Generator().manual_seed(0), trace=trace)
    pairs = train
    if self_learning:
        pairs = method.induce(x, z, train, generator=torch.Generator().manual_seed(0), trace=Trace())
    pairs = torch.cat([dev, pairs[~torch.isin(pairs[:, 0], dev[:, 0])]])
    assert same(made, VecMap().fit(x, z, pairs))
    assert trace.records[-1]["stage"] == "held_out"


@pytest.mark.parametrize("settings", [{"choose": "false"}, {"min_dev_words": "1000"}])
def test_without_a_choice_it_is_self_learning_with_dev(given, same, settings):
    x, z, train, dev = given
    both, made = torch.cat([train, dev]), get_method("vecmap_semi", settings)
    one = made.fit(x, z, train, dev=dev, generator=torch.Generator().manual_seed(0), trace=Trace())
    pairs = made.induce(x, z, both, generator=torch.Generator().manual_seed(0), trace=Trace())
    assert same(one, VecMap().fit(x, z, pairs))


@pytest.mark.parametrize(("spelling", "words"), [("identical", "w{}"), ("numerals", "{}")])
def test_from_words_spelt_alike(exact, spelling, words):
    """Every other pair of train has one name in both languages."""
    alike = {word: words.format(i) for i, pair in enumerate(exact.train.pairs[::2]) for word in pair}
    tables = [
        replace(table, words=tuple(alike.get(word, word) for word in table.words))
        for table in (exact.source, exact.target)
    ]
    made = align(*tables, method="vecmap_semi", spelling=spelling)
    assert (len(made.train), len(made.dev)) == (36, 4)
    assert made.evaluate(exact.test).scores.p_at_1 == 100
