//! Routers after a long time without packets: the work does not grow with that time, and they end as if each of their
//! control intervals had been computed.
use thalweg_control::registry::routers;
use thalweg_control::{Bytes, Duration, Port, Rate, Router, Stamp, Time};

const PORT: Port = Port { capacity: Rate::from_mbps(100.0), buffer: Bytes(500_000) };
const PACKET: Bytes = Bytes(1000);

fn all() -> impl Iterator<Item = (&'static str, Box<dyn Router>)> {
    routers::all().iter().map(|it| (it.name, it.build(it.defaults(), &PORT).unwrap()))
}

/// The router's ticks until `now`, while `backlog` bytes wait. It may leave out some if it `skips`. Returns how many
/// there were.
fn tick(router: &mut dyn Router, now: Time, backlog: Bytes, skips: bool) -> u64 {
    let mut ticks = 0;
    while let Some(due) = router.next_tick().filter(|due| *due <= now) {
        router.on_tick(due, if skips { now } else { due }, backlog);
        ticks += 1;
    }
    ticks
}

/// A packet with each kind of question passes at `now`. Returns the answers.
fn ask(router: &mut dyn Router, now: Time, window: f32, rtt: f32) -> [Stamp; 2] {
    [Stamp::Rate { rate: f32::INFINITY, rtt }, Stamp::Window { window, rtt, feedback: f32::INFINITY }].map(
        |mut stamp| {
            router.on_arrival(now, &mut stamp, PACKET, Bytes(0));
            router.on_departure(now, &mut stamp, PACKET, Bytes(0));
            stamp
        },
    )
}

#[test]
fn an_idle_router_ends_as_if_each_interval_had_been_computed() {
    for ((name, mut one_by_one), (_, mut skipping)) in all().zip(all()) {
        let (mut now, mut computed) = (Time::ZERO, [0, 0]);
        // Busy and idle times; the queue stands still in some of them, as on a link without capacity.
        for (busy, idle, backlog) in
            [(50, 0.3, 0), (2000, 7.0, 0), (300, 20.0, 400_000), (1, 20.0, 3_000), (9, 0.05, 0)]
        {
            for i in 0..busy {
                now += Duration::from_micros(500);
                tick(&mut *one_by_one, now, Bytes(0), false);
                tick(&mut *skipping, now, Bytes(0), true);
                let rtt = 0.001 * (1 + i % 70) as f32;
                assert_eq!(ask(&mut *one_by_one, now, 9.0, rtt), ask(&mut *skipping, now, 9.0, rtt), "{name}");
            }
            now += Duration::from_secs(idle);
            computed[0] += tick(&mut *one_by_one, now, Bytes(backlog), false);
            computed[1] += tick(&mut *skipping, now, Bytes(backlog), true);
            assert_eq!(one_by_one.state(), skipping.state(), "{name}");
            assert_eq!(one_by_one.next_tick(), skipping.next_tick(), "{name}");
        }
        assert!(2 * computed[1] < computed[0], "{name}: ticks {computed:?}");
    }
}

/// Whoever sends packets through an emulated path writes the round-trip times on them.
#[test]
fn no_stamp_makes_a_router_work_for_long_or_stop() {
    for rtt in [1e-45, 1e-12, 1e-6, 1e-3, 0.1, 1e3, f32::MAX] {
        for (name, mut router) in all() {
            let mut now = Time::ZERO;
            let mut most = 0;
            for day in 0..5 {
                ask(&mut *router, now, 1e-45, rtt);
                ask(&mut *router, now, f32::MAX, rtt);
                now += Duration::from_secs(86_400.0);
                most = most.max(tick(&mut *router, now, Bytes(0), true));
                let due = router.next_tick().unwrap().since(now);
                assert!(due <= Duration::from_secs(60.0), "{name}, day {day}, rtt {rtt}: the next tick is in {due}");
            }
            assert!(most < 1_000_000, "{name}, rtt {rtt}: {most} ticks in a day");
        }
    }
}
