"""Sweeps: here, and on a Dask cluster of two worker processes, of which one is killed."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pandas
import polars
import pytest
from conftest import GIGABIT

import thalweg

distributed = pytest.importorskip("distributed")

# The libraries warn of what they do among themselves.
pytestmark = pytest.mark.filterwarnings("default")

SWEEP = {
    "duration": "1 s",
    "path": {"rate": "10 Mbps", "rtt": "20 ms", "buffer": "1 bdp"},
    "compare": {"controllers": ["cubic", "reno", "bbr"]},
    "sweep": {"path.rtt": ["10 ms", "20 ms"], "seed": [1, 2, 3, 4]},
}
"""24 runs."""


@pytest.fixture(scope="module")
def whole() -> polars.DataFrame:
    """The metrics of one call of `run`."""
    return polars.DataFrame(thalweg.run(SWEEP).summary).drop("wall_s")


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.LocalCluster]:
    """A scheduler and two worker processes with a thread each."""
    with distributed.LocalCluster(
        processes=True, n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: distributed.LocalCluster) -> Iterator[distributed.Client]:
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def has_rows_of(frame: object, whole: polars.DataFrame) -> bool:
    """Whether a data frame of Dask has the rows of `whole`, in any order. Its index says nothing."""
    assert isinstance(frame, pandas.DataFrame)
    rows = polars.from_pandas(frame.reset_index(drop=True)).cast(dict(whole.schema))  # type: ignore[arg-type]
    return rows.sort("run").equals(whole.sort("run"))


@pytest.mark.parametrize("shards", [None, 1, 5, 40])
def test_a_sweep_here_has_the_rows_of_a_run(shards: int | None, whole: polars.DataFrame) -> None:
    seen: list[thalweg.SweepProgress] = []
    table = thalweg.sweep(SWEEP, shards=shards, progress=seen.append)
    assert polars.DataFrame(table).equals(whole)
    assert seen[-1] == (24, 24, shards or 1, shards or 1)
    assert [now.runs for now in seen] == sorted(now.runs for now in seen)


def test_a_folder_has_the_shards_of_the_command_line(tmp_path: pathlib.Path, whole: polars.DataFrame) -> None:
    out = tmp_path / "new" / "sweep"
    table = thalweg.sweep(SWEEP, shards=5, out=out)
    assert polars.DataFrame(table).equals(whole) and len(list(out.iterdir())) == 5
    done = subprocess.run([sys.executable, "-m", "thalweg", "merge", out], capture_output=True, check=False)
    assert done.returncode == 0 and polars.read_parquet(out / "summary.parquet").equals(whole)
    # A shard that is there is not made again, and one that is missing is.
    times = {file: file.stat().st_mtime_ns for file in out.glob("shard-*")}
    next(out.glob("shard-3-*")).unlink()
    assert polars.DataFrame(thalweg.sweep(SWEEP, shards=5, out=str(out))).equals(whole)
    again = {file for file in out.glob("shard-*") if file.stat().st_mtime_ns != times[file]}
    assert [file.name.split(".")[0] for file in again] == ["shard-3-of-5"]
    with pytest.raises(OSError, match="holds shard-.*name another folder"):
        thalweg.sweep(SWEEP, shards=6, out=out)


def series_of(folder: pathlib.Path) -> list[bytes]:
    """The files of time series in `folder`."""
    return [(folder / name).read_bytes() for name in ("flows.parquet", "links.parquet")]


def test_time_series_are_those_of_a_run(tmp_path: pathlib.Path, client: distributed.Client) -> None:
    thalweg.run(SWEEP).report(tmp_path / "whole")
    for name, where in (("here", None), ("cluster", client)):
        out = tmp_path / name
        for _ in range(2):
            thalweg.sweep(SWEEP, client=where, shards=5, out=out, series=True)
        assert len(list(out.iterdir())) == 15
        subprocess.run([sys.executable, "-m", "thalweg", "merge", out], capture_output=True, check=True)
        assert series_of(out) == series_of(tmp_path / "whole")
    with pytest.raises(ValueError, match="series: .* give `out`"):
        thalweg.sweep(SWEEP, series=True)


def test_files_that_a_scenario_names_are_beside_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, client: distributed.Client
) -> None:
    path = 'path = { trace = "link.trace", rtt = "20 ms", buffer = "1 bdp" }'
    (tmp_path / "scenario.toml").write_text(f'duration = "1 s"\n{path}\nflow = [{{ controller = "reno" }}]\n')
    (tmp_path / "link.trace").write_text("".join(f"{ms}\n" for ms in range(1, 101)))
    monkeypatch.chdir(tmp_path)
    whole = polars.DataFrame(thalweg.run("scenario.toml").summary).drop("wall_s")
    assert polars.DataFrame(thalweg.sweep("scenario.toml")).equals(whole)
    on_cluster = thalweg.sweep(pathlib.Path("scenario.toml"), client=client).compute()
    assert on_cluster["throughput_mbps"].tolist() == whole["throughput_mbps"].to_list()


def test_mistakes_are_those_of_a_run(tmp_path: pathlib.Path) -> None:
    with pytest.raises(thalweg.ScenarioError) as raised:
        thalweg.sweep(SWEEP, set={"path.rait": "1 Gbps"})
    assert (raised.value.file, raised.value.line) == ("scenario", None)
    file = tmp_path / "wrong.toml"
    file.write_text('duration = "1 s"\n\n[path]\nrate = "1 parsec"\nrtt = "1 ms"\nbuffer = "1 bdp"\n')
    with pytest.raises(thalweg.ScenarioError) as raised:
        thalweg.sweep(file)
    assert (raised.value.file, raised.value.line, raised.value.key) == (str(file), 4, "path.rate")
    with pytest.raises(thalweg.ScenarioError, match="cannot be read"):
        thalweg.sweep(tmp_path / "missing.toml")
    for option in ("shards", "jobs"):
        with pytest.raises(ValueError, match=f"{option}: 0 is less than 1"):
            thalweg.sweep(SWEEP, **{option: 0})  # type: ignore[call-overload]


def test_ctrl_c_ends_a_sweep_here() -> None:
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        thalweg.sweep(SWEEP, set={"duration": "1 h"})


def test_a_cluster_gives_the_rows_of_a_run(client: distributed.Client, whole: polars.DataFrame) -> None:
    seen: list[thalweg.SweepProgress] = []
    frame = thalweg.sweep(SWEEP, client=client, progress=seen.append)
    assert frame.npartitions == 24, "a task per run, as they are few"
    assert seen[-1] == (24, 24, 24, 24) and len(seen) == 24
    assert has_rows_of(frame.compute(), whole)
    assert frame["utilization"].mean().compute() == pytest.approx(whole["utilization"].mean())


def test_a_scenario_may_be_large(client: distributed.Client, whole: polars.DataFrame, tmp_path: pathlib.Path) -> None:
    """A sweep of 100,000 seeds has about as many bytes."""
    file = tmp_path / "large.toml"
    path = 'path = { rate = "10 Mbps", rtt = "20 ms", buffer = "1 bdp" }'
    file.write_text("# " + "x" * 1_000_000 + f'\nduration = "1 s"\n{path}\n')
    rest = {key: SWEEP[key] for key in ("compare", "sweep")}
    assert has_rows_of(thalweg.sweep(file, set=rest, client=client).compute(), whole)


@pytest.mark.parametrize("keeps", [False, True])
def test_a_worker_may_be_killed(
    keeps: bool, client: distributed.Client, whole: polars.DataFrame, tmp_path: pathlib.Path
) -> None:
    """Half way, a worker's process is killed: what it had made is lost with its memory, unless there is a folder."""
    workers = client.run(os.getpid)
    killed: list[int] = []

    def kill(now: thalweg.SweepProgress) -> None:
        if now.shards >= now.of_shards / 2 and not killed:
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

    # Long enough that the other shards are not done when the worker's end is noticed.
    long = {"duration": "20 s", "path.rate": "100 Mbps"}
    expected = polars.DataFrame(thalweg.run(SWEEP, set=long).summary).drop("wall_s")
    out = tmp_path / "out" if keeps else None
    frame = thalweg.sweep(SWEEP, set=long, client=client, shards=12, out=out, progress=kill)
    assert has_rows_of(frame.compute(), expected)
    assert killed and killed[0] not in client.run(os.getpid).values()
    if out:
        assert len(list(out.glob("shard-*-of-12.*"))) == 12


def test_mistakes_of_tasks_are_exceptions_of_the_package(client: distributed.Client, tmp_path: pathlib.Path) -> None:
    # The first run has no mistake, so that a task finds it.
    with pytest.raises(thalweg.ScenarioError) as raised:
        thalweg.sweep(SWEEP, set={"sweep": {"path.rtt": ["10 ms", "10 parsec"]}}, client=client)
    assert (raised.value.key, raised.value.file, raised.value.line) == ("path.rtt", "scenario", None)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file: cannot be written .*; name another folder"):
        thalweg.sweep(SWEEP, client=client, out=tmp_path / "file")
    assert not client.futures


def test_other_errors_of_tasks_name_the_shard(client: distributed.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thalweg._dask._make", _fail)
    with pytest.raises(thalweg.RunError, match="shard [0-9]+/24: ZeroDivisionError: "):
        thalweg.sweep(SWEEP, client=client, retries=0)


def _fail(number: int, **_: object) -> bytes:
    return bytes(number // 0)


def test_ctrl_c_cancels_the_tasks(client: distributed.Client) -> None:
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        thalweg.sweep(SWEEP, set={"duration": "100 h", "sample": "1 s"}, client=client)
    assert time.monotonic() - begin < 5 and not client.futures
    # The threads of the workers have ended their runs, too: they do something else at once.
    assert client.submit(sum, [1, 2]).result(timeout=5) == 3


def test_without_data_frames_there_is_a_table(
    client: distributed.Client, whole: polars.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    table = thalweg.sweep(SWEEP, client=client, shards=5)
    assert isinstance(table, thalweg.Table) and polars.DataFrame(table).equals(whole)


def test_dask_is_imported_when_it_is_used() -> None:
    code = "import sys, thalweg; thalweg.sweep(sys.argv[1], set={'duration': '1 s'}); print('dask' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, GIGABIT], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("total", "most", "shards"),
    [
        (1, 1000, 1),
        (24, 1000, 24),
        (1000, 1000, 1000),
        (100_000, 1000, 999),
        (1_000_000, 1000, 999),
        (999, 1, 1),
        (20_000, 1, 3),
        (30_030, 1, 17),
        (10_000_000, 1000, 1001),
        (10**9, 1000, 100_001),
    ],
)
def test_shards_are_few_and_take_equally_long(total: int, most: int, shards: int) -> None:
    from thalweg._sweep import _divide

    assert _divide(total, most) == shards
