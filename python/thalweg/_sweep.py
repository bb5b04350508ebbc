"""Sweeps: scenarios with many runs, which are divided into shards."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from . import _thalweg
from ._data import plain
from ._progress import Line, is_watched
from ._thalweg import Table
from .scenario import Scenario

if TYPE_CHECKING:
    import distributed

RUNS_OF_SHARD = 10_000
"""The most runs of a shard."""
TASKS = 1000
"""The most tasks that a scheduler gets, unless there are more than 10,000 runs for each."""
SINGLE = 2**62
"""Into so many shards that each has a run at most."""


class SweepProgress(NamedTuple):
    """How far a sweep is."""

    runs: int
    """How many runs are complete."""
    of_runs: int
    """How many runs there are."""
    shards: int
    """How many shards are complete."""
    of_shards: int
    """How many shards there are."""


class Source(NamedTuple):
    """A scenario as any process can read it, also one that has not the file."""

    name: str
    """What problems call it."""
    folder: str
    """The folder, from the root, of the files that it names."""
    text: str
    """The text of a TOML file, or a JSON object with the keys of one."""
    is_file: bool
    """Whether it is the text of a file."""
    sets: str
    """A JSON object of keys and the values that replace the scenario's."""


class Place(NamedTuple):
    """Where the shards are kept."""

    out: str
    """The folder, from the root, or the part of an object store."""
    series: bool
    """Whether time series are kept, too."""


@overload
def sweep(
    scenario: str | os.PathLike[str] | Mapping[str, object] | Scenario,
    *,
    set: Mapping[str, object] | None = None,
    client: None = None,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    series: bool = False,
    jobs: int | None = None,
    retries: int = 2,
    progress: bool | Callable[[SweepProgress], object] | None = None,
) -> Table: ...


@overload
def sweep(
    scenario: str | os.PathLike[str] | Mapping[str, object] | Scenario,
    *,
    set: Mapping[str, object] | None = None,
    client: distributed.Client,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    series: bool = False,
    jobs: int | None = None,
    retries: int = 2,
    progress: bool | Callable[[SweepProgress], object] | None = None,
) -> Any: ...


def sweep(
    scenario: str | os.PathLike[str] | Mapping[str, object] | Scenario,
    *,
    set: Mapping[str, object] | None = None,
    client: distributed.Client | None = None,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    series: bool = False,
    jobs: int | None = None,
    retries: int = 2,
    progress: bool | Callable[[SweepProgress], object] | None = None,
) -> Any:
    """Makes the runs of a scenario shard by shard, here or on a Dask cluster, and keeps their metrics.

    ``scenario`` and ``set`` are those of ``run``. There may be any number of runs, because no more than those of some
    shards are in memory.

    ``client`` is a ``dask.distributed.Client``, whose workers have this package. Each shard is a task. What a worker
    had made is made again if it is lost; a task that fails is tried again ``retries`` times. Without a client, the
    shards are made here, one after the other.

    ``shards`` is into how many parts the runs are divided. If not given: with a client, at most 1000 (more only if each
    had more than 10,000 runs, which is the most); without a client, as few as possible.

    ``out`` is a folder that all workers can write. Each shard is a file there, as of ``thalweg run --shard``, which
    ``thalweg merge`` joins, too. Shards that are there are not made again. A relative name is one in the current
    folder, ``"s3://BUCKET/PREFIX"`` a part of an object store.

    ``series=True`` keeps the time series of the runs, too, as files in ``out`` alone, as ``thalweg run --shard
    --series`` does. ``thalweg merge`` joins them to ``flows.parquet`` and ``links.parquet``.

    ``jobs`` is how many runs of a shard are made at the same time. If not given: on a cluster one, because a worker has
    a task for each of its threads; here one per core. Results do not depend on it.

    ``progress`` is called after each shard, and here several times per second. ``True`` shows a line on standard error,
    ``False`` shows nothing; if not given, the line is shown in terminals and notebooks.

    Returns the metrics, a row per run, with the columns of ``Results.summary`` but for the time that each run took.
    With a client, it is a ``dask.dataframe.DataFrame``, whose partitions are the shards, so that rows are in their
    order: with N shards, the first partition has the runs 1, N + 1, 2 N + 1 and so on. Without a client, or if
    ``dask.dataframe`` is not installed, it is a ``Table`` with the runs in the scenario's order.

    Raises ``ScenarioError`` if the scenario is wrong, ``RunError`` if a run or a worker fails, ``OSError`` if ``out``
    cannot be used, and ``KeyboardInterrupt`` on Ctrl-C. Then the tasks are cancelled; those that a worker has begun end
    within a second.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: {jobs} is less than 1; give a number of runs, or leave it out")
    if shards is not None and shards < 1:
        raise ValueError(f"shards: {shards} is less than 1; give a number of shards, or leave it out")
    if series and out is None:
        raise ValueError("series: time series are kept in a folder alone; give `out`, or leave series out")
    source = _source(scenario, set)
    # The first run alone: it finds most mistakes, and knows how many runs there are.
    total = _thalweg.Shard.read(*source, jobs, 1, SINGLE).total
    if shards is None:
        shards = _divide(total, TASKS if client else 1)
    place = None if out is None else Place(_from_root(os.fspath(out)), series)

    def make(tell: Callable[[int, int], object]) -> Any:
        if client is None:
            return _here(source, shards, place, jobs, tell)
        from ._dask import make_on

        return make_on(client, source, shards, place, jobs or 1, retries, tell)

    if callable(progress):
        told = progress
        return make(lambda runs, done: told(SweepProgress(runs, total, done, shards)))
    if progress or (progress is None and is_watched()):
        with Line() as line:
            return make(lambda runs, done: line.show(runs / total, f"{total} runs, {done} of {shards} shards complete"))
    return make(lambda runs, done: None)


def _source(
    scenario: str | os.PathLike[str] | Mapping[str, object] | Scenario, sets: Mapping[str, object] | None
) -> Source:
    """The scenario, for any process."""
    given = json.dumps(plain(sets or {}), allow_nan=False)
    if isinstance(scenario, (str, os.PathLike)):
        name = os.fspath(scenario)
        return Source(name, os.path.dirname(os.path.abspath(name)), _thalweg.text_of(name), True, given)
    return Source("scenario", os.getcwd(), json.dumps(plain(scenario), allow_nan=False), False, given)


def _from_root(out: str) -> str:
    """The folder or the part of an object store, for any process."""
    return out if out.startswith("s3://") else os.path.abspath(out)


def _divide(total: int, most: int) -> int:
    """Into how many shards ``total`` runs are divided: no more than ``most`` if that is enough, and each has a run.

    With a divisor of the numbers of swept values, a shard might have all runs that take long. So there is none.
    """
    least = math.ceil(total / RUNS_OF_SHARD)
    if total <= most:
        return max(total, 1)
    numbers = itertools.chain(range(max(most, least), least - 1, -1), itertools.count(least))
    return next(number for number in numbers if math.gcd(number, total) == 1)


def _here(
    source: Source, shards: int, place: Place | None, jobs: int | None, tell: Callable[[int, int], object]
) -> Table:
    """Makes the shards in this process."""
    parts, runs = [], 0
    for number in range(1, shards + 1):
        shard = _thalweg.Shard.read(*source, jobs, number, shards)
        parts.append(make_part(shard, place, lambda _, complete: tell(runs + complete, number - 1)))
        runs += shard.runs
        tell(runs, number)
    return _thalweg.join(parts)


def make_part(shard: _thalweg.Shard, place: Place | None, progress: Callable[[float, int], object]) -> bytes:
    """The metrics of a shard as Parquet: those at ``place`` if they are there, or else of runs that are made now."""
    if place is None:
        return shard.make(progress)
    return shard.make_in(*place, progress)
