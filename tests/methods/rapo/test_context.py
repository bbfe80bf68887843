import pytest
import torch

from bilex.methods.rapo import context
from bilex.methods.rapo.context import ContextMeans, context_vectors, find_neighbourhoods, just_below
from bilex.normalize import unit
from bilex.search import above_threshold as near_module
from random_tensors import normal


def slow_context(rows, tau, table, cap, inside):
    """One word at a time; `inside` says which row of the table a word is, -1 if none."""
    found = []
    for i, row in enumerate(rows):
        others = [j for j in (table @ row).argsort(descending=True).tolist() if j != inside[i]]
        near = [table[j] for j in others[: None if cap is None else cap - 1] if table[j] @ row > tau]
        found.append(torch.stack([row, *near]).mean(0))
    return torch.stack(found)


TAUS = [-1.0, 0.0, 0.5, 0.9, 1.0]
CAPS = [None, 1, 2, 5, 1000]


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("cap", CAPS)
class TestContext:
    def test_of_a_table(self, tau, cap):
        x = unit(normal(40, 4))
        expected = slow_context(x, tau, x, cap, range(40))
        torch.testing.assert_close(context_vectors(x, tau, cap=cap), expected)
        torch.testing.assert_close(context_vectors(x, tau, cap=cap, budget=2000), expected)

    def test_of_some_of_its_rows(self, tau, cap):
        x, some = unit(normal(40, 4)), [7, 3, 7]
        whole = context_vectors(x, tau, cap=cap)
        torch.testing.assert_close(context_vectors(x[some], tau, among=x, cap=cap), whole[some])

    def test_of_other_rows(self, tau, cap):
        x, new = unit(normal(40, 4)), unit(normal(6, 4, rng_seed=1))
        expected = slow_context(new, tau, x, cap, [-1] * 6)
        torch.testing.assert_close(context_vectors(new, tau, among=x, cap=cap), expected)


@pytest.mark.parametrize("cap", [None, 3])
def test_float32_words_are_counted_once(cap):
    x = unit(normal(200, 3).float())
    torch.testing.assert_close(context_vectors(x[:50], 0.95, among=x, cap=cap), context_vectors(x, 0.95, cap=cap)[:50])


@pytest.mark.parametrize("cap", [None, 3])
def test_empty_tables(cap):
    assert context_vectors(torch.empty(0, 3), 0.5, cap=cap).shape == (0, 3)
    rows = unit(normal(2, 3))
    assert torch.equal(context_vectors(rows, 0.5, among=torch.empty(0, 3).double(), cap=cap), rows)


@pytest.mark.parametrize("cap", [None, 4])
def test_neighbourhoods(monkeypatch, cap):
    """Lists in blocks are those of all cosines at once; every word is in its own."""
    monkeypatch.setattr(near_module, "QUERY_BLOCK", 7)
    monkeypatch.setattr(near_module, "KEY_BLOCK", 5)
    x = unit(normal(50, 3))
    found = find_neighbourhoods(x, 0.8, cap=cap)
    lists = torch.split(found.members, found.offsets.diff().tolist())
    for i, members in enumerate(lists):
        cosines = x @ x[i]
        cosines[i] = 2
        near = [j for j in cosines.argsort(descending=True)[:cap].tolist() if cosines[j] > 0.8]
        assert members.tolist() == sorted(near)
    torch.testing.assert_close(found.means(x), torch.stack([x[members].mean(0) for members in lists]))


@pytest.mark.parametrize("cap", [None, 2])
def test_equal_vectors_do_not_crowd_a_word_out(cap):
    x = unit(normal(1, 3)).expand(6, 3)
    found = find_neighbourhoods(x, 0.9, cap=cap)
    lists = torch.split(found.members, found.offsets.diff().tolist())
    assert all(i in members.tolist() and len(members) == (cap or 6) for i, members in enumerate(lists))


def test_their_table_is_known_again():
    x = unit(normal(300, 4))
    found = find_neighbourhoods(x, 0.9)
    assert found.belong_to(x.clone())
    assert not found.belong_to(x[:-1])
    assert not found.belong_to(x.flip(0))
    other = unit(normal(300, 4, rng_seed=1))
    for same in (1, 150, 290):  # it begins as the table does
        assert not found.belong_to(torch.cat([x[:same], other[same:]]))


@pytest.mark.parametrize("cap", [None, 20])
@pytest.mark.parametrize("tau", [-1.0, 0.1])
def test_of_more_neighbours_than_can_be_stored_there_are_means(monkeypatch, cap, tau):
    x = unit(normal(300, 4))
    expected = find_neighbourhoods(x, tau, cap=cap).means(x)
    monkeypatch.setattr(context, "MAX_PAIRS", 300)
    monkeypatch.setattr(context, "MEAN_ROWS", 70)
    told = []
    found = find_neighbourhoods(x, tau, cap=cap, progress=lambda *share: told.append(share))
    assert isinstance(found, ContextMeans)
    torch.testing.assert_close(found.means(x), expected)
    assert told[-1] == (300, 300)
    found.check()
    assert found.belong_to(x.clone())
    assert not found.belong_to(x.flip(0))
    assert not found.belong_to(x[:-1])
    with pytest.raises(ValueError, match="301 words and 74 probe rows, which do not match"):
        ContextMeans(torch.cat([found.vectors, x[:1]]), found.probe[:-1]).check()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("tau", [0.5, 0.85, 0.9446, -0.3])
def test_a_cosine_just_above_is_at_least_the_threshold(dtype, tau):
    """That is what a comparison with >= in this precision says."""
    numbers = torch.nextafter(torch.tensor([tau], dtype=dtype), torch.tensor([-2.0, 2.0], dtype=dtype))
    numbers = torch.cat([numbers, torch.tensor([tau], dtype=dtype)])
    assert torch.equal(numbers > just_below(tau, dtype), numbers >= torch.tensor(tau, dtype=dtype))
