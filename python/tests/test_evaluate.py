"""Evaluations by the criteria of RFC 9743."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import thalweg

BLOCK = """
title = "A shallow buffer"
about = "Two flows on 10 Mbps."
source = "a test"
seeds = { quick = 3, full = 4 }
[[case]]
name = "two flows"
scenario = '''
duration = "6 s"
[path]
rate = "10 Mbps"
rtt = "40 ms"
buffer = "0.5 bdp"
[[flow]]
controller = "subject"
count = 2
start = { uniform = ["0 s", "1 s"] }
'''
[[row]]
criterion = "5.1.3"
says = "use of the link"
measure = "utilization"
span = [2, 6]
better = "more"
matters = 5
broken = { below = 10 }
[[row]]
criterion = "5.1.3"
says = "packets dropped"
measure = "drop-share"
better = "less"
matters = 0.5
floor = 0.05
"""


@thalweg.controller("idler")
class Idler:
    """Two packets per round trip, whatever happens."""

    def __init__(self, conditions: thalweg.Conditions) -> None:
        self.packet = conditions.packet

    def window(self) -> float:
        return 2.0 * self.packet

    def on_ack(self, now: float, ack: thalweg.Ack) -> None:
        pass

    def on_loss(self, now: float, loss: str) -> None:
        pass


@thalweg.controller("raising")
class Raising(Idler):
    """A window whose first acknowledgment is an error."""

    def on_ack(self, now: float, ack: thalweg.Ack) -> None:
        raise ArithmeticError("of the controller")


@pytest.fixture
def block(tmp_path: Path) -> str:
    file = tmp_path / "shallow.toml"
    file.write_text(BLOCK)
    return str(file)


def test_a_controller_of_the_registry_has_rows_cases_and_a_page(block: str, tmp_path: Path) -> None:
    told: list[thalweg.Progress] = []
    evaluation = thalweg.evaluate("scalable", baseline="reno", blocks=[block], progress=told.append)
    assert evaluation.rows["row"] == ["use of the link", "packets dropped"]
    assert evaluation.rows["compared_by"] == ["difference", "ratio"]
    for low, middle, high in zip(*(evaluation.rows[name] for name in ("interval_low", "difference", "interval_high"))):
        assert low <= middle <= high
    assert len(evaluation.cases) == 2 * 2 * 3, "rows, controllers and seeds"
    assert set(evaluation.cases["role"]) == {"subject", "baseline"}
    page = evaluation.report(tmp_path / "out")
    assert page.name == "scalable.html" and "use of the link" in page.read_text()
    assert json.loads((tmp_path / "out" / "scalable.json").read_text()) == evaluation.to_dict()
    assert "packets dropped" in str(evaluation) and evaluation.tally in repr(evaluation)
    assert all(progress.of_runs == 6 for progress in told)


def test_the_baseline_beside_itself_is_like_it(block: str) -> None:
    evaluation = thalweg.evaluate("cubic", blocks=[block])
    assert evaluation.rows["verdict"] == ["like", "like"] and not evaluation.is_broken


def test_a_controller_in_python_is_judged(block: str) -> None:
    evaluation = thalweg.evaluate("idler", blocks=[block], set={"duration": "8 s"})
    # Two flows of two packets of 1000 B per 40 ms: 0.8 Mbps of 10.
    assert evaluation.rows["subject"][0] == pytest.approx(8, abs=0.5)
    assert evaluation.rows["verdict"][0] == "broken" and evaluation.is_broken


def test_an_exception_of_a_controller_ends_the_evaluation(block: str) -> None:
    with pytest.raises(ArithmeticError, match="of the controller"):
        thalweg.evaluate("raising", blocks=[block])


def test_controllers_of_quinn_are_known(block: str) -> None:
    assert thalweg.evaluate("quinn-cubic", blocks=[block]).rows["subject"][0] > 50


def test_mistakes_are_told_in_a_line_each() -> None:
    with pytest.raises(ValueError, match="cubik") as error:
        thalweg.evaluate("cubik", blocks=["los"], set={"controller.cubic.beta": 1, "seed": 3})
    lines = str(error.value).splitlines()
    assert len(lines) == 4, lines
    assert "there is no block `los`; did you mean `loss`?" in lines
    assert "seed: is what the blocks are made of; set a parameter of the controller" in lines
    with pytest.raises(ValueError, match="scale: there is no 'large'"):
        thalweg.evaluate("cubic", scale="large")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is no list of names"):
        thalweg.evaluate("cubic", blocks="loss")
