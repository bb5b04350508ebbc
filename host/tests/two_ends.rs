//! Both ends of a connection in one test, in made-up time, with every call of a host held to the contract of the roles.

extern crate thalweg_host as host;

mod stack;

use control::contract::checked;
use control::registry::{self, Controller, Parties};
use control::{Bytes, Conditions, Duration, Rate, Time};
use stack::{Acks, End, PACKET, Path, agree, run};

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn parties(controller: &Controller) -> Parties {
    let conditions = Conditions { timing_error: Duration::from_micros(10), ..Conditions::exact(PACKET) };
    let parties = controller.build(controller.defaults(), &conditions).unwrap();
    Parties { sender: checked(parties.sender), ..parties }
}

fn cubic() -> Parties {
    parties(registry::find("cubic").unwrap())
}

/// Both directions of a path with 20 Mbps, 40 ms of round-trip time and a buffer of 100 kB.
fn paths(loses: fn(Time, u64) -> bool) -> [Path; 2] {
    [(); 2].map(|()| Path::new(Rate::from_mbps(20.0), Duration::from_millis(20), Bytes(100_000), loses))
}

/// The ends of a connection over which the first sends `chunks[0]` packets with this controller, and the second
/// `chunks[1]` with CUBIC.
fn ends(controller: &Controller, chunks: [u64; 2], acks: Acks) -> [End; 2] {
    let first = parties(controller);
    let needs_stamps = first.receiver.is_some();
    let sender = if needs_stamps { cubic().sender } else { parties(controller).sender };
    let mut ends = [End::new(sender, chunks[0], acks), End::new(cubic().sender, chunks[1], acks)];
    if needs_stamps {
        agree(Time::ZERO, first, &mut ends);
    }
    ends
}

#[test]
fn every_controller_delivers_everything_over_a_path_that_loses_packets_and_acknowledgments() {
    for controller in registry::all() {
        let mut ends = ends(controller, [2000, 300], Acks::Alone);
        let mut paths = paths(|_, number| number % 100 == 17);
        let done = run(&mut ends, &mut paths, ms(60_000));
        assert!(done.is_ok(), "{}: {done:?}, {:?}", controller.name, ends[0].host.state());
        assert!(ends[0].losses >= 15, "{}: {} losses", controller.name, ends[0].losses);
    }
}

#[test]
fn every_controller_survives_a_path_that_is_cut_for_a_while() {
    for controller in registry::all() {
        let mut ends = ends(controller, [1000, 0], Acks::Alone);
        let mut paths = paths(|now, _| (ms(200)..ms(2200)).contains(&now));
        let done = run(&mut ends, &mut paths, ms(60_000));
        assert!(done.is_ok(), "{}: {done:?}, {:?}", controller.name, ends[0].host.state());
    }
}

#[test]
fn acknowledgments_that_ride_on_data_get_through_closed_windows_at_both_ends() {
    let mut ends = ends(registry::find("newreno").unwrap(), [3000, 3000], Acks::WithData);
    let done = run(&mut ends, &mut paths(|_, _| false), ms(10_000)).unwrap();
    assert!(done < ms(6000), "3000 packets take 1.4 s at 20 Mbps, not {done}");
}

#[test]
fn where_no_router_answers_a_controller_that_asks_does_without() {
    let mut ends = ends(registry::find("rcp").unwrap(), [500, 0], Acks::Alone);
    run(&mut ends, &mut paths(|_, _| false), ms(60_000)).unwrap();
    assert!(ends[0].host.is_stamped());
    assert!(ends[0].host.state().window.is_some(), "{:?}", ends[0].host.state());
}
