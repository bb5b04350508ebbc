"""A program of a user, which mypy and pyright check."""

from __future__ import annotations

import distributed
import gymnasium
import matplotlib.figure
import numpy
import polars

import thalweg
import thalweg.envs


@thalweg.controller("steady")
class Steady:
    """A window that never changes."""

    def __init__(self, conditions: thalweg.Conditions, packets: int = 20) -> None:
        self.bytes = float(packets * conditions.packet)

    def window(self) -> float:
        return self.bytes

    def on_ack(self, now: float, ack: thalweg.Ack) -> None:
        if ack.rtt is not None and ack.rtt > 1.0:
            raise RuntimeError(f"a slow path at {now} s")

    def on_loss(self, now: float, loss: str) -> None:
        pass


def compare() -> polars.DataFrame:
    scenario = thalweg.Scenario(
        duration="10 s",
        path=thalweg.Path(rate="100 Mbps", rtt="40 ms", buffer="1 bdp", queue="codel"),
        compare=thalweg.Compare(controllers=["steady", "cubic", "bbr"]),
        flows=[thalweg.Flow(start={"uniform": ["0 s", "1 s"]}, count=3)],
        traffic=[thalweg.Traffic(kind="poisson", rate="5 Mbps")],
        sweep={"path.rtt": ["20 ms", "40 ms"]},
    )
    try:
        results = thalweg.run(scenario, set={"seed": 2}, jobs=2, progress=lambda now: print(now.simulated))
    except thalweg.ScenarioError as e:
        print(e.file, e.line, e.key, e.message)
        raise
    figure: matplotlib.figure.Figure = results.plot(["Throughput", "Queue"])
    figure.savefig("comparison.pdf")
    results.report("results")
    mbps: list[float] = results.summary["throughput_mbps"]
    print(max(mbps), len(results.flows), "phase" in results.flows)
    return polars.DataFrame(results.flows)


def judge() -> polars.DataFrame:
    evaluation: thalweg.Evaluation = thalweg.evaluate(
        "bbr", baseline="reno", blocks=["loss"], scale="quick", progress=lambda now: print(now.runs)
    )
    page: str = evaluation.report("results").name
    print(page, evaluation.tally, evaluation.is_broken, evaluation.to_dict()["subject"])
    return polars.DataFrame(evaluation.rows)


def divide(client: distributed.Client) -> float:
    table: thalweg.Table = thalweg.sweep("sweep.toml", out="results", jobs=2, progress=lambda now: print(now.shards))
    frame = thalweg.sweep("sweep.toml", client=client, shards=100, retries=1)
    return float(frame["utilization"].mean().compute()) + len(table)


def learn() -> float:
    envs = thalweg.envs.PathVectorEnv(8, control="window", paths=thalweg.envs.Paths(loss=(0.0, 0.0)), threads=2)
    observations, _ = envs.reset(seed=1)
    actions = numpy.zeros((8, 1), numpy.float32)
    observations, rewards, terminated, truncated, info = envs.step(actions)
    one: gymnasium.Env[thalweg.envs.Observation, thalweg.envs.Action] = thalweg.envs.PathEnv()
    one.reset()
    return float(rewards.mean() + observations.sum() + info["rtt"].mean())
