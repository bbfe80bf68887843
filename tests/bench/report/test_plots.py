import dataclasses
import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from bilex.bench.report import curves
from bilex.bench.report.curves import bands, charts, cost, training
from bilex.bench.report.variations import few_pairs, sensitivity
from bilex.errors import MissingExtraError
from bilex.page.charts import MAX_LINES
from bilex.page.plots import COLOURS, draw, inline

SVG = "{http://www.w3.org/2000/svg}"


def names(grid):
    return [chart.name for chart in charts(grid)]


def test_only_what_there_is_something_for_is_drawn(mixed, cell, grid_of):
    assert names(mixed) == ["cost", "bands", "training"]
    assert names(grid_of(cell("rapo", status="failed", error="no"))) == []


def test_cost_is_of_systems_complete_on_the_same_directions(mixed):
    chart = cost(mixed)
    assert {line.label: (line.x, line.y) for line in chart.panels[0][1]} == {
        "procrustes": ((2.5,), (37.5,)),
        "vecmap": ((2.5,), (41.25,)),
        "rapo": ((75.0,), (63.75,)),
    }
    assert "en-fr, en-fi" in chart.caption


def test_bands_of_few_words_are_left_out(mixed):
    chart = bands(mixed)
    assert chart.ticks == ("1,001-5,000", "5,001-20,000")
    assert all(len(line.x) == 2 for _, lines in chart.panels for line in lines)


def test_bands_are_means_over_seeds(mixed, monkeypatch):
    monkeypatch.setattr(curves, "MIN_WORDS", 1)
    chart = bands(mixed)
    assert chart.ticks == ("1-1,000", "1,001-5,000", "5,001-20,000")
    direction, lines = chart.panels[0]
    rapo = next(line for line in lines if line.label == "rapo")
    assert direction == "en-fr"
    assert rapo.y == (100, 100, pytest.approx(100 * 18 / 27))


def test_no_more_lines_than_colours(cell, grid_of):
    grid = grid_of(*(cell(f"system {i:02}", right=range(i)) for i in range(20)))
    lines = bands(grid).panels[0][1]
    assert [line.label for line in lines] == [f"system {i}" for i in range(20 - MAX_LINES, 20)]
    assert f"{MAX_LINES} best" in bands(grid).caption


def test_few_pairs(cell, grid_of):
    few = [cell(f"rapo, {n} pairs", pairs=n, right=range(n // 50), method="rapo") for n in (1000, 100, 500)]
    grid = grid_of(*few, cell("rapo", right=range(30)), cell("geomm"))
    (line,) = few_pairs(grid).panels[0][1]
    assert (line.label, line.x, line.y) == ("rapo", (100, 500, 1000, 5000), (5, 25, 50, 75))


def test_sensitivity_is_of_a_setting_that_alone_differs(cell, grid_of):
    def rapo(hard, tau=0.9, **more):
        return cell(
            f"rapo {hard} {tau}", method="rapo", resolved={"hard": hard, "in": {"tau": tau}, "way": True}, **more
        )

    grid = grid_of(*(rapo(n, right=range(n)) for n in (4, 16, 8)), rapo(4, 0.5), rapo(16, 0.7))
    (chart,) = sensitivity(grid)
    assert (chart.title, chart.panels[0][1][0].x) == ("rapo: hard", (4, 8, 16))
    assert chart.panels[0][1][0].y == (10, 20, 40)
    (theirs,) = (lines for title, lines in chart.panels if title.startswith("published"))
    assert {line.label: (line.x[1], line.y[1]) for line in theirs} == {"en-zh": (64, 50.3), "en-tr": (64, 54.8)}
    (alone,) = sensitivity(grid, beside=False)
    assert len(alone.panels) == 1


def test_a_training_that_begins_again_is_another_line(cell, grid_of):
    trace = [{"epoch": 0, "dev": 0.1}, {"epoch": 1, "dev": 0.2}, {"stage": "x"}, {"epoch": 0, "dev": 0.3}]
    trace += [{"epoch": 1, "dev": 0.4}, {"epoch": 2, "loss": 1.0}]
    lines = training(grid_of(cell("rapo", trace=trace))).panels[0][1]
    assert [(line.x, line.y) for line in lines] == [((0, 1), (0.1, 0.2)), ((0, 1), (0.3, 0.4))]


def test_the_same_results_give_the_same_file(mixed):
    for chart in charts(mixed):
        svg = draw(chart)
        assert svg == draw(chart)
        assert "dc:date" not in svg
        assert "currentColor" in svg
        ElementTree.fromstring(svg)


def test_epochs_are_whole_numbers(mixed):
    groups = ElementTree.fromstring(draw(training(mixed))).iter(f"{SVG}g")
    axis = next(group for group in groups if group.get("id") == "matplotlib.axis_1")
    assert ["".join(text.itertext()).strip() for text in axis.iter(f"{SVG}text")] == ["0", "1", "2", "3", "epoch"]


def test_each_line_has_its_colour(mixed):
    """Also in the next panel."""
    chart = bands(mixed)
    labels = {line.label for _, lines in chart.panels for line in lines}
    svg = draw(chart).lower()
    assert [colour.lower() in svg for colour in COLOURS] == [i < len(labels) for i in range(MAX_LINES)]
    assert len(labels) > 1


def test_hostile_names_are_text(cell, grid_of, hostile):
    strange = [hostile, "\N{HIRAGANA LETTER A}", "_hidden", "$\\frac{"]
    grid = grid_of(*(cell(name, method="rapo", right=range(9 + i)) for i, name in enumerate(strange)))
    for chart in charts(grid):
        root = ElementTree.fromstring(draw(chart))
        found = {"".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")}
        assert set(strange) <= found


def test_a_plot_inside_a_page_has_ids_of_its_own_and_no_links(mixed):
    chart = charts(mixed)[0]
    body = inline(draw(chart), "one", 'a "title"')
    ids = re.findall(r'\bid="([^"]+)"', body)
    assert all(name.startswith("one-") for name in ids)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', body)) <= set(ids)
    assert "http" not in body
    assert 'aria-label="a &quot;title&quot;"' in body


def test_labels_of_points_do_not_lie_on_each_other(cell, grid_of):
    grid = grid_of(*(cell(f"a system {i}", right=range(20), seconds=10.0 + i / 100) for i in range(6)))
    root = ElementTree.fromstring(draw(cost(grid)))
    labels = [text for text in root.iter(f"{SVG}text") if "a system" in "".join(text.itertext())]
    places = [text.get("transform") or (text.get("x"), text.get("y")) for text in labels]
    assert len(places) == len(set(places)) == 6


def test_without_matplotlib(mixed, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"bilex\[plots\]"):
        draw(charts(mixed)[0])


def test_more_lines_than_colours_are_drawn_all_the_same(mixed):
    chart = training(mixed)
    line = chart.panels[0][1][0]
    many = tuple(dataclasses.replace(line, label=str(i)) for i in range(2 * len(COLOURS) + 1))
    drawn = ElementTree.fromstring(draw(dataclasses.replace(chart, panels=(("x", many),))))
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}path"))) > len(many)
