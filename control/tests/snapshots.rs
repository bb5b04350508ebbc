//! What each window controller did on one and the same path, round trip by round trip, so that a change in behaviour shows
//! in review. `INSTA_UPDATE=always cargo test -p control` accepts one.

mod toy;

use control::registry;
use control::{Bytes, Duration, Rate, Time};
use std::fmt::Write;
use toy::{Event, Host, Path};

/// 100 Mbps, 100 ms, a buffer of half a bandwidth-delay product: 1250 packets in flight and 625 waiting. Slow start overshoots
/// it, then congestion avoidance finds it again; in the 60th to 62nd round trip everything is lost, and a timeout follows.
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
    };
    for controller in registry::all().iter() {
        let mut host = Host::new(controller, path.clone());
        if host.state().window.is_none() {
            continue;
        }
        let mut log = String::from("  RTT   window  phase\n");
        let mut losses = 0;
        for round in 1..=100 {
            let end = Time::ZERO + Duration(rtt.0 * round);
            while host.now < end {
                losses += u32::from(matches!(host.step((60..63).contains(&round)), Event::Lost(_)));
            }
            let state = host.state();
            let window = state.window.map_or("-".to_string(), |w| format!("{w:.2}"));
            write!(log, "{round:5} {window:>8}  {}", state.phase).unwrap();
            log += &if losses > 0 { format!(", {losses} lost\n") } else { "\n".to_string() };
            losses = 0;
        }
        insta::assert_snapshot!(controller.name, log);
    }
}
