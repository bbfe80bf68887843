import pytest
import torch

from bilex import AlignmentError
from bilex.evaluation.agreement import failure, mutual_agreement
from bilex.evaluation.criterion import agreement
from bilex.normalize import unit


def normal(*shape, rng_seed=0):
    return unit(torch.randn(*shape, generator=torch.Generator().manual_seed(rng_seed)))


def translated(noise=0.05):
    """Two tables of which the second has the words of the first in another order, and more."""
    x = normal(300, 30)
    order = torch.randperm(300, generator=torch.Generator().manual_seed(3))
    return x, torch.cat([unit(x + noise * normal(300, 30, rng_seed=1))[order], normal(40, 30, rng_seed=4)])


def test_translations_agree_and_others_do_not():
    x, z = translated()
    for one, other in ((x, z), (z, x)):
        assert mutual_agreement(one, other, torch.Generator()) > 0.95
        assert mutual_agreement(one, normal(300, 30, rng_seed=2), torch.Generator()) < 0.4


@pytest.mark.parametrize(("settings", "max_rank", "k"), [({}, 4000, 10), ({"max_rank": 150, "k": 3}, 150, 3)])
def test_it_is_the_agreement_of_mutual_pairs_of_the_most_frequent_words(settings, max_rank, k):
    x, z = (rows[:max_rank] for rows in translated(noise=0.9))
    cosines = x @ z.T
    r_x, r_z = (c.topk(k, dim=1).values.mean(1) for c in (cosines, cosines.T))
    scores = 2 * cosines - r_x[:, None] - r_z
    targets, sources = scores.argmax(1).tolist(), scores.argmax(0).tolist()
    mutual = torch.tensor([(i, j) for i, j in enumerate(targets) if sources[j] == i])
    expected = agreement(x, z, mutual, torch.Generator().manual_seed(0), k=k)
    assert 0.1 < expected < 0.95
    found = mutual_agreement(*translated(noise=0.9), torch.Generator().manual_seed(0), **settings)
    assert found == pytest.approx(expected)


def test_no_pairs_do_not_agree():
    assert mutual_agreement(normal(1, 3), normal(1, 3), torch.Generator()) == 0.0


def test_the_failure_says_what_was_found_and_what_to_do():
    with pytest.raises(AlignmentError, match=r"gan has failed, tried 3 times: .* back 12% .*needed 40%.*`rng_seed`"):
        raise failure("gan", tries=3, found=0.12, needed=0.4)
