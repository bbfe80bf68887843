import importlib
import os
import sys
import warnings

import pytest
import torch

from bilex.errors import AlignmentError, MissingExtraError
from bilex.linalg.transport import OTHER_BACKENDS, carry, import_ot
from random_tensors import normal

pytest.importorskip("ot")


def slow_plan(kernel, rounds):
    """Rows and columns scaled in turn to uniform sums, columns first, as often as told."""
    n, m = kernel.shape
    plan = kernel.clone()
    for _ in range(rounds):
        plan = plan / plan.sum(0) / m
        plan = plan / plan.sum(1, keepdim=True) / n
    return plan


@pytest.mark.parametrize("shape", [(30, 40), (40, 30), (5, 1)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_largest_of_each_row_of_the_plan(shape, dtype):
    log_kernel = (3 * normal(*shape)).to(dtype)
    plan = slow_plan(log_kernel.double().exp(), 500)
    torch.testing.assert_close(plan.sum(0), torch.full((shape[1],), 1 / shape[1], dtype=plan.dtype))
    found = carry(log_kernel, tolerance=1e-6, iterations=500)
    assert found.tolist() == plan.argmax(1).tolist()


def test_the_marginals_matter():
    log_kernel = 3 * normal(30, 40)
    assert carry(log_kernel, tolerance=1e-9, iterations=500).tolist() != log_kernel.argmax(1).tolist()


def test_no_more_iterations_than_told():
    log_kernel = 3 * normal(30, 40)
    found = carry(log_kernel, tolerance=1e-12, iterations=2)
    assert found.tolist() == slow_plan(log_kernel.exp(), 2).argmax(1).tolist()


def test_a_kernel_too_sharp_is_no_number():
    """Also where warnings are no errors, as they are in these tests."""
    log_kernel = torch.full((3, 3), torch.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(AlignmentError, match="set a higher temperature"):
            carry(log_kernel, tolerance=1e-3, iterations=10)


def test_a_very_sharp_kernel():
    log_kernel = torch.full((50, 50), -1e4)
    log_kernel.fill_diagonal_(0)
    assert carry(log_kernel, tolerance=1e-6, iterations=100).tolist() == list(range(50))


def test_without_it_the_extra_is_named(monkeypatch):
    def refuse(name, *_):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingExtraError, match=r"css needs the package POT: pip install 'bilex\[transport\]'"):
        import_ot("css")


def test_no_other_framework_is_imported(monkeypatch):
    seen = {}
    monkeypatch.setenv("POT_BACKEND_DISABLE_JAX", "as it was")
    monkeypatch.setattr(importlib, "import_module", lambda name: seen.update(os.environ) or sys.modules.get(name))
    before = dict(os.environ)
    import_ot("css")
    assert all(seen[f"POT_BACKEND_DISABLE_{name}"] == "1" for name in OTHER_BACKENDS)
    assert dict(os.environ) == before


def test_the_switches_are_those_of_pot():
    backend = importlib.import_module("ot.backend")
    known = {value for name, value in vars(backend).items() if name.startswith("DISABLE_")}
    assert known >= {f"POT_BACKEND_DISABLE_{name}" for name in OTHER_BACKENDS}
