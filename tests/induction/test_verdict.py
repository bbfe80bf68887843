import pytest
import torch

from bilex import AlignmentError
from bilex.induction.verdict import failure, mutual_agreement
from bilex.normalize import unit


def normal(*shape, rng_seed=0):
    return unit(torch.randn(*shape, generator=torch.Generator().manual_seed(rng_seed)))


def test_translations_agree_and_others_do_not():
    x = normal(300, 30)
    near = unit(x + 0.05 * normal(300, 30, rng_seed=1))
    assert mutual_agreement(x, near, torch.Generator()) > 0.95
    assert mutual_agreement(x, normal(300, 30, rng_seed=2), torch.Generator()) < 0.4


def test_no_pairs_do_not_agree():
    assert mutual_agreement(normal(1, 3), normal(1, 3), torch.Generator()) == 0.0


def test_the_failure_says_what_was_found_and_what_to_do():
    with pytest.raises(AlignmentError, match=r"gan has failed, tried 3 times: .* back 12% .*needed 40%.*--rng-seed"):
        raise failure("gan", tries=3, found=0.12, needed=0.4)
