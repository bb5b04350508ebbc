"""Runs: what they take, what they raise, and how they stop."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import pickle
import signal
import threading
import time

import pytest
from conftest import GIGABIT

import thalweg

LONG = {
    "duration": "10 min",
    "path": {"rate": "10 Gbps", "rtt": "10 ms", "buffer": "1 bdp"},
    "flow": [{"controller": "cubic"}],
}
"""Minutes of work."""


def test_a_file_a_dictionary_and_a_scenario_give_the_same(tmp_path: pathlib.Path, short: thalweg.Scenario) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(
        'duration = "1 s"\n[path]\nrate = "10 Mbps"\nrtt = "20 ms"\nbuffer = "1 bdp"\n[[flow]]\ncontroller = "cubic"\n'
    )
    dictionary = {
        "duration": "1 s",
        "path": {"rate": "10 Mbps", "rtt": "20 ms", "buffer": "1 bdp"},
        "flow": [{"controller": "cubic"}],
    }
    runs = [thalweg.run(scenario) for scenario in (file, str(file), dictionary, short)]
    assert all(one.flows["throughput_mbps"] == runs[0].flows["throughput_mbps"] for one in runs)
    assert runs[0].flows["throughput_mbps"][-1] == pytest.approx(9.6, rel=0.1)


def test_set_replaces_values(short: thalweg.Scenario) -> None:
    results = thalweg.run(short, set={"path.rate": "1 Mbps", "flow[0].count": 2, "title": "Two"})
    assert results.title == "Two"
    assert max(results.flows["flow"]) == 2
    assert results.summary["throughput_mbps"][0] < 1.0


def test_jobs_do_not_change_results() -> None:
    sets = {"duration": "1 s", "compare.controllers": ["cubic", "reno", "bbr"]}
    one, two = (thalweg.run(GIGABIT, set=sets, jobs=jobs) for jobs in (1, 2))
    assert one.flows["window_packets"] == two.flows["window_packets"]
    with pytest.raises(ValueError, match="jobs: 0 is less than 1"):
        thalweg.run(GIGABIT, jobs=0)


def test_a_mistake_in_a_file_is_an_exception_with_its_place(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text('duration = "1 s"\n\n[path]\nrate = "1 parsec"\nrtt = "1 ms"\nbuffer = "1 bdp"\n')
    with pytest.raises(thalweg.ScenarioError) as raised:
        thalweg.run(file)
    error = raised.value
    assert (error.file, error.line, error.column, error.key) == (str(file), 4, 8, "path.rate")
    assert str(error).startswith(f"{file}:4:8: path.rate: ") and error.message in str(error)
    assert isinstance(error, ValueError)
    with pytest.raises(thalweg.ScenarioError, match="cannot be read"):
        thalweg.run(tmp_path / "missing.toml")


def test_a_mistake_in_data_has_a_key_and_no_line(short: thalweg.Scenario) -> None:
    with pytest.raises(thalweg.ScenarioError) as raised:
        thalweg.run(dataclasses.replace(short, flows=[thalweg.Flow(controller="cubik")]))
    error = raised.value
    assert (error.file, error.line, error.key) == ("scenario", None, "flow[0].controller")
    assert "cubic" in error.message
    with pytest.raises(thalweg.ScenarioError, match=r"scenario: --set path.rait: "):
        thalweg.run(short, set={"path.rait": "1 Gbps"})
    with pytest.raises(TypeError, match="no value of a scenario"):
        thalweg.run(short, set={"path.rate": object()})


def test_all_problems_are_told(short: thalweg.Scenario) -> None:
    with pytest.raises(thalweg.ScenarioError) as raised:
        thalweg.run(short, set={"flow[0].max-burst": 0, "path.duplicate": 2})
    assert len(raised.value.problems) == 2 == len(str(raised.value).splitlines())


def test_a_mistake_can_be_pickled(short: thalweg.Scenario) -> None:
    with pytest.raises(thalweg.ScenarioError) as raised:
        thalweg.run(short, set={"path.rait": "1 Gbps"})
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.problems) == (str(raised.value), raised.value.problems)


def test_a_key_that_is_none_is_a_mistake(short: thalweg.Scenario) -> None:
    with pytest.raises(thalweg.ScenarioError, match="is not a key"):
        thalweg.run(short, set={"path..rate": "1 Gbps"})


def test_ctrl_c_ends_runs_at_once() -> None:
    pressed: list[float] = []

    def press() -> None:
        time.sleep(0.5)
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        thalweg.run(LONG, jobs=1)
    assert time.monotonic() - pressed[0] < 0.2


def test_other_threads_go_on_while_it_runs() -> None:
    turns = 0
    done = threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.wait(0.01):
            turns += 1

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    thalweg.run(LONG, set={"duration": "2 s"})
    lasted = time.monotonic() - begin
    done.set()
    thread.join()
    assert turns > 30 * lasted


def test_progress_is_told_and_may_end_the_run() -> None:
    seen: list[thalweg.Progress] = []

    def tell(progress: thalweg.Progress) -> None:
        seen.append(progress)
        if len(seen) == 3:
            raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        thalweg.run(LONG, progress=tell)
    assert len(seen) == 3 and seen[0].of_runs == 1 and seen[0].of_simulated == 600
    assert 0 < seen[0].simulated < seen[2].simulated


def test_a_line_shows_progress(capfd: pytest.CaptureFixture[str]) -> None:
    thalweg.run(LONG, set={"duration": "4 s"}, progress=True)
    assert "% of 1 runs" in capfd.readouterr().err
    thalweg.run(LONG, set={"duration": "1 s"}, progress=False)
    assert capfd.readouterr().err == ""
