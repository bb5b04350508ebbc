"""The native part. Programs use the package ``thalweg``, which exports what they need."""

import os
from collections.abc import Callable, Sequence
from typing import Any, final

from typing_extensions import CapsuleType

def main(program: Sequence[str], arguments: Sequence[str]) -> int: ...
def schema() -> str: ...
def styles() -> str: ...

@final
class Plan:
    @staticmethod
    def load(path: str, sets: str, jobs: int | None) -> Plan: ...
    @staticmethod
    def read(scenario: str, sets: str, jobs: int | None) -> Plan: ...
    @property
    def runs(self) -> list[str]: ...
    @property
    def seconds(self) -> float: ...
    def run(self, progress: Callable[[float, int], object] | None) -> Results: ...

def text_of(path: str) -> str: ...
def join(parts: Sequence[bytes]) -> Table: ...

@final
class Shard:
    @staticmethod
    def read(
        name: str, folder: str, text: str, is_file: bool, sets: str, jobs: int | None, number: int, of: int
    ) -> Shard: ...
    @property
    def total(self) -> int: ...
    @property
    def runs(self) -> int: ...
    @property
    def plan(self) -> str: ...
    def make(self, progress: Callable[[float, int], object] | None) -> bytes: ...
    def columns(self) -> bytes: ...
    def make_in(self, out: str, series: bool, progress: Callable[[float, int], object] | None) -> bytes: ...

@final
class Results:
    @property
    def title(self) -> str: ...
    @property
    def seed(self) -> int: ...
    def summary(self) -> Table: ...
    def flows(self) -> Table: ...
    def links(self) -> Table: ...
    def transfers(self) -> Table: ...
    def completion(self) -> Table: ...
    def json(self) -> str: ...
    def text(self) -> str: ...
    def cells(self) -> tuple[list[str], list[list[str]]]: ...
    def figures(self) -> str: ...
    def write(self, dir: str | os.PathLike[str]) -> None: ...

@final
class EvaluationTask:
    @staticmethod
    def plan(
        names: tuple[str, str], blocks: Sequence[str], full: bool, sets: str, jobs: int | None
    ) -> EvaluationTask: ...
    @property
    def runs(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    def make(self, progress: Callable[[float, int], object] | None) -> Evaluation: ...

@final
class Evaluation:
    @property
    def tally(self) -> str: ...
    @property
    def is_broken(self) -> bool: ...
    def rows(self) -> Table: ...
    def cases(self) -> Table: ...
    def json(self) -> str: ...
    def text(self) -> str: ...
    def write(self, dir: str | os.PathLike[str]) -> str | os.PathLike[str]: ...

@final
class Table:
    """A table of results in Arrow's layout.

    pandas, polars, pyarrow and DuckDB read it without a copy, by the Arrow PyCapsule interface.
    """

    @staticmethod
    def _of_part(part: bytes) -> Table: ...
    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""

    def __len__(self) -> int:
        """The number of rows."""

    def __contains__(self, column: str) -> bool: ...
    def __getitem__(self, column: str) -> list[Any]:
        """The values of a column; ``None`` where there is no value. Raises ``KeyError`` if there is no such column."""

    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...

def register(name: str, summary: str, defaults: str, make: Callable[..., object]) -> None: ...

@final
class Conditions:
    """What the host of a flow can do."""

    @property
    def packet(self) -> int:
        """Bytes of a full packet on the wire."""

    @property
    def timing_error(self) -> float:
        """The largest difference between the times that the host tells and the true ones, in seconds."""

    @property
    def quantum(self) -> float:
        """The shortest time between two departures that the host can keep, in seconds; 0 if it can time any gap."""

@final
class Pipe:
    """What the host has in the network, and what it has still to send."""

    @property
    def in_flight(self) -> int:
        """Bytes sent, and not yet acknowledged or declared lost."""

    @property
    def backlog(self) -> int | None:
        """Bytes still to be sent for the first time; none for a source without end."""

    @property
    def packet(self) -> int:
        """Bytes of a full packet on the wire."""

    @property
    def repairing(self) -> bool:
        """Whether the next packet is a retransmission."""

@final
class Ack:
    """What one acknowledgment says."""

    @property
    def acked(self) -> int:
        """Bytes that it acknowledges for the first time."""

    @property
    def lost(self) -> int:
        """Bytes that it reveals to be lost."""

    @property
    def spurious(self) -> int:
        """Of ``acked``, bytes that had been declared lost and arrived all the same."""

    @property
    def marked(self) -> int:
        """Bytes of packets that queues have marked, of which no acknowledgment has told before."""

    @property
    def rtt(self) -> float | None:
        """The round-trip time of the packet that it answers, in seconds, if that was measured."""

    @property
    def in_flight(self) -> int:
        """Bytes in flight after it."""

    @property
    def recovery(self) -> bool:
        """Whether the host is still repairing a loss, so that a window does not grow."""

    @property
    def app_limited(self) -> bool:
        """Whether the data or the receiver's window, not the controller, holds the sender back."""

@final
class Envs:
    OBSERVATION: int
    METRICS: int
    def __init__(
        self,
        count: int,
        control: str,
        rate: tuple[float, float],
        rtt: tuple[float, float],
        buffer: tuple[float, float],
        loss: tuple[float, float],
        steps: int,
        threads: int,
    ) -> None: ...
    def reset(self, seeds: Sequence[int] | None, observations: object) -> None: ...
    def step(
        self, actions: object, observations: object, rewards: object, truncated: object, metrics: object
    ) -> None: ...
