"""The command line of the wheel."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import sysconfig
import time

import polars
import pytest
from conftest import GIGABIT, ROOT

from thalweg import run

PROGRAM = str(pathlib.Path(sysconfig.get_path("scripts")) / "thalweg")


def thalweg(*arguments: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


def test_it_runs_a_scenario(tmp_path: pathlib.Path) -> None:
    done = thalweg("run", GIGABIT, "--set", "duration=1s", "--out", tmp_path / "results")
    assert done.returncode == 0 and "rapid" in done.stdout and "report: " in done.stderr
    assert (tmp_path / "results" / "report.html").exists()


def test_exit_codes_are_those_of_the_program() -> None:
    wrong = thalweg("run", GIGABIT, "--set", "duration=never")
    assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1 and "--set duration: " in wrong.stderr
    assert thalweg("fly").returncode == 2
    assert thalweg("--help").returncode == 0 and thalweg("--version").returncode == 0
    by_module = subprocess.run([sys.executable, "-m", "thalweg", "check", GIGABIT], capture_output=True, check=False)
    assert by_module.returncode == 0 and b"rapid" in by_module.stdout


def test_merged_shards_are_the_summary_of_the_run(tmp_path: pathlib.Path) -> None:
    options = ["--set=duration=1 s", '--set=compare.controllers=["rapid", "bic"]']
    for shard in ("2/2", "1/2"):
        assert thalweg("run", GIGABIT, *options, "--shard", shard, "--out", tmp_path).returncode == 0
    assert thalweg("merge", tmp_path).returncode == 0
    whole = run(GIGABIT, set={"duration": "1 s", "compare.controllers": ["rapid", "bic"]})
    assert polars.DataFrame(whole.summary).drop("wall_s").equals(polars.read_parquet(tmp_path / "summary.parquet"))


def test_ctrl_c_ends_it(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "results"
    long = [PROGRAM, "run", str(GIGABIT), "--set", "duration=1h", "--out", str(out)]
    with subprocess.Popen(long, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        while not any(tmp_path.iterdir()):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=5) == 130
    assert not any(tmp_path.iterdir()), "an interrupted run leaves nothing"


def test_it_copies_files_over_ssh(tmp_path: pathlib.Path) -> None:
    """The remote side is this program, too."""
    source, goal, ssh = tmp_path / "source", tmp_path / "goal", tmp_path / "ssh"
    source.write_bytes(os.urandom(1 << 20))
    ssh.write_text('#!/bin/sh\n[ "$1" = -G ] && exit 1\nshift\nexec sh -c "$*"\n')
    ssh.chmod(0o755)
    done = thalweg("cp", "--ssh", ssh, "--remote-program", PROGRAM, f"localhost:{source}", goal)
    assert done.returncode == 0, done.stderr
    assert goal.read_bytes() == source.read_bytes()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="namespaces need Linux and root")
def test_it_starts_itself_in_a_network_namespace() -> None:
    done = thalweg("emulate", ROOT / "scenarios" / "cable.toml", "--", "sh", "-c", "exit 3")
    assert done.returncode == 3, done.stderr
