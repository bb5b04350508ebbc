"""Runs of scenarios."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from . import _thalweg
from ._data import plain
from ._results import Results
from .scenario import Scenario


class Progress(NamedTuple):
    """How far the runs of a scenario are."""

    simulated: float
    """Time simulated so far, over all runs, in seconds."""
    of_simulated: float
    """Time to simulate, over all runs, in seconds."""
    runs: int
    """How many runs are complete."""
    of_runs: int
    """How many runs there are."""


def run(
    scenario: str | os.PathLike[str] | Mapping[str, object] | Scenario,
    *,
    set: Mapping[str, object] | None = None,
    jobs: int | None = None,
    progress: bool | Callable[[Progress], object] | None = None,
) -> Results:
    """Makes the runs of a scenario.

    ``scenario`` is the name of a TOML file, a dictionary with the keys of such a file, or a ``Scenario``. Files that a
    dictionary or a ``Scenario`` names are looked for in the current folder.

    ``set`` replaces values of the scenario: ``{"path.rate": "10 Gbps", "flow[0].count": 3}``.

    ``jobs`` is how many runs are made at the same time; one per core if not given. Results do not depend on it.

    ``progress`` is called several times per second in runs that take long. ``True`` shows a line on standard error,
    ``False`` shows nothing; if not given, the line is shown in terminals and notebooks.

    Other threads of Python go on meanwhile. Ctrl-C ends the runs.

    Raises ``ScenarioError`` if the scenario is wrong, and ``KeyboardInterrupt`` on Ctrl-C.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: {jobs} is less than 1; give a number of runs, or leave it out for one per core")
    sets = json.dumps(plain(set or {}), allow_nan=False)
    if isinstance(scenario, (str, os.PathLike)):
        plan = _thalweg.Plan.load(os.fspath(scenario), sets, jobs)
    else:
        plan = _thalweg.Plan.read(json.dumps(plain(scenario), allow_nan=False), sets, jobs)
    if callable(progress):
        tell, seconds, runs = progress, plan.seconds, len(plan.runs)
        return Results(plan.run(lambda done, complete: tell(Progress(done, seconds, complete, runs))))
    if progress or (progress is None and _is_watched()):
        with _Line(plan.seconds, len(plan.runs)) as line:
            return Results(plan.run(line.show))
    return Results(plan.run(None))


def _is_watched() -> bool:
    """Whether somebody looks at standard error: in a terminal or in a notebook."""
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)


class _Line:
    """A line on standard error that is written again and again."""

    def __init__(self, seconds: float, runs: int) -> None:
        self.seconds, self.runs = seconds, runs
        self.begin = self.last = time.monotonic()
        self.width = 0

    def show(self, done: float, complete: int) -> None:
        """Shows that ``done`` seconds are simulated and that ``complete`` runs are complete, not too often."""
        now = time.monotonic()
        if now - self.last < 0.2:
            return
        self.last = now
        share = min(done / self.seconds, 1.0) if self.seconds > 0 else 1.0
        left = (now - self.begin) * (1 / share - 1) if share > 0 else 0.0
        text = f"{share:4.0%} of {self.runs} runs, {complete} complete, {left:.0f} s left"
        self._write(text)

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, *_: object) -> None:
        if self.width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = max(self.width, len(text))
