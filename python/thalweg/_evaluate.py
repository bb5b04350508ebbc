"""Evaluations by the criteria of RFC 9743."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from . import _thalweg
from ._data import plain
from ._progress import Line, is_watched
from ._run import Progress
from ._thalweg import Table


class Evaluation:
    """A controller beside a baseline, by the criteria of RFC 9743.

    The tables implement the Arrow PyCapsule interface, as those of ``Results`` do. ``print(evaluation)`` shows the table
    of ``thalweg evaluate``.
    """

    def __init__(self, native: _thalweg.Evaluation) -> None:
        self._native = native

    @cached_property
    def rows(self) -> Table:
        """One row per row of the report: the values of subject and baseline, their difference, and the verdict.

        ``compared_by`` says whether ``difference`` and its interval are the subject's value less the baseline's, or over
        it. ``worst_case`` names the case in which the subject is worst beside the baseline.
        """
        return self._native.rows()

    @cached_property
    def cases(self) -> Table:
        """One row per row of the report, case, controller and seed: the value of each run."""
        return self._native.cases()

    @property
    def tally(self) -> str:
        """How many rows have each verdict, the worst first: ``"1 broken, 3 worse, 50 like"``."""
        return self._native.tally

    @property
    def is_broken(self) -> bool:
        """Whether the controller is broken in a row."""
        return self._native.is_broken

    def to_dict(self) -> dict[str, Any]:
        """All of it, as ``thalweg evaluate --format json`` prints it."""
        all_of_it: dict[str, Any] = json.loads(self._native.json())
        return all_of_it

    def report(self, folder: str | os.PathLike[str]) -> Path:
        """Writes the files of ``thalweg evaluate``, ``NAME.html``, ``NAME.json`` and ``NAME.parquet``, into ``folder``.

        Returns the page. Raises ``OSError`` if the files cannot be written.
        """
        return Path(self._native.write(os.fspath(folder)))

    def __repr__(self) -> str:
        return f"<thalweg.Evaluation: {self.tally}>"

    def __str__(self) -> str:
        return self._native.text()


def evaluate(
    controller: str,
    *,
    baseline: str = "cubic",
    blocks: Sequence[str] | None = None,
    scale: Literal["quick", "full"] = "quick",
    set: Mapping[str, object] | None = None,
    jobs: int | None = None,
    progress: bool | Callable[[Progress], object] | None = None,
) -> Evaluation:
    """Compares a controller with a baseline by the criteria of RFC 9743, as ``thalweg evaluate`` does.

    ``controller`` and ``baseline`` are names of controllers, also of those in Python. Runs with a controller in Python
    are made one after the other: begin with a block or two.

    ``blocks`` are names of blocks (``thalweg evaluate --list``), or of files with the ending ``.toml``; all blocks if not
    given. ``scale`` is ``"quick"`` or ``"full"``.

    ``set`` sets keys of all scenarios, such as a parameter of the controller: ``{"controller.aimd.decrease": 0}``.

    ``jobs`` and ``progress`` are those of ``run``. No runs are kept: the command line's cache is its own.

    Raises ``ValueError`` if a name, a block or a setting is wrong, with a line for each mistake.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: {jobs} is less than 1; give a number of runs, or leave it out for one per core")
    if scale not in ("quick", "full"):
        raise ValueError(f"scale: there is no {scale!r}; give \"quick\" or \"full\"")
    if blocks is not None and (isinstance(blocks, str) or not blocks):
        raise ValueError(f"blocks: {blocks!r} is no list of names; give one like [\"loss\"], or leave it out for all")
    sets = json.dumps(plain(set or {}), allow_nan=False)
    task = _thalweg.EvaluationTask.plan((controller, baseline), list(blocks or []), scale == "full", sets, jobs)
    seconds, runs = task.seconds, task.runs
    if callable(progress):
        tell = progress
        return Evaluation(task.make(lambda done, complete: tell(Progress(done, seconds, complete, runs))))
    if progress or (progress is None and is_watched()):

        def show(done: float, complete: int) -> None:
            line.show(min(done / seconds, 1.0), f"{runs} runs, {complete} complete")

        with Line() as line:
            return Evaluation(task.make(show))
    return Evaluation(task.make(None))
