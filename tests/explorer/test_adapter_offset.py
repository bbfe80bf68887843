import dataclasses

import pytest
import torch

from bilex.explorer.adapter_offset import personal
from bilex.explorer.chart import plane
from bilex.methods.rapo import context as context_module
from bilex.methods.rapo.context import context_vectors, find_neighbourhoods
from bilex.methods.rapo.mapping import TowerMapping


def towers(x, z, *, kept, **settings):
    generator = torch.Generator().manual_seed(0)
    matrix = lambda: torch.randn(12, 12, generator=generator) / 12  # noqa: E731
    settings = {"activation": "tanh", "tau_source": 0.5, "tau_target": 0.6, "context_cap": None} | settings
    found = {"source": find_neighbourhoods(x, 0.5), "target": find_neighbourhoods(z, 0.6)} if kept else {}
    return TowerMapping(
        source_adapter=matrix(),
        target_adapter=matrix(),
        source_projection=matrix(),
        target_projection=matrix(),
        source_context=found.get("source"),
        target_context=found.get("target"),
        **settings,
    )


@pytest.mark.parametrize("kept", [True, False, "means"])
@pytest.mark.parametrize(("side", "tau"), [("source", 0.5), ("target", 0.6)])
def test_the_offset_is_what_moves_the_word(alignment, side, tau, kept, monkeypatch):
    monkeypatch.setattr(context_module, "MAX_PAIRS", 10 if kept == "means" else 10**6)
    x, z = alignment.normalized("source"), alignment.normalized("target")
    mapping, table, row = towers(x, z, kept=kept), x if side == "source" else z, 7
    told = personal(mapping, side, row, table)
    context = context_vectors(table, tau)[row]
    offset = (context @ getattr(mapping, f"{side}_adapter")).tanh()
    moved = torch.nn.functional.normalize(table[row] + offset, dim=0)
    assert told["size"] == pytest.approx(float(offset.norm()), abs=1e-5)
    assert told["along"] == pytest.approx(float(torch.cosine_similarity(offset, table[row], dim=0)), abs=1e-5)
    assert torch.tensor(told["turned"]).deg2rad().cos() == pytest.approx(float(moved @ table[row]), abs=1e-5)
    near = ((table @ table[row] > tau).nonzero()[:, 0]).tolist()
    assert sorted([*told["context"], row]) == near
    nearest = (table @ offset).argsort(descending=True).tolist()
    assert [i for i, _ in told["towards"]] == nearest[:8]
    assert [i for i, _ in told["away"]] == nearest[::-1][:8]


def test_methods_without_an_adapter_have_none(alignment):
    x, z = alignment.normalized("source"), alignment.normalized("target")
    assert personal(alignment.mapping, "source", 0, x) is None
    assert personal(towers(x, z, kept=False, activation="none"), "source", 0, x) is None


def test_on_the_page(alignment, tmp_path):
    from bilex.explorer import views
    from bilex.explorer.explorer import Explorer
    from bilex.run.corrections import Corrections

    mapping = towers(alignment.normalized("source"), alignment.normalized("target"), kept=True)
    explorer = Explorer(
        dataclasses.replace(alignment, mapping=mapping, _indexes={}), Corrections(tmp_path / "c.sqlite")
    )
    told = views.offset_view(explorer, "source", 7)
    assert told["context_size"] == len(told["context"])
    assert all(near["word"] in explorer.table("source") for near in told["towards"] + told["away"])
    explorer.close()


def test_a_plane_keeps_what_differs_most():
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn(30, 2, generator=generator) @ torch.randn(2, 9, generator=generator)
    made = plane(rows)
    assert made.shown == pytest.approx(1.0)
    points = torch.tensor(made.points)
    distances = [(values[:, None] - values).norm(dim=2) for values in (points, rows)]
    torch.testing.assert_close(*distances, atol=1e-4, rtol=0)


@pytest.mark.parametrize("rows", [torch.ones(1, 5), torch.ones(4, 5), torch.rand(2, 5), torch.rand(3, 1)])
def test_few_or_equal_points(rows):
    made = plane(rows)
    assert len(made.points) == len(rows)
    assert torch.tensor(made.points).isfinite().all()
    assert 0 <= made.shown <= 1.0000001
