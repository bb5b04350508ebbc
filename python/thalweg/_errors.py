"""Exceptions."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """One thing that is wrong with a scenario."""

    file: str
    """The file, as it was named; ``"scenario"`` if the scenario is no file."""
    line: int | None
    """The line of the file, counted from 1; none if the cause is no line of it."""
    column: int | None
    """The column in characters, counted from 1."""
    key: str
    """The key, such as ``"flow[2].start"``; empty if the problem concerns the file as a whole."""
    message: str
    """What is wrong, a semicolon, and what to do."""
    text: str
    """The line that the command line prints: place, key and message."""


class ScenarioError(ValueError):
    """A scenario is wrong. ``str()`` gives a line per problem; the other properties are those of the first problem."""

    def __init__(self, problems: list[tuple[str, int | None, int | None, str, str, str]]) -> None:
        self.problems: tuple[Problem, ...] = tuple(Problem(*problem) for problem in problems)
        super().__init__("\n".join(problem.text for problem in self.problems))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[list[tuple[object, ...]]]]:
        """How it is pickled, for pools of processes."""
        return type(self), ([tuple(problem) for problem in self.problems],)

    @property
    def file(self) -> str:
        """The file, as it was named; ``"scenario"`` if the scenario is no file."""
        return self.problems[0].file

    @property
    def line(self) -> int | None:
        """The line of the file, counted from 1; none if the cause is no line of it."""
        return self.problems[0].line

    @property
    def column(self) -> int | None:
        """The column in characters, counted from 1."""
        return self.problems[0].column

    @property
    def key(self) -> str:
        """The key, such as ``"flow[2].start"``."""
        return self.problems[0].key

    @property
    def message(self) -> str:
        """What is wrong, a semicolon, and what to do."""
        return self.problems[0].message


class RunError(RuntimeError):
    """A run could not be made."""
