"""Typed scenarios."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import numpy
import pytest

import thalweg
from thalweg import _thalweg, scenario

HERE = pathlib.Path(__file__).parent


def test_the_classes_are_those_of_the_schema() -> None:
    spec = importlib.util.spec_from_file_location("generate_scenario", HERE.parent / "generate_scenario.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    written = pathlib.Path(scenario.__file__).read_text()
    assert written == generate.text(json.loads(_thalweg.schema())), "run: python python/generate_scenario.py"


def test_keys_are_those_of_files() -> None:
    made = thalweg.Scenario(
        duration="1 s",
        min_rto="1 s",
        measure=thalweg.Measure(from_="0.5 s"),
        links=[
            thalweg.Link(
                name="a",
                rate="1 Mbps",
                delay="1 ms",
                buffer="10 packets",
                queue={"kind": "codel", "target": "5 ms"},
                packet_error=thalweg.Bursts(p=0.001, r=0.1),
            )
        ],
        flows=[thalweg.Flow(controller="reno", route=["a"], rtt="10 ms")],
        sweep={"link[0].rate": ["1 Mbps", "2 Mbps"]},
    )
    assert made.to_dict() == {
        "duration": "1 s",
        "min-rto": "1 s",
        "measure": {"from": "0.5 s"},
        "link": [
            {
                "name": "a",
                "rate": "1 Mbps",
                "delay": "1 ms",
                "buffer": "10 packets",
                "queue": {"kind": "codel", "target": "5 ms"},
                "packet-error": {"p": 0.001, "r": 0.1},
            }
        ],
        "flow": [{"controller": "reno", "route": ["a"], "rtt": "10 ms"}],
        "sweep": {"link[0].rate": ["1 Mbps", "2 Mbps"]},
    }
    assert len(thalweg.run(made).summary) == 2


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        thalweg.Flow(colour="red")  # type: ignore[call-arg]


def test_an_unknown_attribute_is_refused() -> None:
    flow = thalweg.Flow(controller="reno")
    with pytest.raises(AttributeError, match="contrlr"):
        flow.contrlr = "cubic"  # type: ignore[attr-defined]


def test_numpy_values_are_values(short: thalweg.Scenario) -> None:
    sets = {"flow[0].count": numpy.int64(2), "sweep": {"path.packet-error": numpy.array([0.0, 0.01])}}
    assert thalweg.run(short, set=sets).summary["path.packet-error"] == [0.0, 0.01]
