"""What several tests use."""

from __future__ import annotations

import pathlib
import signal

import pytest

import thalweg

# A shell starts jobs in the background with SIGINT ignored; tests of Ctrl-C could not end there.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = pathlib.Path(__file__).parent.parent.parent
GIGABIT = ROOT / "scenarios" / "gigabit.toml"


@pytest.fixture(scope="session")
def gigabit() -> thalweg.Results:
    """Two controllers on a gigabit, for two seconds each."""
    return thalweg.run(GIGABIT, set={"duration": "2 s", "compare.controllers": ["rapid", "bic"]})


@pytest.fixture
def short() -> thalweg.Scenario:
    """One second of one flow."""
    return thalweg.Scenario(
        duration="1 s",
        path=thalweg.Path(rate="10 Mbps", rtt="20 ms", buffer="1 bdp"),
        flows=[thalweg.Flow(controller="cubic")],
    )
