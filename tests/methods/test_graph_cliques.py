import importlib

import pytest
import torch

from bilex import AlignmentError, MissingExtraError, SettingsError, align, get_method
from bilex.induction.confidence import isin_pairs
from bilex.methods.graph_cliques import GraphCliques
from bilex.normalize import unit
from bilex.training.trace import Trace
from random_tensors import generator

pytest.importorskip("networkx")


@pytest.fixture(scope="module")
def grouped():
    """Words in groups of different size and tightness, and the same turned, with ranks that differ a little."""
    random = generator()
    centres = torch.randn(60, 16, generator=random).repeat_interleave(torch.arange(60) % 5 + 2, 0)
    x = centres + torch.linspace(0.2, 0.6, len(centres))[:, None] * torch.randn(centres.shape, generator=random)
    x = unit(x[torch.randperm(len(x), generator=random)])
    order = (torch.arange(len(x)) + 8 * torch.rand(len(x), generator=random)).argsort().argsort()
    z = torch.empty_like(x)
    z[order] = x @ torch.linalg.qr(torch.randn(16, 16, generator=random)).Q
    return x, z, torch.stack([torch.arange(len(x)), order], 1)


def test_central_words_of_aligned_cliques_translate_each_other(grouped):
    x, z, right = grouped
    trace = Trace()
    pairs = GraphCliques(degree=4).central_pairs(x, z, generator(), trace)
    assert len(pairs) >= 20
    assert float(isin_pairs(pairs, right).double().mean()) > 0.9
    assert trace.records == [
        {
            "source_cliques": trace.records[0]["target_cliques"],
            "target_cliques": pytest.approx(40, abs=30),
            "pairs": len(pairs),
        }
    ]


def test_fewer_words_and_cliques(grouped):
    x, z, _ = grouped
    assert int(GraphCliques(words=100).central_pairs(x, z, generator(), Trace()).max()) < 100
    assert len(GraphCliques(cliques=9).central_pairs(x, z, generator(), Trace())) <= 9


def test_ends_with_the_right_map(grouped):
    x, z, right = grouped
    mapping = GraphCliques(degree=4).fit(x, z, right[:0], generator=generator(), trace=Trace())
    best = (unit(mapping.source(x)) @ unit(mapping.target(z)).T).argmax(1)
    assert torch.equal(best, right[:, 1])


@pytest.mark.parametrize("keep_dictionary", [True, False])
def test_whether_a_dictionary_that_is_given_stays(grouped, keep_dictionary):
    x, z, right = grouped
    wrong = torch.stack([right[:5, 0], right[5:10, 1]], 1)
    method = GraphCliques(degree=4, keep_dictionary=keep_dictionary)
    assert (
        bool(isin_pairs(wrong, method.induce(x, z, wrong, generator=generator(), trace=Trace())).any())
        == keep_dictionary
    )


def test_failure_is_that_of_this_method(grouped):
    x, _, right = grouped
    noise = unit(torch.randn(200, 16, generator=generator()))
    with pytest.raises(AlignmentError, match="graph_cliques has failed, tried 1 times"):
        GraphCliques(tries=1, min_agreement=0.9).fit(x, noise, right[:0], generator=generator(), trace=Trace())
    with pytest.raises(AlignmentError, match="graph_cliques has failed: one language has 0 cliques of 30 words"):
        GraphCliques(min_size=30).fit(x, noise, right[:0], generator=generator(), trace=Trace())


def test_without_networkx_the_extra_is_named_before_any_work(grouped, monkeypatch):
    def refuse(name, *_):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(
        MissingExtraError, match=r"graph_cliques needs the package networkx: pip install 'bilex\[graph\]'"
    ):
        GraphCliques().fit(*grouped, generator=generator(), trace=Trace())


def test_from_the_command_line(exact):
    method = get_method("graph-cliques", {"degree": "12", "neighbours": "15"})
    assert align(exact.source, exact.target, method=method).evaluate(exact.test).scores.p_at_1 == 100


def test_the_smallest_settings():
    smallest = GraphCliques(words=1, neighbours=1, cliques=1, tries=1)
    assert (smallest.words, smallest.neighbours, smallest.cliques, smallest.tries) == (1, 1, 1, 1)


@pytest.mark.parametrize("setting", ["words=0", "neighbours=0", "degree=0.0", "min_size=2", "cliques=0", "tries=0"])
def test_bad_settings_are_refused(setting):
    with pytest.raises(SettingsError, match=f"graph_cliques: {setting}; needed"):
        get_method("graph_cliques", dict([setting.split("=")]))
