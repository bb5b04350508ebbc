"""The command line: the same as that of the program, inside of this process."""

from __future__ import annotations

import signal
import sys

from . import _thalweg


def main() -> int:
    """Does what the arguments of this process ask for, and returns the exit code."""
    # Python's own handler would only note Ctrl-C, and nobody would look at the note while the engine works.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # It starts itself again, as root where namespaces are made: with -P, no module of the current folder is imported.
    return _thalweg.main([sys.executable, "-P", "-m", "thalweg"], sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
