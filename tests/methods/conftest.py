import pytest
import torch

from bilex.normalize import Normalizer, unit
from bilex.training.checkpoint import Checkpoint
from bilex.training.trace import Trace


class PowerCutError(Exception):
    """The power cut."""


@pytest.fixture(scope="session")
def given(world):
    """Normalized tables, train pairs and dev pairs, as `fit` gets them."""
    x, z = (
        Normalizer.fit(torch.from_numpy(table.rows.copy()), ("unit", "center", "unit"))[1]
        for table in (world.source, world.target)
    )
    train, test = (
        torch.from_numpy(lexicon.index(world.source, world.target).pairs) for lexicon in (world.train, world.test)
    )
    return x, z, train, test[:30]


@pytest.fixture(scope="session")
def uneven():
    """Tables of different sizes, in double precision, and pairs; source word i is target word i."""
    random = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(*shape, generator=random, dtype=torch.float64)

    x = unit(normal(60, 5))
    z = unit(x @ torch.linalg.qr(normal(5, 5)).Q + 0.2 * normal(60, 5))
    return x, torch.cat([z, unit(normal(15, 5))]), torch.arange(20)[:, None].expand(-1, 2)


@pytest.fixture(scope="session")
def turned():
    """A cloud of words, skewed and of other widths in other directions, the same turned a little, and which is which.

    Source word i is target word order[i].
    """
    random = torch.Generator().manual_seed(0)
    rows = torch.rand(300, 6, generator=random) ** 3 * torch.linspace(2, 0.7, 6)
    x = Normalizer.fit(rows, ("center", "unit"))[1]
    bent = torch.randn(6, 6, generator=random)
    turn = torch.linalg.matrix_exp(0.25 * (bent - bent.T))
    order = torch.randperm(300, generator=random)
    z = torch.empty_like(x)
    z[order] = x @ turn
    return x, z, order


@pytest.fixture(scope="session")
def same():
    """Whether two mappings are equal to the bit."""

    def compare(one, other):
        return all(torch.equal(array, other.arrays()[name]) for name, array in one.arrays().items())

    return compare


@pytest.fixture
def check_resuming(tmp_path, same):
    """Kill a fit at each of its records in turn; every next life must end as the fit that was not killed."""

    def check(fit, **resumed_with):
        whole = Trace()
        expected = fit(trace=whole)
        for number in range(len(whole.records)):
            folder = tmp_path / str(number)
            folder.mkdir()
            heard = []

            def stop(record, heard=heard, number=number):
                heard.append(record)
                if len(heard) > number:
                    raise PowerCutError

            with pytest.raises(PowerCutError):
                fit(trace=Trace(stop), checkpoint=Checkpoint(folder))
            trace = Trace()
            more = resumed_with if any(folder.iterdir()) else {}  # where there is a checkpoint, it is the whole truth
            assert same(fit(trace=trace, checkpoint=Checkpoint(folder), **more), expected)
            assert _untimed(trace) == _untimed(whole)
        return whole

    return check


def _untimed(trace):
    return [{k: v for k, v in record.items() if not k.endswith("seconds")} for record in trace.records]
