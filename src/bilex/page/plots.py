"""Draw charts as SVG. The same chart always gives the same bytes. Needs the extra `plots`."""

from __future__ import annotations

import importlib
import io
import math
import re
import warnings
from typing import TYPE_CHECKING, Any

from bilex.errors import MissingExtraError
from bilex.page.charts import MAX_LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bilex.page.charts import Chart, Line

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
"""Palette of Okabe and Ito (2008), safe for colour-blind readers, and legible on light and dark backgrounds."""
MARKERS = "osD^vPX"
INK = "#0b0c0d"
"""Placeholder for the text colour of the page. It is replaced by `currentColor`."""
WIDTH, HEIGHT = 4.2, 3.0
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bilex",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.15,
    "grid.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
}
Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""
LABEL_OFFSETS = [
    (dx, dy, side)
    for reach in (6, 14, 24, 36)
    for dx, dy, side in ((reach, 0, "left"), (-reach, 0, "right"), (0, reach, "center"), (0, -reach, "center"))
]
"""Possible offsets of a label from its point, in typographic points, in the order in which they are tried."""
CONNECTOR_DISTANCE = 6
"""A label at a larger distance is connected to its point by a line."""


def draw(chart: Chart) -> str:
    """The chart as an SVG file."""
    matplotlib = _import("matplotlib")
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure = _figure(chart)
        buffer = io.StringIO()
        plain = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=plain)
    return buffer.getvalue().replace(INK, "currentColor")


def require_matplotlib() -> None:
    """Raise MissingExtraError if matplotlib is missing. To be called before long work."""
    _import("matplotlib")


def inline(svg: str, name: str, title: str) -> str:
    """An SVG file for use within a page: without XML header and links, with unique ids, and with an aria-label."""
    from bilex.page.markup import escape_html

    body = svg[svg.index("<svg") :]
    body = re.sub(r'\s(xmlns(:\w+)?)="[^"]*"', "", body, count=2).replace("xlink:href", "href")
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", body)
    return body.replace("<svg ", f'<svg role="img" aria-label="{escape_html(title)}" ', 1).rstrip()


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError("matplotlib", "plots", "drawing plots (`plots=False` leaves them out)") from None


def _figure(chart: Chart) -> Figure:
    """Panels in rows of two. A label has the same colour in all panels; one legend is below them."""
    panels = chart.panels
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    wide = WIDTH * (1.6 if columns == 1 else columns)
    figure: Figure = _import("matplotlib.figure").Figure(figsize=(wide, HEIGHT * rows + 0.5), layout="constrained")
    labels = list(dict.fromkeys(line.label for _, lines in panels for line in lines))
    handles: dict[str, Any] = {}
    for i, (title, lines) in enumerate(panels):
        axes = figure.add_subplot(rows, columns, i + 1, title=title, xlabel=chart.x_label, ylabel=chart.y_label)
        _scale(axes, chart, sorted({x for line in lines for x in line.x}))
        for line in lines:
            handles[line.label] = _line(axes, line, labels.index(line.label), crowded=len(line.x) > 12)
        if chart.points:
            _label_points(figure, axes, lines)
    if not chart.points:
        shown = [f" {label}" if label.startswith("_") else label for label in labels]
        figure.legend([handles[label] for label in labels], shown, loc="outside lower center", ncols=3)
    return figure


def _scale(axes: Axes, chart: Chart, values: list[float]) -> None:
    ticker = _import("matplotlib.ticker")
    if chart.log_x:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,.10g}"))
        axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    if chart.log_x and not chart.points:
        axes.set_xticks(values)
    elif chart.ticks:
        axes.set_xticks(range(len(chart.ticks)), chart.ticks, rotation=25, ha="right")
    elif not chart.log_x and all(value == int(value) for value in values):
        axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))


def _line(axes: Axes, line: Line, place: int, *, crowded: bool) -> Any:
    """Draw a line with its own colour and marker. After the last colour both repeat, with another dash pattern."""
    colour, marker = COLOURS[place % MAX_LINES], MARKERS[place % MAX_LINES]
    dash = ("-", "--", ":")[place // MAX_LINES % 3]
    (drawn,) = axes.plot(
        line.x, line.y, dash, color=colour, marker=marker, markersize=4.5, linewidth=1.3, markevery=5 if crowded else 1
    )
    return drawn


def _label_points(figure: Figure, axes: Axes, lines: Sequence[Line]) -> None:
    """Place each label where it overlaps no other label or point, or else where the overlap is smallest."""
    axes.margins(0.2, 0.12)
    figure.draw_without_rendering()
    frame = axes.get_window_extent()
    taken = [_marker_box(*axes.transData.transform((line.x[0], line.y[0]))) for line in lines]
    for line in sorted(lines, key=lambda line: -line.y[0]):
        tried: list[tuple[float, Any, Box]] = []
        for place in LABEL_OFFSETS:
            text = _label(axes, line, place)
            extent = text.get_window_extent()
            box = (extent.x0, extent.y0, extent.x1, extent.y1)
            outside = max(0.0, box[2] - frame.x1) + max(0.0, frame.x0 - box[0])
            tried.append((sum(_overlap_area(box, other) for other in taken) + 10 * outside, text, box))
            if tried[-1][0] == 0:
                break
        best = min(tried, key=lambda one: one[0])
        for one in tried:
            if one is not best:
                one[1].remove()
        taken.append(best[2])


def _label(axes: Axes, line: Line, place: tuple[int, int, str]) -> Any:
    *offset, side = place
    where: dict[str, Any] = {"xytext": offset, "textcoords": "offset points", "ha": side, "va": "center"}
    if max(map(abs, offset)) > CONNECTOR_DISTANCE:
        where["arrowprops"] = {"arrowstyle": "-", "color": INK, "alpha": 0.35, "linewidth": 0.6}
    return axes.annotate(line.label, (line.x[0], line.y[0]), fontsize=8, **where)


def _marker_box(x: float, y: float, half: float = 4) -> Box:
    return x - half, y - half, x + half, y + half


def _overlap_area(one: Box, other: Box) -> float:
    """Area of the intersection of two boxes."""
    wide, high = (min(one[i + 2], other[i + 2]) - max(one[i], other[i]) for i in (0, 1))
    return wide * high if wide > 0 and high > 0 else 0.0


assert len(COLOURS) == len(MARKERS) == MAX_LINES
