//! What each controller did on one and the same path, round trip by round trip, so that a change in behaviour shows in
//! review. `INSTA_UPDATE=always cargo test -p thalweg-control` accepts a change.

extern crate thalweg_control as control;

mod toy;

use control::registry;
use control::{Bytes, Duration, Rate, Time};
use std::fmt::Write;
use toy::{Event, Host, Path};

/// The path has 100 Mbps, 100 ms and a buffer of half a bandwidth-delay product: it holds 1250 packets, and 625 more
/// can wait. Slow start exceeds that, and congestion avoidance approaches it again. From the 60th to the 62nd round
/// trip all packets are lost, and a timeout follows.
#[test]
fn a_hundred_round_trips() {
    let rtt = Duration::from_millis(100);
    let path = Path {
        rate: Rate::from_mbps(100.0),
        rtt,
        buffer: 625,
        packet: Bytes(1000),
        ack_every: 1,
        late: Duration::ZERO,
        quantum: Duration::ZERO,
    };
    for controller in registry::all() {
        let mut host = Host::new(controller, path.clone());
        let mut log = String::from("  RTT   window         Mbps    available  phase\n");
        for round in 1..=100 {
            let end = Time::ZERO + Duration(rtt.0 * round);
            let mut losses = 0;
            while host.now < end {
                losses += u32::from(matches!(host.step((60..63).contains(&round)), Event::Lost(_)));
            }
            let state = host.state();
            let window = state.window.map_or("-".to_string(), |w| format!("{w:.2}"));
            let [rate, available] = [state.rate, host.available()].map(megabits);
            write!(log, "{round:5} {window:>8} {rate:>12} {available:>12}  {}", state.phase).unwrap();
            log += &if losses > 0 { format!(", {losses} lost\n") } else { "\n".to_string() };
        }
        insta::assert_snapshot!(controller.name, log);
    }
}

/// A rate in Mbps, with the six decimals that make a change of one bit per second visible.
fn megabits(rate: Option<Rate>) -> String {
    rate.map_or("-".to_string(), |rate| format!("{:.6}", rate.as_mbps()))
}
