"""Controllers in Python."""

from __future__ import annotations

import math
import os
import signal
import threading

import pytest

import thalweg


@thalweg.controller("gentle")
class Gentle:
    """A window that grows by a few packets per round trip."""

    def __init__(self, conditions: thalweg.Conditions, step: float = 1.0, factor: float = 0.5) -> None:
        self.packet, self.step, self.factor = conditions.packet, step, factor
        self.cwnd = 2.0
        self.threshold = math.inf

    def window(self) -> float:
        return self.cwnd * self.packet

    def on_ack(self, now: float, ack: thalweg.Ack) -> None:
        if ack.recovery:
            return
        acked = ack.acked / self.packet
        self.cwnd += acked if self.cwnd < self.threshold else self.step * acked / self.cwnd

    def on_loss(self, now: float, loss: str) -> None:
        self.threshold = max(self.factor * self.cwnd, 2.0)
        self.cwnd = self.threshold if loss == "event" else 1.0


class Paced:
    """A constant rate, with all calls noted."""

    calls: list[tuple[object, ...]] = []

    def __init__(self, conditions: thalweg.Conditions, mbps: float = 4.0) -> None:
        self.bps, self.due = mbps * 1e6, 0.0
        self.calls.append(("init", conditions.packet, conditions.timing_error, conditions.quantum))

    def next(self, now: float, pipe: thalweg.Pipe) -> float:
        self.calls.append(("next", now, pipe.in_flight, pipe.backlog, pipe.packet, pipe.repairing))
        return self.due

    def on_send(self, now: float, size: int, pipe: thalweg.Pipe) -> None:
        self.calls.append(("send", now, size))
        self.due = now + size * 8 / self.bps

    def on_ack(self, now: float, ack: thalweg.Ack) -> None:
        self.calls.append(("ack", now, ack.acked, ack.lost, ack.rtt, ack.in_flight, ack.recovery, ack.app_limited))

    def on_loss(self, now: float, loss: str) -> None:
        self.calls.append(("loss", now, loss))

    def rate(self) -> float:
        return self.bps


thalweg.controller("paced")(Paced)


def test_a_window_fills_the_path(short: thalweg.Scenario) -> None:
    short.duration, short.flows = "10 s", [thalweg.Flow(controller="gentle")]
    results = thalweg.run(short)
    assert results.summary["throughput_mbps"][0] > 9.0
    assert results.summary["loss_events"][0] > 3
    settled = results.flows["window_packets"][len(results.flows) // 2 :]
    assert max(settled) == pytest.approx(51, abs=4), "25 packets in flight and 25 in the queue, and one in transmission"
    assert thalweg.run(short).flows["window_packets"] == results.flows["window_packets"], "a run is always the same"


def test_the_calls_are_those_of_the_roles(short: thalweg.Scenario) -> None:
    Paced.calls.clear()
    results = thalweg.run(short, set={"flow[0].controller": "paced"})
    assert Paced.calls[0] == ("init", 1000, 0.0, 0.0)
    assert Paced.calls[1] == ("next", 0.0, 0, None, 1000, False)
    assert Paced.calls[2] == ("send", 0.0, 1000)
    sent = [call[1] for call in Paced.calls if call[0] == "send"]
    gaps = [b - a for a, b in zip(sent, sent[1:])]
    assert gaps == pytest.approx([0.002] * len(gaps), abs=1e-12)
    acks = [call for call in Paced.calls if call[0] == "ack"]
    # 8 Mb/s takes 0.8 ms for the packet on the 10 Mbps link, 20 ms for the round trip.
    assert acks[0][2:5] == (1000, 0, pytest.approx(0.020832, abs=1e-6))
    assert results.flows["rate_mbps"][5] == 4.0 and results.flows["window_packets"][5] is None
    assert results.summary["throughput_mbps"][0] == pytest.approx(4.0, rel=0.05)


def test_parameters_are_those_of_scenarios(short: thalweg.Scenario) -> None:
    short.controller = {"paced": {"mbps": 2.0}}
    short.compare, short.flows = thalweg.Compare(controllers=["paced", "cubic"]), [thalweg.Flow()]
    short.sweep = {"controller.paced.mbps": [1.0, 3.0]}
    results = thalweg.run(short)
    mbps = dict(zip(zip(results.summary["controller"], results.summary["controller.paced.mbps"]),
                    results.summary["throughput_mbps"]))  # fmt: skip
    assert mbps["paced", 1.0] == pytest.approx(1.0, rel=0.05) and mbps["paced", 3.0] == pytest.approx(3.0, rel=0.05)
    with pytest.raises(thalweg.ScenarioError, match="mpbs"):
        thalweg.run(short, set={"controller.paced.mpbs": 1.0})


def test_an_exception_is_the_error_of_the_run(short: thalweg.Scenario) -> None:
    @thalweg.controller("broken")
    class Broken(Gentle):
        def on_ack(self, now: float, ack: thalweg.Ack) -> None:
            if now > 0.5:
                raise ZeroDivisionError("on purpose")
            super().on_ack(now, ack)

    with pytest.raises(ZeroDivisionError, match="on purpose") as raised:
        thalweg.run(short, set={"flow[0].controller": "broken", "duration": "10 min"})
    assert raised.traceback[-1].name == "on_ack"

    @thalweg.controller("broken")
    class Unmade(Gentle):
        def __init__(self, conditions: thalweg.Conditions) -> None:
            raise LookupError("not made")

    with pytest.raises(LookupError, match="not made"):
        thalweg.run(short, set={"flow[0].controller": "broken"})

    @thalweg.controller("broken")
    class Undecided(Paced):
        def next(self, now: float, pipe: thalweg.Pipe) -> float:
            return math.nan

    with pytest.raises(ValueError, match=r"next\(\) returned nan"):
        thalweg.run(short, set={"flow[0].controller": "broken"})
    # A run without it is not concerned.
    assert thalweg.run(short).summary["throughput_mbps"][0] > 5


def test_classes_that_are_no_controllers_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Nothing is no controller: it has no method on_ack, on_loss, next \(or window\)"):

        @thalweg.controller("nothing")
        class Nothing:
            pass

    with pytest.raises(ValueError, match="is no name of a controller"):
        thalweg.controller("My Controller")
    with pytest.raises(ValueError, match="there is a controller `cubic` already"):
        thalweg.controller("cubic")(Gentle)
    with pytest.raises(TypeError, match="the parameter `gain` has no default"):

        @thalweg.controller("greedy")
        class Greedy(Gentle):
            def __init__(self, conditions: thalweg.Conditions, gain: float) -> None:
                pass


def test_it_runs_beside_controllers_of_the_engine_and_in_traffic(short: thalweg.Scenario) -> None:
    short.duration = "5 s"
    short.flows = [thalweg.Flow(controller="gentle"), thalweg.Flow(controller="reno")]
    short.traffic = [thalweg.Traffic(kind="flows", size="20 kB", load="10 %", controller="gentle")]
    results = thalweg.run(short)
    assert min(results.to_dict()["runs"][0]["flows"][i]["throughput_mbps"] for i in (0, 1)) > 1
    assert len(results.transfers) > 10


def test_a_parameter_may_be_nothing_by_default(short: thalweg.Scenario) -> None:
    limits: list[float | None] = []

    @thalweg.controller("limited")
    class Limited(Gentle):
        def __init__(self, conditions: thalweg.Conditions, limit: float | None = None) -> None:
            super().__init__(conditions)
            limits.append(limit)

    thalweg.run(short, set={"flow[0].controller": "limited"})
    thalweg.run(short, set={"flow[0].controller": "limited", "controller.limited.limit": 4.0})
    assert set(limits) == {None, 4.0}


@pytest.mark.parametrize("controllers", [["gentle"], ["gentle", "cubic"]])
def test_ctrl_c_ends_it(controllers: list[str]) -> None:
    """Also while a controller of the engine runs, in which no code of Python does."""
    scenario = {
        "duration": "10 min",
        "path": {"rate": "1 Gbps", "rtt": "10 ms", "buffer": "1 bdp"},
        "flow": [{}],
        "compare": {"controllers": controllers[::-1]},
    }
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        thalweg.run(scenario)
