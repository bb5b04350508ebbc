//! What the bench puts estimators beside: other traffic, sizes of packets, and noise.

use control::{Bytes, Duration, Rate};
use std::fmt::{self, Write};

/// The kinds of other traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// None.
    None,
    /// Packets at equal intervals.
    Cbr,
    /// Packets at exponentially distributed intervals.
    Poisson,
    /// Ten sources that are on for half of the time, with Pareto distributed periods of 10 ms in the mean.
    OnOff,
    /// Web sessions over TCP.
    Web,
    /// The synthetic mix of Tmix connections over TCP.
    Tmix,
    /// This many flows of p-streams at fixed rates, of the same shape as the probe's.
    Streams(u16),
}

impl Traffic {
    /// All kinds, in the order of the results.
    pub const ALL: [Traffic; 8] = [
        Traffic::None,
        Traffic::Cbr,
        Traffic::Poisson,
        Traffic::OnOff,
        Traffic::Web,
        Traffic::Tmix,
        Traffic::Streams(1),
        Traffic::Streams(4),
    ];

    /// The name in results and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Traffic::None => "none",
            Traffic::Cbr => "cbr",
            Traffic::Poisson => "poisson",
            Traffic::OnOff => "onoff",
            Traffic::Web => "web",
            Traffic::Tmix => "tmix",
            Traffic::Streams(1) => "p-stream",
            Traffic::Streams(_) => "p-streams",
        }
    }

    /// How long it takes until connections offer their load.
    pub fn warm_up(self) -> Duration {
        match self {
            Traffic::Web | Traffic::Tmix => Duration::from_millis(3000),
            _ => Duration::from_millis(100),
        }
    }
}

/// One setting of the bench. The probe's average rate is not part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The other traffic.
    pub traffic: Traffic,
    /// Its mean load, as a share of the capacity.
    pub load: f64,
    /// Size of its packets on the wire.
    pub others_packet: Bytes,
    /// Size of the probe's packets on the wire.
    pub packet: Bytes,
    /// The tick of the clocks of the probe's hosts; zero: they are exact.
    pub tick: Duration,
    /// Each of the probe's packets leaves late by a random time up to this one, and its stamp does not say so.
    pub jitter: Duration,
    /// The probe's receiver hears of a packet, and of all that arrived after it, this long after its arrival.
    pub coalesce: Duration,
    /// Senders of p-streams cannot keep shorter gaps and send bursts; zero: they can keep any.
    pub quantum: Duration,
}

/// The size of packets in most cases.
const PACKET: Bytes = Bytes(1000);
/// The loads of each kind of traffic.
const LOADS: [f64; 3] = [0.25, 0.5, 0.75];

impl Case {
    /// Exact hosts with packets of one size.
    pub fn plain(traffic: Traffic, load: f64) -> Case {
        Case {
            traffic,
            load,
            others_packet: PACKET,
            packet: PACKET,
            tick: Duration::ZERO,
            jitter: Duration::ZERO,
            coalesce: Duration::ZERO,
            quantum: Duration::ZERO,
        }
    }

    /// All cases beside the kinds in `beside`: each kind at each load; then, beside no traffic, beside packets that
    /// come at random and beside p-streams, other sizes of packets and each kind of noise.
    pub fn all(beside: &[Traffic]) -> Vec<Case> {
        let mut all = Vec::new();
        for &traffic in beside {
            let loads = if traffic == Traffic::None { &[0.0][..] } else { &LOADS };
            all.extend(loads.iter().map(|&load| Case::plain(traffic, load)));
        }
        for &traffic in beside {
            let plain = match traffic {
                Traffic::None => Case::plain(traffic, 0.0),
                Traffic::Poisson | Traffic::Streams(4) => Case::plain(traffic, 0.5),
                _ => continue,
            };
            let us = Duration::from_micros;
            all.extend([200, 1500, 9000].map(|bytes| Case { packet: Bytes(bytes), ..plain }));
            if traffic != Traffic::None {
                all.extend([200, 1500, 9000].map(|bytes| Case { others_packet: Bytes(bytes), ..plain }));
            }
            all.extend([1, 10, 100].map(|ticks| Case { tick: us(ticks), ..plain }));
            all.extend([5, 15, 50].map(|jitter| Case { jitter: us(jitter), ..plain }));
            all.extend([30, 100].map(|coalesce| Case { coalesce: us(coalesce), ..plain }));
            all.extend([50, 200].map(|quantum| Case { quantum: us(quantum), ..plain }));
            let noise = Case { quantum: us(50), jitter: us(15), ..plain };
            all.extend([noise, Case { coalesce: us(100), ..noise }, Case { quantum: us(200), ..noise }]);
        }
        all
    }

    /// The scenario of the case on a link of `capacity`, which lasts for `duration`. Its first flow is the probe, and
    /// the others are the p-streams of the other traffic; their controllers are not used.
    pub fn scenario(&self, capacity: Rate, duration: Duration, seed: u64) -> String {
        let (load, bytes) = (capacity * self.load, self.others_packet);
        let mut text = format!(
            "seed = {seed}\nduration = \"{duration}\"\nsample = \"{duration}\"\npacket = \"{}\"\n\
             path = {{ rate = \"{capacity}\", rtt = \"20 ms\", buffer = \"1 s\" }}\n\
             [[flow]]\ncontroller = \"thalweg\"\n",
            self.packet
        );
        for (key, time) in [("jitter", self.jitter), ("coalesce", self.coalesce), ("quantum", self.quantum)] {
            if time > Duration::ZERO {
                let _ = writeln!(text, "{key} = \"{time}\"");
            }
        }
        let mut traffic = |keys: &str| {
            let _ = write!(text, "[[traffic]]\npacket = \"{bytes}\"\n{keys}\n");
        };
        match self.traffic {
            Traffic::None => {}
            Traffic::Cbr => traffic(&format!("kind = \"cbr\"\nrate = \"{load}\"")),
            Traffic::Poisson => traffic(&format!("kind = \"poisson\"\nrate = \"{load}\"")),
            Traffic::OnOff => {
                let rate = load * 0.2; // half of the time, a tenth of the load
                (0..10).for_each(|_| {
                    traffic(&format!("kind = \"onoff\"\nrate = \"{rate}\"\non = \"10 ms\"\noff = \"10 ms\""));
                });
            }
            Traffic::Web => traffic(&format!(
                "kind = \"web\"\nload = \"{load}\"\nthink = \"100 ms\"\nrtt = {{ uniform = [\"20 ms\", \"100 ms\"] }}"
            )),
            Traffic::Tmix => traffic(&format!("kind = \"tmix\"\nload = \"{load}\"")),
            Traffic::Streams(flows) => {
                let _ = write!(text, "[[flow]]\ncontroller = \"thalweg\"\npacket = \"{bytes}\"\ncount = {flows}\n");
                if self.quantum > Duration::ZERO {
                    let _ = writeln!(text, "quantum = \"{}\"", self.quantum);
                }
            }
        }
        text
    }
}

/// Its name in tables: the traffic, its load, and what is not as usual.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.traffic {
            Traffic::None => write!(f, "none")?,
            Traffic::Streams(flows) => write!(f, "{flows} p-stream{}", if flows == 1 { "" } else { "s" })?,
            other => write!(f, "{}", other.name())?,
        }
        if self.load > 0.0 {
            write!(f, " {:.0} %", 100.0 * self.load)?;
        }
        if self.others_packet != PACKET {
            write!(f, " of {}", self.others_packet)?;
        }
        if self.packet != PACKET {
            write!(f, ", probe of {}", self.packet)?;
        }
        let noise =
            [("clock", self.tick), ("jitter", self.jitter), ("coalesce", self.coalesce), ("quantum", self.quantum)];
        for (name, time) in noise.into_iter().filter(|(_, time)| *time > Duration::ZERO) {
            write!(f, ", {name} {time}")?;
        }
        Ok(())
    }
}
