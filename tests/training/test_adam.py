import subprocess
import sys

import pytest
import torch

from bilex.training.adam import Adam

SHAPES = [(7, 5), (4,), (1, 3)]


def drawn(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=dtype) for shape in SHAPES]


def test_the_bits_of_torch():
    """Over many steps, with a learning rate that changes and gradients that are missing at times."""
    for dtype in (torch.float32, torch.float64):
        own, theirs = drawn(0, dtype), [p.requires_grad_() for p in drawn(0, dtype)]
        adam, reference = Adam(own, 0.05), torch.optim.Adam(theirs, lr=0.05)
        for t in range(1, 101):
            adam.learning_rate = reference.param_groups[0]["lr"] = 0.05 * (1 - t / 200)
            gradients = [None if (t + i) % 5 == 0 and i else g for i, g in enumerate(drawn(t, dtype))]
            for p, g in zip(theirs, gradients, strict=True):
                p.grad = g
            adam.step(gradients)
            reference.step()
            for i, (p, q) in enumerate(zip(own, theirs, strict=True)):
                state = reference.state[q]
                assert torch.equal(p, q)
                assert adam.steps[i] == state["step"]
                assert torch.equal(adam.first_moments[i], state["exp_avg"])
                assert torch.equal(adam.second_moments[i], state["exp_avg_sq"])


def test_continued_from_its_state():
    whole = Adam(drawn(0, torch.float32), 0.1)
    for t in range(1, 5):
        whole.step(drawn(t, torch.float32))
    rest = Adam([p.clone() for p in whole.parameters], 0.1)
    rest.steps = list(whole.steps)
    rest.first_moments, rest.second_moments = (
        [m.clone() for m in moments] for moments in (whole.first_moments, whole.second_moments)
    )
    for t in range(5, 9):
        whole.step(drawn(t, torch.float32))
        rest.step(drawn(t, torch.float32))
    assert all(torch.equal(p, q) for p, q in zip(whole.parameters, rest.parameters, strict=True))


def test_parameters_that_are_trained_stay_leaves():
    p = torch.ones(3, requires_grad=True)
    adam = Adam([p], 0.1)
    adam.step(torch.autograd.grad((p**2).sum(), [p]))
    assert p.requires_grad
    assert p.is_leaf
    assert not adam.first_moments[0].requires_grad
    assert p.tolist() == pytest.approx([0.9] * 3)


def test_each_parameter_needs_its_gradient():
    with pytest.raises(ValueError, match="shorter"):
        Adam(drawn(0, torch.float32), 0.1).step([torch.zeros(SHAPES[0])])


def test_it_does_not_import_the_compiler_of_torch():
    code = (
        "import sys, torch\nfrom bilex.training.adam import Adam\n"
        "Adam([torch.ones(2)], 0.1).step([torch.ones(2)])\nprint('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
