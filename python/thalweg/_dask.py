"""Sweeps on a Dask cluster. Each shard is a task, and what it makes stays with the worker until it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple
from uuid import uuid4

from . import _thalweg
from ._errors import RunError, ScenarioError
from ._sweep import Place, Source, make_part

try:
    # Not by `import`, because it has types in part only.
    distributed: Any = import_module("distributed")
except ImportError as e:
    raise ImportError("a client needs dask.distributed: pip install 'thalweg[dask]'") from e


class Sweep(NamedTuple):
    """What all tasks of a sweep have in common."""

    source: Source
    shards: int
    plan: str
    place: Place | None
    jobs: int


def make_on(
    client: Any,
    source: Source,
    shards: int,
    place: Place | None,
    jobs: int,
    retries: int,
    tell: Callable[[int, int], object],
) -> Any:
    """Makes the shards on the cluster of ``client``, and tells how many runs and shards are complete after each."""
    if client.asynchronous:
        raise ValueError("client: is asynchronous; give one that is not, Client(...) without asynchronous=True")
    first = _thalweg.Shard.read(*source, jobs, 1, shards)
    numbers = range(1, shards + 1)
    sweep = Sweep(source, shards, first.plan, place, jobs)
    # What all tasks need is the result of a task of its own: it is sent once to each worker, and made again if it is
    # lost.
    shared = client.submit(_shared, sweep, key=f"thalweg-sweep-{uuid4()}", pure=False)
    tasks = client.map(_make, numbers, key="thalweg-shard", pure=False, retries=retries, sweep=shared)
    number_of = {future.key: number for future, number in zip(tasks, numbers, strict=True)}
    try:
        runs = 0
        for done, future in enumerate(distributed.as_completed(tasks), 1):
            number = number_of[future.key]
            if future.status != "finished":
                raise _error(future, f"shard {number}/{shards}")
            runs += len(range(number - 1, first.total, shards))
            tell(runs, done)
        return _collect(client, first, tasks)
    except BaseException:
        client.cancel([*tasks, shared])
        raise


def _shared(sweep: Sweep) -> Sweep:
    return sweep


def _make(number: int, *, sweep: Sweep) -> bytes:
    """The task of a shard: its metrics as Parquet."""
    shard = _thalweg.Shard.read(*sweep.source, sweep.jobs, number, sweep.shards)
    if shard.plan != sweep.plan:
        raise RunError("a worker has another version of thalweg than the client; install the same")
    worker = distributed.get_worker()
    key = worker.get_current_task()

    def go_on(*_: object) -> None:
        # The worker forgets a task that was cancelled, or waits for its end to do so. It cannot end its thread.
        state = worker.state.tasks.get(key)
        if state is None or state.state == "cancelled":
            raise RunError("cancelled")

    return make_part(shard, sweep.place, go_on)


def _error(future: Any, name: str) -> BaseException:
    """Why a task has failed, as an exception of this package."""
    if future.status == "cancelled":
        return RunError(f"{name}: the cluster has cancelled its task")
    error: BaseException = future.exception()
    if isinstance(error, (ScenarioError, RunError, OSError, MemoryError)):
        return error
    if isinstance(error, distributed.scheduler.KilledWorker):
        what = f"{name}: {error.allowed_failures + 1} workers that tried it have ended; do they have enough memory?"
    else:
        what = f"{name}: {type(error).__name__}: {error}"
    raised = RunError(what)
    raised.__cause__ = error
    return raised


def _collect(client: Any, first: _thalweg.Shard, tasks: list[Any]) -> Any:
    """The shards as a data frame that the cluster holds, or as a table here if there is no library for that."""
    try:
        dask, frame = import_module("dask"), import_module("dask.dataframe")
    except ImportError:
        return _thalweg.join(client.gather(tasks))
    frames = [dask.delayed(_frame)(task) for task in tasks]
    return frame.from_delayed(frames, meta=_frame(first.columns()), prefix="thalweg", verify_meta=False)


def _frame(part: bytes) -> Any:
    """The metrics in a Parquet file with these bytes, as a data frame of pandas."""
    pyarrow: Any = import_module("pyarrow")
    return pyarrow.table(_thalweg.Table._of_part(part)).to_pandas()
