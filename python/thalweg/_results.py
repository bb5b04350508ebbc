"""Results of runs."""

from __future__ import annotations

import html
import json
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _thalweg
from ._thalweg import Table

if TYPE_CHECKING:
    import matplotlib.figure


class Results:
    """The results of the runs of a scenario.

    The tables have the columns that docs/results.md describes, with units in their names. They implement the Arrow
    PyCapsule interface: ``polars.DataFrame(results.flows)``, ``pyarrow.table(results.flows)`` and, from pandas 3 on,
    ``pandas.DataFrame.from_arrow(results.flows)`` read them without a copy.

    ``print(results)`` shows the tables of ``thalweg run``.
    """

    def __init__(self, native: _thalweg.Results) -> None:
        self._native = native

    @property
    def title(self) -> str:
        """The title of the scenario."""
        return self._native.title

    @property
    def seed(self) -> int:
        """The seed of the scenario."""
        return self._native.seed

    @cached_property
    def summary(self) -> Table:
        """One row per run, with its metrics over the measured interval. Each key that a sweep set is a column.

        As ``summary.parquet``, which ``thalweg merge`` writes, and with the time that each run took.
        """
        return self._native.summary()

    @cached_property
    def flows(self) -> Table:
        """One row per flow and sample: throughput, window, rate, round-trip time, phase. As ``flows.parquet``."""
        return self._native.flows()

    @cached_property
    def links(self) -> Table:
        """One row per link and sample: queue, drops, utilization. As ``links.parquet``."""
        return self._native.links()

    @cached_property
    def transfers(self) -> Table:
        """One row per transfer of connections that come and go. As ``transfers.parquet``."""
        return self._native.transfers()

    @cached_property
    def completion(self) -> Table:
        """One row per kind of connections and size of their transfers. As ``completion.parquet``."""
        return self._native.completion()

    def to_dict(self) -> dict[str, Any]:
        """All metrics of all runs, with their flows and links, as ``thalweg run --format json`` prints them."""
        metrics: dict[str, Any] = json.loads(self._native.json())
        return metrics

    def report(self, folder: str | os.PathLike[str]) -> None:
        """Writes the files of ``thalweg run --out``: ``report.html``, ``summary.json`` and the Parquet files.

        The folder must not be there, or hold earlier results and nothing else; it appears complete or not at all.

        Raises ``OSError`` if it cannot be written.
        """
        self._native.write(folder)

    def plot(self, axes: str | list[str] | None = None, *, width: float = 8.0) -> matplotlib.figure.Figure:
        """Draws the figures of the report with matplotlib, ``width`` inches wide.

        ``axes`` keeps those whose vertical axis begins with one of these names: ``["Throughput", "Queue"]``.
        """
        from ._plot import draw

        keep = [axes] if isinstance(axes, str) else axes
        return draw(json.loads(self._native.figures()), json.loads(_thalweg.styles()), keep, width)

    def __repr__(self) -> str:
        return f"<thalweg.Results: {self.title}, {len(self.summary)} runs>"

    def __str__(self) -> str:
        return self._native.text()

    def _repr_html_(self) -> str:
        """The table of runs, for notebooks."""
        heads, rows = self._native.cells()
        head = "".join(f"<th>{html.escape(text).replace(chr(10), '<br>')}</th>" for text in heads)
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows)
        caption = f"<caption>{html.escape(self.title)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>"
