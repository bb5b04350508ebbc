"""Gymnasium environments."""

from __future__ import annotations

import gymnasium
import numpy
import pytest
from gymnasium.utils.env_checker import check_env

import thalweg.envs
from thalweg.envs import Paths, PathEnv, PathVectorEnv

ONE_PATH = Paths(rate=(3.6e6, 3.6e6), rtt=(0.1, 0.1), buffer=(30, 30), loss=(0, 0))
"""300 packets per second, 30 packets in flight, 30 in the queue."""


@pytest.mark.parametrize("control", ["rate", "window"])
@pytest.mark.filterwarnings("ignore:.*Box.*")
def test_gymnasium_accepts_the_environments(control: str) -> None:
    check_env(gymnasium.make(f"thalweg/{control.capitalize()}-v0").unwrapped)
    vector = gymnasium.make_vec(f"thalweg/{control.capitalize()}-v0", num_envs=3, paths=ONE_PATH)
    assert isinstance(vector.unwrapped, PathVectorEnv)
    assert vector.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    observations, _ = vector.reset(seed=1)
    assert observations in vector.observation_space and observations.shape == (3, 30)


def roll(envs: PathVectorEnv, seed: int, turns: int = 30) -> numpy.ndarray:
    """All numbers of some steps."""
    random = numpy.random.default_rng(0)
    seen = [envs.reset(seed=seed)[0].ravel()]
    for _ in range(turns):
        actions = random.uniform(-1, 1, (envs.num_envs, 1)).astype(numpy.float32)
        observations, rewards, *_, info = envs.step(actions)
        assert observations in envs.observation_space
        seen += [observations.ravel(), rewards, *info.values()]
    return numpy.concatenate(seen)


def test_all_follows_from_the_seed() -> None:
    envs = PathVectorEnv(5, steps=20)
    first = roll(envs, 7)
    assert (first == roll(envs, 7)).all()
    assert (first == roll(PathVectorEnv(5, steps=20, threads=2), 7)).all(), "on any number of threads"
    assert (first != roll(envs, 8)).any()
    # Environment i has the seed of the first, plus i.
    assert (PathVectorEnv(1).reset(seed=9)[0][0] == PathVectorEnv(3).reset(seed=7)[0][2]).all()


def test_a_single_environment_is_one_of_many() -> None:
    one, many = PathEnv(), PathVectorEnv(2)
    assert (one.reset(seed=4)[0] == many.reset(seed=4)[0][0]).all()
    for _ in range(5):
        action = numpy.array([0.5], numpy.float32)
        single, several = one.step(action), many.step(numpy.array([[0.5], [0.5]], numpy.float32))
        assert (single[0] == several[0][0]).all() and single[1] == several[1][0]


def test_a_rate_below_the_path_keeps_the_queue_empty_and_one_above_fills_it() -> None:
    envs = PathVectorEnv(1, paths=ONE_PATH, steps=1000)
    envs.reset(seed=1)
    nothing = numpy.zeros((1, 1), numpy.float32)
    info = {}
    for _ in range(200):  # down to 120 packets per second
        *_, info = envs.step(numpy.full((1, 1), -1, numpy.float32))
    for _ in range(30):
        observations, rewards, *_, info = envs.step(nothing)
    assert info["rate"][0] == pytest.approx(0.4 * 3.6e6, rel=0.2) == info["throughput"][0]
    assert info["rtt"][0] == pytest.approx(0.1, rel=0.05) and info["loss"][0] == 0
    assert observations[0, -3:] == pytest.approx([0, 1, 1], abs=0.2)
    assert rewards[0] == pytest.approx((10 * 120 - 1e3 * 0.104) / 1e3, rel=0.2)
    for _ in range(100):
        observations, rewards, *_, info = envs.step(numpy.full((1, 1), 1, numpy.float32))
    assert info["rtt"][0] == pytest.approx(0.2, rel=0.05), "30 packets wait"
    assert info["loss"][0] > 0.2 and observations[0, -2] == pytest.approx(2, rel=0.1)


def test_actions_change_a_rate_as_auroras_and_a_window_as_orcas() -> None:
    path = Paths(rate=(36e6, 36e6), rtt=(0.1, 0.1), buffer=(300, 300), loss=(0, 0))
    for control, up, down in (("rate", 1 + 0.025 * 3, 1 / (1 + 0.025 * 3)), ("window", 2.0**0.5, 2.0**-0.5)):
        envs = PathVectorEnv(1, control=control, paths=path)  # type: ignore[arg-type]
        amount = 3 if control == "rate" else 0.5
        for action, factor in ((amount, up), (-amount, down)):
            envs.reset(seed=2)
            # Below what the path carries, above the least.
            for _ in range(2 if control == "window" else 20):
                envs.step(numpy.full((1, 1), -1, numpy.float32))
            before = settled_rate(envs)
            envs.step(numpy.full((1, 1), action, numpy.float32))
            assert settled_rate(envs) / before == pytest.approx(factor, rel=0.03), (control, action)


def settled_rate(envs: PathVectorEnv) -> float:
    """The mean rate of whole round trips, after the queue has emptied."""
    rates = [envs.step(numpy.zeros((1, 1), numpy.float32))[-1]["rate"][0] for _ in range(24)]
    return float(numpy.mean(rates[8:]))


def test_an_episode_begins_anew_with_the_step_after_its_end() -> None:
    envs = PathVectorEnv(2, steps=5)
    envs.reset(seed=3)
    action = numpy.ones((2, 1), numpy.float32)
    ends = [envs.step(action)[3].all() for _ in range(5)]
    assert ends == [False] * 4 + [True]
    observations, rewards, terminated, truncated, _ = envs.step(action)
    assert not truncated.any() and not terminated.any() and (rewards == 0).all()
    assert (observations == numpy.tile([0, 1, 1], 10)).all()


def test_what_is_wrong_is_told() -> None:
    with pytest.raises(ValueError, match=r"rtt: \(1, 0.5\) is no range"):
        PathVectorEnv(1, paths=Paths(rtt=(1, 0.5)))
    with pytest.raises(ValueError, match="must be 1 or more"):
        PathVectorEnv(0)
    envs = PathVectorEnv(2)
    with pytest.raises(ValueError, match="reset the environments first"):
        envs.step(numpy.zeros((2, 1), numpy.float32))
    with pytest.raises(ValueError, match="3 actions for 2 environments"):
        envs.step(numpy.zeros((3, 1), numpy.float32))
    envs.reset()
    with pytest.raises(ValueError, match="is no action"):
        envs.step(numpy.full((2, 1), numpy.nan, numpy.float32))
    # No environment has made a step then, also not those before the one with the wrong action.
    other = type(envs)(2)
    other.reset(seed=1)
    envs.reset(seed=1)
    with pytest.raises(ValueError, match="is no action"):
        envs.step(numpy.array([[0.5], [numpy.nan]], numpy.float32))
    action = numpy.full((2, 1), 0.5, numpy.float32)
    assert (envs.step(action)[0] == other.step(action)[0]).all()
