"""Scenarios with types: each table of a scenario file is a class, each key a keyword.

docs/scenarios.md describes the keys. Hyphens become underscores, ``from`` becomes ``from_``, and the lists of links and
flows have plural names. Keys that are not given have the defaults of scenario files.

This file is written by generate_scenario.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from ._data import Keys


@dataclasses.dataclass(kw_only=True, slots=True)
class Bursts(Keys):
    """Errors in bursts, by the Gilbert-Elliott model: the channel is in a good or in a bad state, and may change it
    at each packet.
    """

    p: float
    """Probability that the channel turns from good to bad, per packet."""
    r: float
    """Probability that the channel turns from bad to good, per packet: it stays bad for 1/r packets on average."""
    good: float | None = None
    """Probability that a packet is lost while the channel is good, 0 if not given."""
    bad: float | None = None
    """Probability that a packet is lost while the channel is bad, 1 if not given."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Reorder(Keys):
    """Packets that take a detour, so that later ones overtake them."""

    probability: float
    """Probability that a packet takes the detour."""
    delay: str
    """How much longer the detour takes."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Change(Keys):
    """A change of a link."""

    at: str
    """When the change happens."""
    rate: str | None = None
    """The link's rate from then on; nothing is sent while it is "0 bps". Unchanged if not given."""
    delay: str | None = None
    """The link's delay from then on, one way. Unchanged if not given."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Shaper(Keys):
    """A token bucket that limits the rate in the long run. Packets wait for tokens."""

    rate: str
    """The rate in the long run, at which tokens come. It has no effect if it is above the link's."""
    burst: str
    """The most tokens: how much passes at the link's rate after a pause."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Jitter(Keys):
    """An extra delay that varies at random over time and keeps packets in order."""

    mean: str
    """Its mean. It is distributed exponentially."""
    correlation: str
    """The time after which its autocorrelation has fallen to 1/e."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Reverse(Keys):
    """What is different in the reverse direction of a link. Keys that are not given are as in the forward direction."""

    rate: str | None = None
    """Its capacity; not with `trace`. Then the forward direction's trace and changes of rate do not apply to it."""
    trace: str | None = None
    """A file of delivery opportunities, in place of `rate`."""
    shaper: Shaper | None = None
    """A token bucket that limits the rate in the long run."""
    delay: str | None = None
    """Its propagation delay, one way. Then the forward direction's changes of delay do not apply to it."""
    aggregate: str | None = None
    """Aggregation: packets arrive in batches, at multiples of this time; "0 s" for none."""
    jitter: Jitter | None = None
    """An extra delay that varies at random over time and keeps packets in order; with a mean of "0 s", none."""
    buffer: str | None = None
    """How much may wait at it. A size in bdp or time is computed with its own rate."""
    queue: (
        Literal["droptail", "red", "ared", "codel", "fq-codel", "pie", "dualpi2", "policer", "rcp-ac", "rcp", "xcp", "matching"]
        | Mapping[str, Any]
        | None
    ) = None
    """Which packets wait, which is sent next and which are dropped."""
    packet_error: float | Bursts | None = None
    """Probability that a packet is lost to a transmission error, 0 or more and less than 1, or bursts of errors."""
    corrupt: float | None = None
    """Probability that a packet arrives with a flipped bit."""
    reorder: Reorder | None = None
    """Packets that take a detour, so that later ones overtake them."""
    duplicate: float | None = None
    """Probability that a packet arrives twice."""
    change: Sequence[Change] | None = None
    """Changes of its rate and delay, in the order of time."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Path(Keys):
    """The link that all flows of a dumbbell share."""

    rate: str | None = None
    """Its capacity, in either direction unless `reverse` gives another; not with `trace`."""
    trace: str | None = None
    """A file, beside the scenario, of the times at which the link can deliver, in either direction: a whole number
    of milliseconds per line, each an opportunity to deliver 1504 bytes. The trace repeats. In place of `rate`.
    """
    shaper: Shaper | None = None
    """A token bucket that limits the rate in the long run, in each direction for itself. Packets wait for tokens."""
    rtt: str
    """Round-trip propagation delay, hosts' access included, of flows that have no RTT of their own."""
    aggregate: str | None = None
    """Aggregation, as on wireless links: what it has sent is delivered in batches, at multiples of this time and in
    order, in either direction. If not given, each packet is delivered when it arrives.
    """
    jitter: Jitter | None = None
    """An extra delay that varies at random over time and keeps packets in order, in each direction for itself."""
    buffer: str
    """How much may wait at it: "1 bdp" (its rate times the mean RTT of its flows), "20 ms" (at its rate), "750
    packets" or "9 MB".
    """
    queue: (
        Literal["droptail", "red", "ared", "codel", "fq-codel", "pie", "dualpi2", "policer", "rcp-ac", "rcp", "xcp", "matching"]
        | Mapping[str, Any]
        | None
    ) = None
    """Which packets wait, which is sent next and which are dropped: a queue discipline, like "codel"; or the router
    that takes part, like "rcp-ac"; or "matching" for the router of the flows' controller, if it has one.
    """
    packet_error: float | Bursts | None = None
    """Probability that a packet is lost to a transmission error, 0 or more and less than 1, or bursts of errors."""
    corrupt: float | None = None
    """Probability that a packet arrives with a flipped bit. In the simulator such a packet is discarded."""
    reorder: Reorder | None = None
    """Packets that take a detour, so that later ones overtake them."""
    duplicate: float | None = None
    """Probability that a packet arrives twice."""
    change: Sequence[Change] | None = None
    """Changes of its rate and delay, in the order of time."""
    reverse: Reverse | None = None
    """What is different from its far to its near end: in the direction of acknowledgments of forward flows."""
    access: str | None = None
    """Rate of the sender's own access link, of flows that do not give it; if not given, access links have no limit."""
    delay: str | None = None
    """The part of the one-way delay that the shared link has; if not given, half of the smallest RTT."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Link(Keys):
    """A link of an arbitrary network."""

    name: str
    """What routes and results call it."""
    rate: str | None = None
    """Its capacity, in either direction unless `reverse` gives another; not with `trace`."""
    trace: str | None = None
    """A file, beside the scenario, of the times at which the link can deliver, in either direction: a whole number
    of milliseconds per line, each an opportunity to deliver 1504 bytes. The trace repeats. In place of `rate`.
    """
    shaper: Shaper | None = None
    """A token bucket that limits the rate in the long run, in each direction for itself. Packets wait for tokens."""
    delay: str
    """Its propagation delay, one way."""
    aggregate: str | None = None
    """Aggregation, as on wireless links: what it has sent is delivered in batches, at multiples of this time and in
    order, in either direction. If not given, each packet is delivered when it arrives.
    """
    jitter: Jitter | None = None
    """An extra delay that varies at random over time and keeps packets in order, in each direction for itself."""
    buffer: str
    """How much may wait at it: "1 bdp" (its rate times the mean RTT of its flows), "20 ms" (at its rate), "750
    packets" or "9 MB".
    """
    queue: (
        Literal["droptail", "red", "ared", "codel", "fq-codel", "pie", "dualpi2", "policer", "rcp-ac", "rcp", "xcp", "matching"]
        | Mapping[str, Any]
        | None
    ) = None
    """Which packets wait, which is sent next and which are dropped: a queue discipline, like "codel"; or the router
    that takes part, like "rcp-ac"; or "matching" for the router of the flows' controller, if it has one.
    """
    packet_error: float | Bursts | None = None
    """Probability that a packet is lost to a transmission error, 0 or more and less than 1, or bursts of errors."""
    corrupt: float | None = None
    """Probability that a packet arrives with a flipped bit. In the simulator such a packet is discarded."""
    reorder: Reorder | None = None
    """Packets that take a detour, so that later ones overtake them."""
    duplicate: float | None = None
    """Probability that a packet arrives twice."""
    change: Sequence[Change] | None = None
    """Changes of its rate and delay, in the order of time."""
    reverse: Reverse | None = None
    """What is different from its far to its near end: in the direction of acknowledgments of forward flows."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Flow(Keys):
    """One transfer, or several alike."""

    controller: str | None = None
    """Its congestion controller; if not given, those of `[compare]`."""
    start: str | Mapping[str, Any] | None = None
    """When it starts; at 0 s if not given. { uniform = ["0 s", "20 s"] } draws a time for each copy."""
    stop: str | None = None
    """When it stops sending; if not given, when everything is sent or the run ends."""
    size: str | None = None
    """How much it sends; without end if not given."""
    rtt: str | Mapping[str, Any] | None = None
    """Round-trip propagation delay; if not given, the path's, or that of its route's links. { uniform = ["60 ms",
    "165 ms"] } draws one for each copy.
    """
    route: Sequence[str] | None = None
    """The links it crosses, in order; the path's bottleneck if not given. Acknowledgments return over the same
    links.
    """
    direction: Literal["forward", "reverse"] | None = None
    """Whether it crosses its route in the order given, or from its far end."""
    count: int | None = None
    """The number of copies of this flow; one if not given."""
    packet: str | None = None
    """Size of its full packets, if not the scenario's."""
    receive_window: int | None = None
    """The most that it may have outstanding, in packets; no limit if not given."""
    max_burst: int | None = None
    """The most packets that leave together for one acknowledgment or timer; no limit if not given. BIC-2004 has 2."""
    pacing: float | None = None
    """Space the packets of window protocols: so many windows per smoothed round-trip time, and at least 2 in slow
    start; 1.25 as QUIC (RFC 9002, section 7.7), 1.2 as Linux, 1 as Prague. The scenario's if not given.
    """
    recovery: Literal["sack", "rack-tlp", "newreno"] | None = None
    """How losses are repaired; as the controller's source says if not given."""
    delayed_ack: str | None = None
    """Acknowledge every second packet, a single one after this time at the latest; the scenario's if not given."""
    ecn: bool | None = None
    """Whether its packets are ECN-capable, so that queues mark them in place of dropping them; the scenario's if not
    given. The controller must react to marks.
    """
    access: str | None = None
    """Rate of the sender's own access link; the path's if not given."""
    coalesce: str | None = None
    """Interrupt coalescing: the receiving host learns of a packet, and of all that arrived after it, this long after
    its arrival; the scenario's if not given.
    """
    jitter: str | None = None
    """Each of its packets leaves up to this late, at random, and in order; the scenario's if not given."""
    quantum: str | None = None
    """The shortest time between two departures that its sending host can keep; the scenario's if not given."""
    misbehaviour: Literal["optimistic-acks", "false-reports"] | None = None
    """How its receiver breaks the rules; it is honest if not given."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Traffic(Keys):
    """Traffic beside the flows."""

    kind: Literal["cbr", "poisson", "onoff", "flows", "web", "video", "frames", "tmix"]
    """``cbr``: packets at equal intervals. ``poisson``: packets that leave independently of each other. ``onoff``:
    packets at equal intervals while it is on; the periods on and off have Pareto distributed lengths. ``flows``:
    transfers that arrive independently of each other. ``web``: web sessions: over a connection, requests and
    objects one after the other, with time to think in between. ``video``: sessions of adaptive streaming: over a
    connection, a player asks for one segment after the other. ``frames``: sources of a video call: over a
    connection, frames at equal intervals. ``tmix``: the connections in a file of Tmix, or a synthetic mix like a
    campus link's.
    """
    rate: str | None = None
    """Its rate on the wire; of onoff, while it is on."""
    start: str | None = None
    """When it starts; at 0 s if not given."""
    stop: str | None = None
    """When it stops; at the end of the run if not given."""
    route: Sequence[str] | None = None
    """The links it crosses, in order; the path's bottleneck if not given."""
    direction: Literal["forward", "reverse"] | None = None
    """Whether it crosses its route in the order given, or from its far end. Of connections: the data of `flows` and
    `frames`, the responses of other kinds.
    """
    packet: str | None = None
    """Size of its full packets on the wire, if not the scenario's."""
    on: str | None = None
    """Mean length of the periods in which it is on."""
    off: str | None = None
    """Mean length of the periods in which it is off."""
    shape: float | None = None
    """Shape of the Pareto distribution of both, 1.01 to 10; up to 2, their variance is infinite. Default: 1.5."""
    size: str | Mapping[str, Any] | None = None
    """What each transfer sends, on the wire."""
    per_second: float | None = None
    """Mean number of connections per second, which arrive as a Poisson process. Sessions of video and frames that
    have none begin together.
    """
    count: int | None = None
    """The most connections that arrive; no limit if not given. Of video and frames without `per-second`: the number
    of sessions; 1 if not given.
    """
    rtt: str | Mapping[str, Any] | None = None
    """Round-trip propagation delay; if not given, the path's, or that of its route's links. { uniform = ["60 ms",
    "165 ms"] } draws one for each connection.
    """
    load: str | None = None
    """The mean load that connections offer, on the wire, in `direction`; in place of `per-second`."""
    name: str | None = None
    """What results call it; its kind if not given."""
    controller: str | None = None
    """Congestion controller of both sides' data. If not given: of flows, video and frames, those of `[compare]`; of
    web and tmix, "reno".
    """
    handshake: bool | None = None
    """Whether a round trip opens each connection, as with TCP; true if not given."""
    receive_window: int | None = None
    """The most that a connection may have outstanding either way, in packets; no limit if not given."""
    max_burst: int | None = None
    """The most packets that leave together for one acknowledgment or timer; no limit if not given. BIC-2004 has 2."""
    pacing: float | None = None
    """Space the packets of window protocols: so many windows per smoothed round-trip time, and at least 2 in slow
    start; 1.25 as QUIC (RFC 9002, section 7.7), 1.2 as Linux, 1 as Prague. The scenario's if not given.
    """
    recovery: Literal["sack", "rack-tlp", "newreno"] | None = None
    """How losses are repaired; as the controller's source says if not given."""
    delayed_ack: str | None = None
    """Acknowledge every second packet, a single one after this time at the latest; the scenario's if not given."""
    ecn: bool | None = None
    """Whether packets are ECN-capable, as of a flow; the scenario's if not given."""
    idle_restart: bool | None = None
    """Whether the window begins again with slow start after an idle period; the scenario's if not given."""
    objects: float | None = None
    """Mean number of objects per session, geometrically distributed; 5 if not given."""
    object: str | Mapping[str, Any] | None = None
    """Size of an object, without headers; Pareto with a mean of 12 kB and a shape of 1.2 if not given."""
    request: str | Mapping[str, Any] | None = None
    """Size of a request, without headers; "400 B" if not given."""
    think: str | None = None
    """Mean time from an object's arrival to the next request, exponentially distributed; 1 s if not given."""
    segment: str | None = None
    """Playing time of a segment; "4 s" if not given."""
    bitrates: Sequence[str] | None = None
    """The bitrates of the video, rising; 1, 2.5, 5 and 8 Mbps if not given."""
    buffer: str | None = None
    """The playing time in the player's buffer above which it does not ask for the next segment; "30 s" if not given."""
    rule: Literal["throughput", "buffer"] | None = None
    """How the player chooses the bitrate of a segment; "throughput" if not given."""
    length: str | None = None
    """Playing time of a video, or the time in which a source produces frames; without end if not given."""
    fps: float | None = None
    """Frames per second; 30 if not given."""
    bitrate: str | None = None
    """The rate at which frames are produced, without headers. All have the same size."""
    file: str | None = None
    """A file of connection vectors, beside the scenario."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Compare(Keys):
    """One run for each of several controllers."""

    controllers: Sequence[str]
    """The controllers; each in turn controls the flows that name none."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Measure(Keys):
    """The interval over which means and totals are taken."""

    from_: str | None = None
    """Where it begins; at 0 s if not given."""
    to: str | None = None
    """Where it ends; at the end of the run if not given."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Scenario(Keys):
    """What to simulate with Thalweg: a network, the flows through it, and which runs to make and compare. Times,
    rates and sizes are texts with a unit, like "100 ms", "1 Gbps" and "64 kB".
    """

    _names: ClassVar[dict[str, str]] = {"links": "link", "flows": "flow"}

    title: str | None = None
    """What results are titled; the file's name if not given."""
    duration: str
    """How long to simulate."""
    seed: int | None = None
    """The seed of all random numbers: the same seed gives the same results on any machine. Default: 1."""
    sample: str | None = None
    """How often throughput, window, RTT and queues are sampled for the plots. Default: 50 ms."""
    measure: Measure | None = None
    """The interval over which means and totals are taken."""
    packet: str | None = None
    """Size of a full packet on the wire, headers included. Default: 1 kB."""
    ack: str | None = None
    """Size of an acknowledgment on the wire. Default: 40 B."""
    delayed_ack: str | None = None
    """Acknowledge every second packet (RFC 5681), a single one after this time at the latest. If not given, every
    packet is acknowledged.
    """
    ecn: bool | None = None
    """Whether packets are ECN-capable, so that queues mark them in place of dropping them. If true, those of all
    flows and connections whose controllers react to marks are; if not given, those of L4S controllers are (DCTCP,
    Prague).
    """
    coalesce: str | None = None
    """Interrupt coalescing: a receiving host learns of a packet, and of all that arrived after it, this long after
    its arrival. If not given, hosts learn of each packet at once.
    """
    jitter: str | None = None
    """Each packet of a flow leaves up to this late, at random, and in order, as from hosts whose timers and
    schedulers are not exact. If not given, packets leave on time.
    """
    pacing: float | None = None
    """Space the packets of window protocols: so many windows per smoothed round-trip time, and at least 2 in slow
    start; 1.25 as QUIC (RFC 9002, section 7.7), 1.2 as Linux, 1 as Prague. If not given, packets leave as soon as
    the window allows.
    """
    quantum: str | None = None
    """The shortest time between two departures that the sending hosts of flows can keep. Controllers that probe with
    every packet then send bursts. If not given, hosts can time any gap.
    """
    min_rto: str | None = None
    """Least margin of the retransmission timeout over the smoothed round-trip time; Linux uses 200 ms. (RFC 6298 has
    a least timeout instead, of 1 s.) Default: 200 ms.
    """
    idle_restart: bool | None = None
    """Whether the window of a connection begins again with slow start after the connection was idle for longer than
    its retransmission timeout (RFC 5681, section 4.1; Linux's tcp_slow_start_after_idle); false if not given.
    """
    path: Path | None = None
    """The common dumbbell: all flows share one link, which is named "bottleneck"."""
    links: Sequence[Link] | None = None
    """Links of an arbitrary network, for flows to name in their routes."""
    flows: Sequence[Flow] | None = None
    """The transfers. With `[compare]`, one that starts at once and never ends is assumed if none is given."""
    traffic: Sequence[Traffic] | None = None
    """Other traffic: packets that do not react to congestion, and connections that come and go."""
    controller: Mapping[str, Mapping[str, Any]] | None = None
    """Parameters of controllers that differ from the papers' values: a table for each controller."""
    compare: Compare | None = None
    """Makes one run for each of several controllers."""
    sweep: Mapping[str, Sequence[Any]] | None = None
    """Makes one run for each value, or each combination of values, of any keys: "path.rate" = ["1 Gbps", "10 Gbps"]."""
