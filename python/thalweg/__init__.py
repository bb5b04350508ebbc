"""Congestion control in a packet-level simulator.

>>> import thalweg
>>> results = thalweg.run("scenarios/gigabit.toml", set={"duration": "5 s"})
>>> print(results)

``run`` takes a scenario: a file, a dictionary with the keys of such a file, or a ``Scenario``. ``Results`` has the
metrics and the time series as tables that pandas, polars, pyarrow and DuckDB read. ``sweep`` makes many runs, also on a
Dask cluster. docs/python.md has the rest.
"""

from ._controllers import controller
from ._errors import Problem, RunError, ScenarioError
from ._evaluate import Evaluation, evaluate
from ._results import Results
from ._run import Progress, run
from ._sweep import SweepProgress, sweep
from ._thalweg import Ack, Conditions, Pipe, Table
from .scenario import (
    Bursts,
    Change,
    Compare,
    Flow,
    Link,
    Measure,
    Path,
    Reorder,
    Scenario,
    Traffic,
)

__all__ = [
    "Ack",
    "Bursts",
    "Change",
    "Compare",
    "Conditions",
    "Evaluation",
    "Flow",
    "Link",
    "Measure",
    "Path",
    "Pipe",
    "Problem",
    "Progress",
    "Reorder",
    "Results",
    "RunError",
    "Scenario",
    "ScenarioError",
    "SweepProgress",
    "Table",
    "Traffic",
    "controller",
    "evaluate",
    "run",
    "sweep",
]
