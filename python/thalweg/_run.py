"""Runs of scenarios."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from . import _thalweg
from ._data import plain
from ._progress import Line, is_watched
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
    if progress or (progress is None and is_watched()):
        seconds, runs = plan.seconds, len(plan.runs)

        def show(done: float, complete: int) -> None:
            share = min(done / seconds, 1.0) if seconds > 0 else 1.0
            line.show(share, f"{runs} runs, {complete} complete")

        with Line() as line:
            return Results(plan.run(show))
    return Results(plan.run(None))
