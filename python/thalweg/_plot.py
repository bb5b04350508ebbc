"""The figures of the report, drawn with matplotlib.

Which figures there are, and which lines they have, comes from the engine as data. Here they are drawn with the colours,
the dashes and the axes of the report.
"""

from __future__ import annotations

from typing import Any

try:
    import matplotlib.pyplot as pyplot
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ImportError as e:
    raise ImportError("plots need matplotlib: pip install matplotlib") from e

PIXEL = 0.75
"""Points per pixel: lengths of dashes are in pixels of a page."""
HEIGHT = 1.9
"""Height of a figure, in inches."""
SHOWN = 12
"""Lines that the legend names at most, as in the report."""


def draw(page: dict[str, Any], styles: dict[str, Any], keep: list[str] | None, width: float) -> Figure:
    """Draws the figures of ``page`` whose vertical axes begin with one of ``keep``, one below the other."""
    groups = [{**group, "figures": [it for it in group["figures"] if _is_kept(it, keep)]} for group in page["groups"]]
    count = sum(len(group["figures"]) for group in groups)
    if count == 0:
        names = dict.fromkeys(figure["axis"] for group in page["groups"] for figure in group["figures"])
        raise ValueError(f"there is no figure of {keep}; there are: {', '.join(names) or 'none'}")
    size = (width, HEIGHT * count + 0.6)
    canvas, rows = pyplot.subplots(count, 1, figsize=size, squeeze=False, layout="constrained")
    rest = iter(rows[:, 0])
    for group in groups:
        for figure, axes in zip(group["figures"], rest):
            _figure(axes, page, group, figure, styles)
            if figure is group["figures"][0] and len(group["legend"]) > 1:
                _legend(axes, group, styles)
    return canvas


def _is_kept(figure: dict[str, Any], keep: list[str] | None) -> bool:
    return keep is None or any(figure["axis"].startswith(name) for name in keep)


def _figure(axes: Axes, page: dict[str, Any], group: dict[str, Any], figure: dict[str, Any], styles: Any) -> None:
    """Draws one figure."""
    across = figure["across"]
    if across is None:
        axes.set_xlim(0, page["step"] * page["bins"])
        # As in the report, figures over time share the label of the last.
        last = [other for other in group["figures"] if other["across"] is None][-1]
        axes.set_xlabel("Time (s)" if group["panels"] or figure is last else "")
    else:
        axes.set_xlabel(across["axis"])
        axes.margins(x=0.01)
    axes.set_ylabel(figure["axis"])
    if figure["title"]:
        axes.set_title(figure["title"], fontsize="medium", loc="left")
    axes.grid(color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    places = across["values"] if across else [page["step"] * (i + 0.5) for i in range(page["bins"])]
    values: list[float] = []
    band = figure["band"]
    if band:
        colour, _ = _look(group["legend"][band["entry"]]["style"], styles)
        low, high = _numbers(band["low"]), _numbers(band["high"])
        axes.fill_between(places[: len(low)], low, high, color=colour, alpha=0.25, linewidth=0)
        values += high
    for line in figure["lines"]:
        entry = None if line["entry"] is None else group["legend"][line["entry"]]
        colour, dash = _look(entry["style"] if entry else None, styles)
        points = {"marker": "o", "markerfacecolor": "white", "linestyle": "none"}
        drawn = points if entry and entry["mark"] == "points" else {"linestyle": dash, "linewidth": 1.2}
        numbers = _numbers(line["values"])
        axes.plot(places[: len(numbers)], numbers, color=colour, **drawn)
        values += numbers
    _extent(axes, figure, [value for value in values if value == value])
    if across and across["log"]:
        axes.set_xscale("log")


def _extent(axes: Axes, figure: dict[str, Any], values: list[float]) -> None:
    """Sets the extent of the vertical axis, and draws the level to compare with."""
    vertical, level = figure["vertical"], figure["level"]
    most = max(values, default=0.0)
    if level and level[0] < 1.4 * most:
        axes.axhline(level[0], color="#777777", linestyle=":", linewidth=1)
        axes.annotate(
            level[1], (1, level[0]), xycoords=("axes fraction", "data"), xytext=(0, 2), textcoords="offset points",
            ha="right", va="bottom", fontsize="small", color="#777777",
        )  # fmt: skip
        most = max(most, level[0])
    if vertical == "logarithmic":
        axes.set_yscale("log")
    elif isinstance(vertical, dict):
        axes.set_ylim(0, vertical["to"])
    elif vertical == "from-zero":
        axes.set_ylim(0, most * 1.04 if most > 0 else 1)


def _legend(axes: Axes, group: dict[str, Any], styles: Any) -> None:
    """Names the lines of a group above its first figure."""
    entries = group["legend"][:SHOWN]
    for entry in entries:
        colour, dash = _look(entry["style"], styles)
        look: dict[str, Any] = {"linestyle": dash}
        if entry["mark"] == "band":
            look = {"linewidth": 6, "alpha": 0.25}
        axes.plot([], [], color=colour, label=entry["name"], **look)
    if len(group["legend"]) > SHOWN:
        axes.plot([], [], linestyle="none", label=f"and {len(group['legend']) - SHOWN} more")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.02), ncols=4, frameon=False, borderaxespad=0, fontsize="small",
                title=group["title"], alignment="left")  # fmt: skip


def _look(style: int | None, styles: Any) -> tuple[str, Any]:
    """The colour and the line style of a legend entry."""
    if style is None:
        return styles["neutral"], "solid"
    dash = styles["dashes"][style % len(styles["dashes"])]
    return styles["colours"][style % len(styles["colours"])], (0, [PIXEL * x for x in dash]) if dash else "solid"


def _numbers(values: list[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]
