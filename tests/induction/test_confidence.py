import pytest
import torch

from bilex.induction.confidence import MIN_JUDGED, extend_dictionary, isin_pairs, most_confident
from bilex.induction.induction import InducedPairs


class TestMostConfident:
    """A hundred pairs (i, i), the most confident last; of every second one dev knows whether it is right."""

    pairs = torch.arange(100).repeat(2, 1).T
    induced = InducedPairs(pairs, torch.arange(100.0), 0.5)

    def dev(self, wrong):
        """Dev pairs after which these words have another translation."""
        dev = self.pairs[::2].clone()
        dev[torch.isin(dev[:, 0], torch.tensor(wrong)), 1] = 500
        return dev

    def test_as_many_as_are_right_often_enough(self):
        dev = self.dev(wrong=[20, 10, 8, 6, 4, 2, 0])  # 39 right, one wrong, 4 right, all others wrong
        assert most_confident(self.induced, dev, 1.0).tolist() == self.pairs[22:].tolist()
        assert most_confident(self.induced, dev, 0.95).tolist() == self.pairs[10:].tolist()
        assert most_confident(self.induced, dev, 0.5).tolist() == self.pairs[0:].tolist()

    def test_some_however_poor(self):
        found = most_confident(self.induced, self.dev(wrong=list(range(100))), 0.9)
        assert found.tolist() == self.pairs[100 - 2 * MIN_JUDGED :].tolist()

    def test_at_least_a_share(self):
        nothing_right = self.dev(wrong=list(range(100)))
        assert most_confident(self.induced, nothing_right, 0.9, min_share=0.7).tolist() == self.pairs[30:].tolist()
        assert most_confident(self.induced, self.dev(wrong=[]), 0.9, min_share=0.7).tolist() == self.pairs.tolist()

    @pytest.mark.parametrize("dev", [None, torch.tensor([[200, 200]])])
    def test_the_share_where_nothing_is_known(self, dev):
        assert most_confident(self.induced, dev, 0.9, min_share=0.7).tolist() == self.pairs[30:].tolist()


def test_pairs_that_are_among_others():
    pairs, others = torch.tensor([[0, 1], [1, 0], [2, 2]]), torch.tensor([[2, 2], [0, 1], [5, 5]])
    assert isin_pairs(pairs, others).tolist() == [True, False, True]
    assert isin_pairs(pairs[:0], others).tolist() == []


def test_only_source_words_that_are_not_in_a_dictionary_are_added():
    dictionary, induced = torch.tensor([[3, 1], [0, 2]]), torch.tensor([[0, 5], [4, 1], [4, 2], [3, 1]])
    assert extend_dictionary(dictionary, induced).tolist() == [[3, 1], [0, 2], [4, 1], [4, 2]]


def test_all_pairs_that_are_not_in_a_dictionary_or_all():
    dictionary, induced = torch.tensor([[3, 1], [0, 2]]), torch.tensor([[0, 5], [4, 1], [3, 1]])
    assert extend_dictionary(dictionary, induced, "new_pairs").tolist() == [[3, 1], [0, 2], [0, 5], [4, 1]]
    assert extend_dictionary(dictionary, induced, "all").tolist() == [[3, 1], [0, 2], [0, 5], [4, 1], [3, 1]]
