"""Random tensors, the same in every run."""

import torch


def generator(rng_seed=0):
    return torch.Generator().manual_seed(rng_seed)


def normal(*shape, rng_seed=0):
    """In double precision, so that tests can compare closely."""
    return torch.randn(*shape, generator=generator(rng_seed), dtype=torch.float64)
