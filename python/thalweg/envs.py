"""Gymnasium environments: an agent controls the sending rate or the window of a flow over a random path.

A step is a monitor interval of half a round trip. The observation and the action on a rate are Aurora's (Jay et al.,
ICML 2019); the action on a window is Orca's (Abbasloo et al., SIGCOMM 2020).

- **Observation**: the last ten intervals, the newest last, each with three features: latency inflation (the slope of
  the round-trip time within the interval), latency ratio (the mean round-trip time over the least one so far) and send
  ratio (bytes sent over bytes acknowledged). 30 numbers of type float32.
- **Action** *a*, from -1000 to 1000 for rates: the rate is multiplied by 1 + 0.025 *a*, or divided by 1 - 0.025 *a* if
  *a* is negative. From -2 to 2 for windows: the window is multiplied by 2 to the power of *a*.
- **Reward**: (10 x throughput in packets per second - 1000 x mean round-trip time in seconds - 2000 x share of bytes
  lost) / 1000.
- **Paths**: rate, round-trip time and share of packets lost are uniform within their ranges, the buffer is uniform in
  its logarithm. The defaults are those of Aurora's simulator: 100 to 500 packets of 1500 bytes per second, 100 to
  1000 ms, up to 5 % lost, and a buffer of 1 to 2981 packets.

An episode is truncated after ``steps`` steps and never terminates. ``info`` has ``rate`` and ``throughput`` in bits per
second, ``rtt`` in seconds, ``loss`` as a share and the ``packets`` acknowledged, of the interval.

    envs = gymnasium.make_vec("thalweg/Rate-v0", num_envs=64)
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

try:
    import gymnasium
    import numpy
    from gymnasium.vector.utils import batch_space
except ImportError as e:
    raise ImportError("environments need gymnasium: pip install 'thalweg[envs]'") from e
from numpy.typing import NDArray

from ._thalweg import Envs

PACKET = 1500
"""Bytes of a packet on the wire."""
FEATURES = ((-1.0, 10.0), (1.0, 10_000.0), (0.0, 1000.0))
"""The ranges of latency inflation, latency ratio and send ratio."""
METRICS = ("rate", "throughput", "rtt", "loss", "packets")

Observation = NDArray[numpy.float32]
Action = NDArray[numpy.float32]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Paths:
    """The distribution of paths. Each property is drawn from its range, independently of the others."""

    rate: tuple[float, float] = (100 * 8.0 * PACKET, 500 * 8.0 * PACKET)
    """Bits per second, uniform."""
    rtt: tuple[float, float] = (0.1, 1.0)
    """Round-trip propagation delay in seconds, uniform."""
    buffer: tuple[float, float] = (1.0, 2981.0)
    """How many packets may wait, uniform in its logarithm."""
    loss: tuple[float, float] = (0.0, 0.05)
    """Share of packets lost to errors, uniform."""


class PathVectorEnv(gymnasium.vector.VectorEnv[Observation, Action, NDArray[Any]]):
    """Environments side by side, simulated by the engine without a call of Python for each.

    ``control`` is what actions change: ``"rate"`` or ``"window"``. ``threads`` is how many threads work on a step.
    Results do not depend on it: environment *i* of ``reset(seed=s)`` draws its paths from the seed *s* + *i*.

    After the end of an episode, the next step of that environment ignores its action and begins a new episode
    (``AutoresetMode.NEXT_STEP``).
    """

    metadata: dict[str, Any] = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        num_envs: int = 1,
        *,
        control: Literal["rate", "window"] = "rate",
        paths: Paths = Paths(),
        steps: int = 400,
        threads: int = 1,
    ) -> None:
        if num_envs < 1 or steps < 1 or threads < 1:
            raise ValueError(f"num_envs ({num_envs}), steps ({steps}) and threads ({threads}) must be 1 or more")
        self.num_envs, self.render_mode, self.control = num_envs, None, control
        self.single_observation_space, self.single_action_space = spaces(control)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        p = paths
        self._native = Envs(num_envs, control, p.rate, p.rtt, p.buffer, p.loss, steps, threads)
        self._is_seeded = False
        self._observations = numpy.zeros((num_envs, Envs.OBSERVATION), numpy.float32)
        self._rewards = numpy.zeros(num_envs)
        self._truncated = numpy.zeros(num_envs, numpy.uint8)
        self._metrics = numpy.zeros((num_envs, Envs.METRICS))

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins a new episode in every environment. ``seed`` is that of the first, or a list of one for each."""
        if isinstance(seed, int):
            super().reset(seed=seed)
            self._is_seeded = True
            self._native.reset([seed + i for i in range(self.num_envs)], self._observations)
        elif seed is not None or not self._is_seeded:
            given = seed if seed is not None else [None] * self.num_envs
            drawn = self.np_random.integers(2**63, size=self.num_envs).tolist()
            self._is_seeded = True
            self._native.reset([d if s is None else s for s, d in zip(given, drawn, strict=True)], self._observations)
        else:
            self._native.reset(None, self._observations)
        return self._observations.copy(), {}

    def step(
        self, actions: Action
    ) -> tuple[Observation, NDArray[numpy.float64], NDArray[numpy.bool_], NDArray[numpy.bool_], dict[str, Any]]:
        """Makes a step in every environment."""
        given = numpy.ascontiguousarray(actions, numpy.float32)
        self._native.step(given, self._observations, self._rewards, self._truncated, self._metrics)
        truncated = self._truncated.astype(numpy.bool_)
        info = {name: self._metrics[:, i].copy() for i, name in enumerate(METRICS)}
        return self._observations.copy(), self._rewards.copy(), numpy.zeros_like(truncated), truncated, info


class PathEnv(gymnasium.Env[Observation, Action]):
    """One environment; see ``PathVectorEnv``."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        *,
        control: Literal["rate", "window"] = "rate",
        paths: Paths = Paths(),
        steps: int = 400,
        render_mode: None = None,
    ) -> None:
        self.observation_space, self.action_space = spaces(control)
        self.render_mode = None
        self._one = PathVectorEnv(1, control=control, paths=paths, steps=steps)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins a new episode."""
        super().reset(seed=seed)
        observations, _ = self._one.reset(seed=seed)
        return observations[0], {}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Makes a step."""
        observations, rewards, _, truncated, info = self._one.step(action[None])
        return observations[0], float(rewards[0]), False, bool(truncated[0]), {k: float(v[0]) for k, v in info.items()}


def spaces(
    control: Literal["rate", "window"],
) -> tuple[gymnasium.spaces.Box[numpy.float32], gymnasium.spaces.Box[numpy.float32]]:
    """The spaces of observations and actions."""
    low, high = (numpy.tile(numpy.array(ends, numpy.float32), Envs.OBSERVATION // 3) for ends in zip(*FEATURES))
    most = 1e3 if control == "rate" else 2.0
    return gymnasium.spaces.Box(low, high, dtype=numpy.float32), gymnasium.spaces.Box(-most, most, (1,), numpy.float32)


for _name, _control in (("Rate", "rate"), ("Window", "window")):
    gymnasium.register(
        f"thalweg/{_name}-v0",
        entry_point="thalweg.envs:PathEnv",
        vector_entry_point="thalweg.envs:PathVectorEnv",
        kwargs={"control": _control},
    )
