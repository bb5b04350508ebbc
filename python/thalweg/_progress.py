"""A line that shows progress."""

from __future__ import annotations

import sys
import time


def is_watched() -> bool:
    """Whether somebody looks at standard error: in a terminal or in a notebook."""
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)


class Line:
    """A line on standard error that is written again and again."""

    def __init__(self) -> None:
        self.begin = self.last = time.monotonic()
        self.width = 0

    def show(self, share: float, done: str) -> None:
        """Shows which share of the work is done, from 0 to 1, and what is ``done``, not too often."""
        now = time.monotonic()
        if now - self.last < 0.2:
            return
        self.last = now
        left = (now - self.begin) * (1 / share - 1) if share > 0 else 0.0
        self._write(f"{share:4.0%} of {done}, {left:.0f} s left")

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        if self.width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = max(self.width, len(text))
