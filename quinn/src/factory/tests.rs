use super::flow::Flow;
use super::*;
use control::contract::checked;
use std::collections::VecDeque;
use std::time::Duration as Std;

const MTU: u64 = 1200;
const RTT: Std = Std::from_millis(50);

/// A connection as quinn sees it: packets of a window leave, and are acknowledged a round trip later.
struct Connection {
    flow: Flow,
    now: Instant,
    in_flight: u64,
}

impl Connection {
    fn new(name: &str) -> Connection {
        let Factory { controller, parameters } = factory(name, &Map::new()).unwrap();
        let sender = checked(parties(controller, &parameters, MTU as u16).sender);
        let now = Instant::now();
        let flow = Flow::new(sender, MTU as u16, controller.ecn == EcnSupport::Classic, now);
        Connection { flow, now, in_flight: 0 }
    }

    /// The window, in packets.
    fn window(&mut self) -> f64 {
        (self.flow.window() - 1) as f64 / MTU as f64
    }

    /// A window of packets leaves; a round trip later one acknowledgment tells of all, of which the first `lost` are
    /// lost. `marked`: some were marked.
    fn round(&mut self, lost: u64, marked: bool) {
        let sent = self.now;
        while self.in_flight + MTU < self.flow.window() {
            self.flow.on_sent(sent, MTU);
            self.in_flight += MTU;
        }
        self.now += RTT;
        let packets = self.in_flight / MTU;
        for _ in lost..packets {
            self.flow.on_acked(self.now, sent, MTU);
        }
        self.in_flight = lost * MTU;
        self.flow.on_ack_end(self.now, self.in_flight, false);
        if lost > 0 {
            self.flow.on_congestion(self.now, sent, false, lost * MTU);
            self.in_flight = 0;
        }
        if marked {
            self.flow.on_congestion(self.now, sent, false, 0);
        }
    }
}

/// RFC 5681, RFC 9438, BIC's paper and Linux: what a loss leaves of the window. A loss comes after the acknowledgment
/// that shows it, and the sender must not grow by that acknowledgment.
#[test]
fn losses_and_marks_cut_the_window_once_by_what_the_protocol_says() {
    for (name, factor) in [("reno", 0.5), ("cubic", 0.7), ("bic", 0.875), ("bic-linux", 0.8)] {
        for marked in [false, true] {
            let mut connection = Connection::new(name);
            for _ in 0..5 {
                connection.round(0, false);
            }
            let before = connection.window();
            assert!(before > 50.0, "{name}: slow start: {before}");
            connection.round(if marked { 0 } else { 3 }, marked);
            let after = connection.window() / before;
            assert!((after - factor).abs() < 0.01, "{name}, marked {marked}: {after}");
        }
    }
}

/// quinn's packets are ECN-capable whatever the controller; one that knows no marks takes them for losses.
#[test]
fn a_sender_without_ecn_takes_marks_for_losses() {
    let mut connection = Connection::new("ledbat-plus-plus");
    for _ in 0..8 {
        connection.round(0, false);
    }
    let before = connection.window();
    connection.round(0, true);
    assert!((0.4..0.75).contains(&(connection.window() / before)), "{before}, then {}", connection.window());
}

/// RFC 9002, section 7.6: persistent congestion. A packet may leave all the same, also one of a larger MTU.
#[test]
fn persistent_congestion_leaves_a_packet() {
    let mut connection = Connection::new("cubic");
    connection.round(0, false);
    let sent = connection.now;
    for _ in 0..4 {
        connection.flow.on_sent(sent, MTU);
    }
    connection.now += RTT;
    connection.flow.on_acked(connection.now, sent, MTU);
    connection.flow.on_ack_end(connection.now, 3 * MTU, false);
    connection.flow.on_congestion(connection.now, sent, true, 3 * MTU);
    assert!(connection.window() <= 2.0, "{}", connection.window());
    connection.flow.on_mtu(1452);
    assert!(connection.flow.window() > 1452);
}

/// RFC 6817, section 2.4.2, allows a window of one packet more than is in flight, which larger packets must not stop.
#[test]
fn a_window_of_packets_grows_in_packets_of_any_mtu() {
    let mut connection = Connection::new("ledbat");
    let before = connection.window();
    connection.flow.on_mtu(1452);
    assert!((connection.flow.window() as f64 / 1452.0 - before).abs() < 0.01);
    let mut sent = VecDeque::new();
    for _ in 0..200 {
        while (sent.len() as u64 + 1) * 1452 < connection.flow.window() {
            connection.flow.on_sent(connection.now, 1452);
            sent.push_back(connection.now);
        }
        let first = sent.pop_front().unwrap();
        connection.now = connection.now.max(first + RTT);
        connection.flow.on_acked(connection.now, first, 1452);
        connection.flow.on_ack_end(connection.now, sent.len() as u64 * 1452, false);
    }
    assert!(connection.flow.window() > 5 * 1452, "{}", connection.flow.window());
}

#[test]
fn controllers_that_need_more_than_quinn_offers_are_refused_with_the_reason() {
    let why = |name: &str| match factory(name, &Map::new()) {
        Err(FactoryError::Unsuitable { why, .. }) => why,
        other => panic!("{name}: {other:?}"),
    };
    for (name, needs) in [
        ("thalweg", Unsuitable::Stamps),
        ("thalweg-hybrid", Unsuitable::Stamps),
        ("xcp", Unsuitable::Routers),
        ("bbr", Unsuitable::Pacing),
        ("copa", Unsuitable::Pacing),
        ("dctcp", Unsuitable::MarkCounts),
    ] {
        assert_eq!(why(name), needs, "{name}");
    }
    let error = factory("bik", &Map::new()).unwrap_err().to_string();
    assert!(
        error.starts_with("there is no controller `bik`; for this library there are newreno, reno, aimd, "),
        "{error}"
    );
    let error = factory("bbr", &Map::new()).unwrap_err().to_string();
    assert!(error.starts_with("`bbr` cannot run in this library: it needs packets to leave at times"), "{error}");
    let parameters = |text: &str| serde_json::from_str(text).unwrap();
    let error = factory("reno", &parameters(r#"{"initial-windo": 4}"#)).unwrap_err().to_string();
    assert!(error.starts_with("`reno` has no parameter `initial-windo`; there are "), "{error}");
    let error = factory("aimd", &parameters(r#"{"decrease": 2}"#)).unwrap_err().to_string();
    assert!(error.starts_with("`aimd`: decrease: "), "{error}");
}

/// Whatever quinn says, in whatever order, the window is one that lets a packet leave and no number overflows.
#[test]
fn every_window_controller_survives_a_lossy_connection() {
    let names: Vec<_> = registry::all().into_iter().filter(|one| unsuitable(one).is_none()).collect();
    assert!(names.len() > 15, "{}", names.len());
    for controller in names {
        let mut connection = Connection::new(controller.name);
        for i in 0..200_u64 {
            connection.round(if i % 7 == 3 { i % 3 } else { 0 }, i % 11 == 0);
            let window = connection.window();
            assert!((1.0..1e6).contains(&window), "{}: {window}", controller.name);
        }
    }
}
