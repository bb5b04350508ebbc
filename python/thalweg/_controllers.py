"""Controllers in Python."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

from . import _thalweg
from ._data import plain

C = TypeVar("C", bound=type)


def controller(name: str) -> Callable[[C], C]:
    """Gives a class the name ``name``, under which scenarios know it as a controller from then on.

    The class has the methods of a sender, as ``control/src/roles.rs`` states them. Times are seconds of the host's
    clock, sizes bytes of packets on the wire, rates bits per second.

    - ``__init__(self, conditions)`` is called once per flow. Further arguments with defaults are the controller's
      parameters, which scenarios can set and sweep: ``[controller.NAME]``.
    - ``next(self, now, pipe) -> float`` says when the next packet may leave: ``now`` (or any time before) for at once,
      a later time, or ``math.inf`` for after the next acknowledgment or loss.
    - ``window(self) -> float`` may stand in place of ``next``: a congestion window in bytes, which decides alone. It is
      asked for after each acknowledgment and loss, and this is faster.
    - ``on_send(self, now, size, pipe)``: a packet leaves. May be left out.
    - ``on_ack(self, now, ack)``: an acknowledgment arrived.
    - ``on_loss(self, now, loss)``: packets were lost: ``"event"`` (once per window) or ``"timeout"``.
    - ``rate(self) -> float``: the sending rate, for plots. May be left out.

    ``pipe`` is a ``Pipe``, ``ack`` an ``Ack``, ``conditions`` are ``Conditions``. An exception in a method ends the
    run, and ``run`` raises it. Runs of a scenario with such a controller are made one after the other.

    A later class of the same name takes the place of an earlier one, as in a cell of a notebook that is run again. All
    classes are kept in memory until Python ends, with what they refer to.

        @thalweg.controller("gentle")
        class Gentle:
            def __init__(self, conditions: thalweg.Conditions, step: float = 2.0) -> None:
                self.packet, self.step = conditions.packet, step
                self.cwnd = 2.0  # packets

            def window(self) -> float:
                return self.cwnd * self.packet

            def on_ack(self, now: float, ack: thalweg.Ack) -> None:
                if not ack.recovery:
                    self.cwnd += self.step * ack.acked / self.packet / self.cwnd

            def on_loss(self, now: float, loss: str) -> None:
                self.cwnd = max(0.75 * self.cwnd, 2.0)
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"{name!r} is no name of a controller; use lower-case letters, digits and hyphens")

    def add(cls: C) -> C:
        lacking = [method for method in ("on_ack", "on_loss") if not callable(getattr(cls, method, None))]
        if not any(callable(getattr(cls, method, None)) for method in ("next", "window")):
            lacking.append("next (or window)")
        if lacking:
            raise TypeError(f"{cls.__name__} is no controller: it has no method {', '.join(lacking)}")
        summary = (inspect.getdoc(cls) or cls.__name__).splitlines()[0]
        parameters = {name: plain(default) for name, default in _parameters(cls).items()}
        defaults = json.dumps(parameters, allow_nan=False)
        _thalweg.register(name, summary, defaults, cls)
        return cls

    return add


def _parameters(cls: type) -> dict[str, Any]:
    """The arguments that follow ``conditions``, with their defaults."""
    arguments = list(inspect.signature(cls).parameters.values())
    if not arguments:
        raise TypeError(f"{cls.__name__}.__init__ takes no `conditions`")
    for argument in arguments[1:]:
        if argument.default is argument.empty:
            raise TypeError(f"{cls.__name__}: the parameter `{argument.name}` has no default")
    return {argument.name: argument.default for argument in arguments[1:]}
