#!/usr/bin/env python3
"""Teaches an agent to set a sending rate, and compares it with constant rates on paths that it has not seen.

    pip install 'thalweg[envs,plot]' stable-baselines3
    python ppo.py [--seconds 100] [--seed 1] [--plot ppo.png]

The agent is the PPO of stable-baselines3, with its network of two layers of 64. It prints a table, and draws how it
learned, the rewards on the held-out paths, and what it does on one of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot
import numpy
import torch
from gymnasium.spaces import Box
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from thalweg.envs import PACKET, Paths, PathVectorEnv

ENVS = 64
"""How many environments the agent learns from side by side."""
STEPS = 400
"""Steps of an episode."""
SCALE = 40.0
"""An action of the agent, from -1 to 1, is as much of the environment's: it at most doubles or halves the rate."""
HELD_OUT = 256
"""How many paths the policies are compared on."""
HELD_OUT_SEED = 1_000_000
"""Those of training are far from it: each environment draws all of its paths from a seed of its own, from 1 on."""
WATCHED = 64
"""How many of them it is measured on while it learns."""
CONSTANT = range(50, 501, 25)
"""The constant rates, in packets per second."""
LOOKS: list[dict[str, Any]] = [
    {"color": "#0072b2", "linestyle": "-", "linewidth": 1.4},
    {"color": "#d55e00", "linestyle": (0, (5, 2)), "linewidth": 1.4},
    {"color": "#777777", "linestyle": (0, (1, 1.5)), "linewidth": 1.4},
]
"""Lines of the learned policy, the best constant rate and random actions."""

Numbers = NDArray[Any]
Policy = Callable[[Numbers, int], Numbers]
"""Gives the actions of the environments, from what is observed and the number of the step, from 0."""


def main() -> None:
    arguments = argparse.ArgumentParser(description="Teaches an agent to set a sending rate.")
    arguments.add_argument("--seconds", type=float, default=100, help="how long it learns")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--plot", default="ppo.png", help="the file of the plot: PNG, PDF or SVG")
    arguments = arguments.parse_args()
    torch.set_num_threads(1)  # the network is small

    agent, curve = learn(arguments.seconds, arguments.seed)
    constant = {rate: measure(constant_rate(rate)) for rate in CONSTANT}
    # The best one for these very paths: no constant rate that is chosen without having seen them does better.
    best = max(constant, key=lambda rate: constant[rate]["reward"].mean())
    random = numpy.random.default_rng(0)
    policies = {
        "PPO": measure(learned(agent)),
        f"best constant rate ({best} packets/s)": constant[best],
        "random actions": measure(lambda seen, _: random.uniform(-SCALE, SCALE, (len(seen), 1))),
    }
    hindsight = numpy.max([of["reward"] for of in constant.values()], axis=0)
    better = numpy.mean(policies["PPO"]["reward"] > constant[best]["reward"])
    print(f"{HELD_OUT} held-out paths; learned from {curve[-1][1]:,} steps in {curve[-1][0]:.0f} s")
    print(f"{'policy':36} {'reward':>7} {'goodput':>11} {'round trip':>11} {'lost':>7}")
    for name, of in [*policies.items(), *((f"constant rate {rate}", it) for rate, it in constant.items())]:
        print(f"{name:36} {of['reward'].mean():7.3f} {of['throughput'].mean() / 1e6:6.2f} Mbps "
              f"{of['rtt'].mean() * 1e3:8.0f} ms {of['loss'].mean():6.1%}")  # fmt: skip
    print(f"PPO has more reward than the best constant rate on {better:.0%} of the paths. The best constant rate of "
          f"each path alone, which nobody knows before, has {hindsight.mean():.3f}.")  # fmt: skip
    draw(arguments.plot, curve, policies, agent, best)


class SideBySide(VecEnv):
    """Environments as stable-baselines3 has them: a step that ends an episode begins the next one, too."""

    def __init__(self, count: int, seed: int) -> None:
        self.envs = PathVectorEnv(count, steps=STEPS, threads=2)
        space = self.envs.single_observation_space
        super().__init__(count, Box(-10, 10, space.shape, numpy.float32), Box(-1, 1, (1,), numpy.float32))
        self.first_seed: int | None = seed

    def reset(self) -> Numbers:
        seen, _ = self.envs.reset(seed=self.first_seed)
        self.first_seed = None
        return compress(seen)

    def step_async(self, actions: Numbers) -> None:
        self.actions = SCALE * actions

    def step_wait(self) -> tuple[Numbers, Numbers, Numbers, list[dict[str, Any]]]:
        seen, rewards, _, truncated, _ = self.envs.step(self.actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if truncated.any():  # all episodes have the same number of steps
            for info, last in zip(infos, compress(seen)):
                info.update({"terminal_observation": last, "TimeLimit.truncated": True})
            seen, *_ = self.envs.step(numpy.zeros_like(self.actions))
        return compress(seen), rewards, truncated, infos

    def close(self) -> None:
        pass

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


def compress(seen: Numbers) -> Numbers:
    """Observations for a network: ratios may be a thousand; their logarithms are small."""
    features = seen.reshape(len(seen), -1, 3).astype(numpy.float32)
    features[:, :, 1:] = numpy.log(numpy.maximum(features[:, :, 1:], 0.01))
    return features.reshape(len(seen), -1)


class Clock(BaseCallback):
    """Ends learning when the time is over, and measures the agent on held-out paths from time to time meanwhile."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds, self.spent, self.begin = seconds, 0.0, time.perf_counter()
        self.curve: list[tuple[float, int, float]] = []
        """Seconds of learning, steps, and the mean reward on held-out paths."""

    def _on_rollout_start(self) -> None:
        now = time.perf_counter()
        self.spent += now - self.begin
        if not self.curve or self.spent >= self.curve[-1][0] + self.seconds / 15 or self.spent >= self.seconds:
            reward = measure(learned(self.model), WATCHED)["reward"].mean()
            self.curve.append((self.spent, self.num_timesteps, float(reward)))
        self.begin = time.perf_counter()  # measuring is not learning

    def _on_step(self) -> bool:
        return self.spent < self.seconds


def learn(seconds: float, seed: int) -> tuple[PPO, list[tuple[float, int, float]]]:
    """An agent that has learned for that long, and how it became better."""
    agent = PPO(
        "MlpPolicy", SideBySide(ENVS, seed), n_steps=128, batch_size=1024, n_epochs=6, gamma=0.99, gae_lambda=0.95,
        learning_rate=1e-3, policy_kwargs={"log_std_init": -1.0}, seed=seed, device="cpu",
    )  # fmt: skip
    clock = Clock(seconds)
    agent.learn(total_timesteps=2**40, callback=clock)
    return agent, clock.curve


def learned(agent: Any) -> Policy:
    """What the agent has learned, without the noise with which it explores."""
    return lambda seen, _: SCALE * agent.predict(compress(seen), deterministic=True)[0]


def constant_rate(packets: float) -> Policy:
    """A rate in packets per second. The first step goes to the least rate, the second one from there to this one."""
    least = 0.4 * Paths().rate[0] / 8 / PACKET
    actions = [-1000.0, (packets / least - 1) / 0.025]
    return lambda seen, step: numpy.full((len(seen), 1), actions[step] if step < 2 else 0.0)


def measure(policy: Policy, count: int = HELD_OUT) -> dict[str, Numbers]:
    """What the policy reaches in an episode on each of ``count`` held-out paths: the means of its steps."""
    return {name: values.mean(axis=0) for name, values in record(policy, Paths(), count).items()}


def record(policy: Policy, paths: Paths, count: int) -> dict[str, Numbers]:
    """The reward and the metrics of each step of an episode, one row per step and a column per held-out path."""
    envs = PathVectorEnv(count, paths=paths, steps=STEPS, threads=2)
    seen, _ = envs.reset(seed=HELD_OUT_SEED)
    rows = []
    for step in range(STEPS):
        seen, rewards, *_, info = envs.step(policy(seen, step).astype(numpy.float32))
        rows.append({"reward": rewards, **info})
    return {name: numpy.array([row[name] for row in rows]) for name in rows[0]}



def draw(
    file: str, curve: list[tuple[float, int, float]], policies: dict[str, dict[str, Numbers]], agent: PPO, best: int
) -> None:
    """Draws how the agent learned, the distribution of rewards, and rates over time on one path."""
    pyplot.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False})
    canvas, (learning, rewards, rates) = pyplot.subplots(1, 3, figsize=(7.2, 2.5), layout="constrained")
    looks = dict(zip(policies, LOOKS))

    learning.plot([of[0] for of in curve], [of[2] for of in curve], **LOOKS[0])
    for name, of in list(policies.items())[1:]:
        learning.axhline(of["reward"][:WATCHED].mean(), **looks[name])
    learning.set(xlabel="time of learning (s)", ylabel="mean reward per step", xlim=(0, None))
    learning.set_title("(a) while it learns", loc="left", fontsize=8)

    for name, of in policies.items():
        rewards.plot(sorted(of["reward"]), numpy.arange(1, HELD_OUT + 1) / HELD_OUT, label=name, **looks[name])
    worst = numpy.quantile(numpy.concatenate([of["reward"] for of in policies.values()]), 0.02)
    rewards.set(xlabel="mean reward per step", ylabel="share of paths", xlim=(worst, None), ylim=(0, 1))
    rewards.set_title(f"(b) on {HELD_OUT} paths not seen", loc="left", fontsize=8)

    link = 400 * 8.0 * PACKET
    seen = record(learned(agent), Paths(rate=(link, link), rtt=(0.2, 0.2), buffer=(60, 60), loss=(0.01, 0.01)), 6)
    times = numpy.cumsum(seen["rtt"] / 2, axis=0)
    rates.axhline(link / 1e6, color="#000000", linewidth=0.8)
    rates.annotate("link", (1, link / 1e6), xycoords=("axes fraction", "data"), xytext=(2, 0),
                   textcoords="offset points", va="center")  # fmt: skip
    rates.axhline(best * 8 * PACKET / 1e6, **LOOKS[1])
    for column in range(times.shape[1]):
        rates.plot(times[:, column], seen["rate"][:, column] / 1e6, **{**LOOKS[0], "linewidth": 0.8})
    rates.set(xlabel="time (s)", ylabel="sending rate (Mbps)", xlim=(0, 15), ylim=(0, 1.6 * link / 1e6))
    rates.set_title("(c) six starts on one path", loc="left", fontsize=8)

    canvas.legend(loc="outside upper left", ncols=len(policies), frameon=False)
    canvas.savefig(file, dpi=200)


if __name__ == "__main__":
    main()
