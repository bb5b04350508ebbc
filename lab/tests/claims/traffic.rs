//! Connections that come and go, and packets without acknowledgments.

use super::simulate::{figures, run};
use control::{Duration, Time};
use experiment::{Transfer, VideoSession, WorkloadOutcome, median};
use std::time::Instant;

/// The run's only workload.
fn workload(text: &str) -> WorkloadOutcome {
    run(text).outcome.workloads.remove(0)
}

fn seconds(transfer: &Transfer) -> f64 {
    transfer.completed.unwrap().as_secs()
}

/// A lone transfer of n packets on a fast path: one round trip to open the connection; then windows of 2, 4, 8, ...
/// packets, one per round trip; and half a round trip for the last one to arrive. Of the round trips, the packets' own
/// time is a part.
#[test]
fn a_lone_transfer_takes_what_slow_start_does() {
    let (rtt, packet) = (0.1, 8e-6);
    for (packets, windows) in [(1, 1), (2, 1), (3, 2), (6, 2), (7, 3), (30, 4), (62, 5)] {
        let size = 1000 * packets;
        let alone = |handshake| {
            workload(&format!(
                r#"
                duration = "5 s"
                path = {{ rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }}
                traffic = [{{ kind = "flows", per-second = 100, count = 1, size = "{size} B", controller = "reno", handshake = {handshake} }}]
                "#
            ))
        };
        for (handshake, round_trips) in [(true, 1.0), (false, 0.0)] {
            let workload = alone(handshake);
            assert_eq!((workload.connections, workload.completed, workload.transfers.len()), (1, 1, 1));
            let took = seconds(&workload.transfers[0]);
            let expected = (round_trips + (windows as f64 - 1.0) + 0.5) * rtt;
            println!("{packets} packets, handshake {handshake}: {took:.6} s, slow start says {expected} s");
            assert!(took > expected && took < expected + (packets as f64 + 2.0) * packet, "{took} {expected}");
        }
    }
}

/// RFC 5681, section 4.1. After a pause that is longer than the retransmission timeout, the next object of a web
/// session begins with the initial window of 2 packets. It takes as long as the first object, without the round trip
/// that opens the connection. If the window is kept, an object of 500 kB (521 packets) leaves as one burst or nearly
/// so.
#[test]
fn after_a_pause_a_web_session_begins_with_the_initial_window() {
    for idle_restart in [true, false] {
        let run = run(&format!(
            r#"
            duration = "60 s"
            sample = "10 ms"
            idle-restart = {idle_restart}
            path = {{ rate = "100 Mbps", rtt = "100 ms", buffer = "10000 packets" }}
            traffic = [{{ kind = "web", per-second = 100, count = 1, objects = 100, object = "500 kB", think = "3 s" }}]
            "#
        ));
        let transfers = &run.outcome.workloads[0].transfers;
        let fresh = seconds(&transfers[0]) - 0.1;
        let mut pauses = 0;
        for pair in transfers.windows(2).filter(|pair| pair[1].completed.is_some()) {
            let (begin, took) = (pair[1].start.as_secs(), seconds(&pair[1]));
            if begin - pair[0].start.as_secs() - seconds(&pair[0]) < 0.5 {
                continue; // not longer than the timeout of some 300 ms
            }
            pauses += 1;
            // The request is at the server after 50 ms, and the second flight leaves at 150 ms.
            let flight = (100.0 * begin) as usize + 5;
            let burst = run.outcome.links[0].series.max_queue[flight..flight + 9].iter().copied().max().unwrap();
            println!("idle-restart = {idle_restart}: {took:.3} s, {burst} packets wait; the first took {fresh:.3} s");
            if idle_restart {
                assert!(burst <= 2 && (took - fresh).abs() < 0.001, "{burst} packets, {took} s and not {fresh} s");
            } else {
                assert!(burst > 200 && took < 0.6 * fresh, "{burst} packets, {took} s");
            }
        }
        assert!(pauses >= 5, "{pauses} pauses");
    }
}

/// Runs two minutes of a video session with these `keys` over 40 ms. Of a packet of 1000 bytes, 960 are the video's.
fn session(mbps: f64, keys: &str) -> Vec<VideoSession> {
    let workload = workload(&format!(
        r#"
        duration = "120 s"
        path = {{ rate = "{mbps} Mbps", rtt = "40 ms", buffer = "1 bdp" }}
        traffic = [{{ kind = "video", controller = "cubic", {keys} }}]
        "#
    ));
    for video in &workload.videos {
        let (mbps, share) = (video.bitrate / 1e6, 100.0 * video.stalled_share());
        println!("{keys}: {mbps:.2} Mbps, {} switches, stalled {share:.1} %, {:?}", video.switches, video.startup);
    }
    workload.videos
}

/// A video of a single bitrate that the link carries plays without a stall, as fast as time passes and `buffer` ahead.
/// One that the link does not carry plays for the share of time that the link's rate is of its bitrate.
#[test]
fn a_video_stalls_for_the_share_of_its_bitrate_that_the_link_lacks() {
    let video = session(10.0, r#"bitrates = ["4 Mbps"]"#).remove(0);
    assert_eq!((video.stalled_share(), video.bitrate, video.switches), (0.0, 4e6, 0));
    // What has been played, 30 s in the buffer, and a segment on its way or just arrived.
    let ahead = 4.0 * video.segments as f64 - (120.0 - video.startup.unwrap().as_secs());
    assert!((26.0..=34.0).contains(&ahead), "{ahead} s");

    let video = session(10.0, r#"bitrates = ["20 Mbps"], segment = "1 s""#).remove(0);
    let expected = 1.0 - 0.96 * 10.0 / 20.0;
    assert!((video.stalled_share() / expected - 1.0).abs() < 0.03, "{} and not {expected}", video.stalled_share());
}

/// The throughput rule goes to the highest bitrate that the link carries. Four players of equal round-trip times, whose
/// fair share is 2.4 Mbps, are between the bitrates around it.
#[test]
fn players_choose_bitrates_that_the_link_carries() {
    let video = session(10.0, "").remove(0);
    assert!(video.bitrate > 7e6 && video.switches <= 4 && video.stalled_share() == 0.0, "{video:?}");
    let all = session(10.0, "count = 4");
    let total: f64 = all.iter().map(|video| video.bitrate).sum();
    assert!(all.iter().all(|video| video.bitrate >= 1e6) && total < 9.6e6 && all.len() == 4, "{total}");
    // Between 2.5 and 5 Mbps, the buffer rule changes from one to the other, so that the mean is near the link's 3.84.
    let video = session(4.0, r#"rule = "buffer""#).remove(0);
    assert!((2.5e6..4e6).contains(&video.bitrate) && video.stalled_share() == 0.0, "{video:?}");
}

/// Frames of 2.4 Mbps, 30 per second, are 10000 bytes: ten packets of 960 bytes and a last one of 400, which with their
/// headers take 8.352 ms on a link of 10 Mbps, and 20 ms to arrive. Slow start is over after some frames. A source that
/// is faster than the link waits the longer the longer it sends.
#[test]
fn frames_arrive_as_fast_as_the_link_carries_them() {
    let frames = |bitrate: &str| {
        workload(&format!(
            r#"
            duration = "30 s"
            measure.from = "5 s"
            path = {{ rate = "10 Mbps", rtt = "40 ms", buffer = "100 packets" }}
            traffic = [{{ kind = "frames", bitrate = "{bitrate}", controller = "reno" }}]
            "#
        ))
    };
    let slow = frames("2.4 Mbps");
    assert_eq!(
        (slow.connections, slow.transfers.len(), slow.retransmitted_packets),
        (1, 899, 0),
        "the last one would leave at 0.04 + 899/30 s"
    );
    let span = (Time::ZERO + Duration::from_secs(5.0), Time::ZERO + Duration::from_secs(29.9));
    let delays = slow.completion_seconds(span);
    println!("a slow source: {} frames, {} to {} s", delays.len(), delays[0], delays[delays.len() - 1]);
    assert!(delays.iter().all(|delay| (delay - 0.028352).abs() < 1e-6), "{delays:?}");

    // 12 Mbps on a link that carries 9.6: after t seconds, the frame that arrives was produced at 0.8 t.
    let fast = frames("12 Mbps");
    let last = fast.transfers.iter().rev().find(|frame| frame.completed.is_some()).unwrap();
    println!("a fast source: {} s for the frame of {} s", seconds(last), last.start.as_secs());
    assert!((seconds(last) - 0.2 * 30.0).abs() < 0.6, "{}", seconds(last));
}

/// On a link of capacity C, Poisson packets of one size wait as the theory of M/D/1 says: rho^2 / (2 (1 - rho)) wait on
/// average.
#[test]
fn poisson_packets_wait_as_in_m_d_1() {
    for rho in [0.5, 0.8] {
        let run = run(&format!(
            r#"
            duration = "200 s"
            sample = "1 s"
            path = {{ rate = "10 Mbps", rtt = "10 ms", buffer = "10000 packets" }}
            traffic = [{{ kind = "poisson", rate = "{} Mbps" }}]
            "#,
            10.0 * rho
        ));
        let link = &figures(&run).links[0];
        let theory = rho * rho / (2.0 * (1.0 - rho));
        println!("load {rho}: {:.3} waiting, theory {theory:.3}", link.mean_queue_packets);
        assert!((link.mean_queue_packets / theory - 1.0).abs() < 0.07 && (link.utilization / rho - 1.0).abs() < 0.02);
    }
}

/// Memory is bounded by the connections that are open at the same time: a new connection takes the place of one that
/// has ended.
#[test]
fn a_hundred_thousand_short_flows() {
    let began = Instant::now();
    let workload = workload(
        r#"
        duration = "105 s"
        sample = "1 s"
        path = { rate = "1 Gbps", rtt = "50 ms", buffer = "1 bdp" }
        traffic = [{ kind = "flows", per-second = 1000, count = 100000, size = { exponential = "30 kB" }, controller = "reno" }]
        "#,
    );
    let took = began.elapsed().as_secs_f64();
    let bytes: u64 = workload.transfers.iter().map(|transfer| transfer.sent[0].0).sum();
    println!(
        "{} of {} completed, {} packets, mean size {} B, in {took:.1} s; {} at once at most, in {} places; memory so far {}",
        workload.completed,
        workload.connections,
        workload.packets_delivered,
        bytes / 100_000,
        workload.most_active,
        workload.slots,
        peak_memory()
    );
    assert_eq!((workload.connections, workload.completed), (100_000, 100_000));
    assert_eq!(workload.transfers.len(), 100_000);
    assert!((bytes as f64 / 100_000.0 / 30e3 - 1.0).abs() < 0.02);
    // Some places are not used again until the packets in flight have arrived.
    assert!(workload.slots < 2 * workload.most_active && workload.slots < 1000, "{}", workload.slots);
}

/// The most memory that this process has used, as Linux reports it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim().to_string()
}

/// Little's law: the mean number of open connections is their arrival rate times their mean duration.
#[test]
fn open_connections_are_the_arrival_rate_times_the_duration() {
    let run = run(r#"
        duration = "100 s"
        sample = "50 ms"
        measure.from = "10 s"
        path = { rate = "100 Mbps", rtt = "60 ms", buffer = "1 bdp" }
        traffic = [{ kind = "flows", load = "50 Mbps", size = { pareto = "25 kB", shape = 1.8 }, controller = "reno" }]
    "#);
    let workload = &run.outcome.workloads[0];
    let active = &workload.series.active[200..];
    let mean = active.iter().map(|&n| f64::from(n)).sum::<f64>() / active.len() as f64;
    let done = workload.transfers.iter().filter(|t| t.start.as_secs() > 10.0 && t.completed.is_some());
    // A connection is closed when its last acknowledgment is back, half a round trip after the transfer is complete.
    let times: Vec<f64> = done.map(|transfer| seconds(transfer) + 0.03).collect();
    let arrivals = times.len() as f64 / 90.0;
    let lasts = times.iter().sum::<f64>() / times.len() as f64;
    println!("{mean:.1} at once; {arrivals:.1} per second x {lasts:.3} s = {:.1}", arrivals * lasts);
    assert!((arrivals * lasts / mean - 1.0).abs() < 0.03);
    let load = &figures(&run).traffic[0];
    println!("offered {:?} Mbps, carried {:?} Mbps", load.offered_mbps, load.carried_mbps);
    // 250 arrivals per second; their number in 90 s varies by 0.7 %.
    assert!((arrivals / 250.0 - 1.0).abs() < 0.025);
    assert!((load.carried_mbps[0] / load.offered_mbps[0] - 1.0).abs() < 0.05);
}

/// A web session's response takes a round trip more than half that of its object's slow start: the request has to
/// arrive.
#[test]
fn web_sessions_request_and_wait() {
    let run = run(r#"
        duration = "60 s"
        sample = "1 s"
        path = { rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }
        traffic = [{ kind = "web", per-second = 20, objects = 4, object = "900 B", request = "300 B", think = "500 ms" }]
    "#);
    let web = &run.outcome.workloads[0];
    let first = |connection| web.transfers.iter().find(|transfer| transfer.connection == connection).unwrap();
    let (mut opening, mut later) = (vec![], vec![]);
    for transfer in web.transfers.iter().filter(|transfer| transfer.completed.is_some()) {
        let of = if first(transfer.connection).start == transfer.start { &mut opening } else { &mut later };
        of.push(seconds(transfer));
    }
    let per_session = web.transfers.len() as f64 / web.connections as f64;
    println!(
        "{} sessions of {per_session:.2} objects; first response {:.4} s, others {:.4} s",
        web.connections,
        median(&mut opening.clone()),
        median(&mut later.clone())
    );
    // The handshake of the first takes another round trip.
    assert!((median(&mut opening) - 0.2).abs() < 1e-3 && (median(&mut later) - 0.1).abs() < 1e-3);
    assert!((per_session / 4.0 - 1.0).abs() < 0.1);
    // Objects cross the link forwards, requests backwards.
    let links = &figures(&run).links;
    assert_eq!(links.len(), 2);
    assert!(links[0].utilization > links[1].utilization);
}

/// RAPID-2009, section IV-C: a mix of TCP connections that offers 70 Mbps to a link of 100 Mbps.
#[test]
fn a_synthetic_mix_has_its_load_and_mostly_short_connections() {
    let began = Instant::now();
    let run = run(r#"
        duration = "120 s"
        sample = "1 s"
        measure.from = "20 s"
        path = { rate = "100 Mbps", rtt = "60 ms", buffer = "750 packets" }
        traffic = [{ kind = "tmix", load = "70 Mbps" }]
    "#);
    let mix = &run.outcome.workloads[0];
    let summary = figures(&run);
    let load = summary.links[0].utilization * 100.0;
    let mut sizes = vec![0; mix.connections as usize];
    mix.transfers.iter().for_each(|t| sizes[t.connection as usize] += t.sent[0].0 + t.sent[1].0);
    let mice = sizes.iter().filter(|&&size| size < 10_000).count() as f64 / sizes.len() as f64;
    let responses = &summary.traffic[0];
    println!(
        "{} connections in {:.1} s, {mice:.2} of them under 10 kB; {load:.2} Mbps on the link; responses: median {:.0} ms, 90 % {:.0} ms, 99 % {:.0} ms",
        mix.connections,
        began.elapsed().as_secs_f64(),
        responses.completion_median_seconds.unwrap() * 1e3,
        responses.completion_p90_seconds.unwrap() * 1e3,
        responses.completion_p99_seconds.unwrap() * 1e3
    );
    assert!((load / 70.0 - 1.0).abs() < 0.03, "{load}");
    assert!(mice > 0.5);
    assert!(mix.completed as f64 > 0.95 * mix.connections as f64);
    // No response takes less than a round trip of the least RTT.
    assert!(mix.transfers.iter().filter(|t| t.completed.is_some()).all(|t| seconds(t) >= t.rtt.as_secs()));
    assert!(mix.transfers.iter().all(|t| t.rtt.as_millis() >= 10.0));
}

/// A file of connection vectors, replayed on 1 Gbps.
fn replay(vectors: &str, more: &str) -> WorkloadOutcome {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, vectors.as_bytes()).unwrap();
    workload(&format!(
        r#"
        duration = "100 s"
        sample = "1 s"
        path = {{ rate = "1 Gbps", rtt = "10 ms", buffer = "1 bdp", delay = "1 ms" {more} }}
        traffic = [{{ kind = "tmix", file = '{}' }}]
        "#,
        file.path().display()
    ))
}

/// The example of the ns manual: each side waits as long as the file says, and the network takes the round-trip time
/// that the file says.
#[test]
fn vectors_are_replayed_at_their_times() {
    let mix = replay(
        "SEQ 6851 2 21217 555382\nw 64800 6432\nr 117619\nl 0.0 0.0\n> 245\nt 51257\n< 510\nt 6304943\n> 80\n< 1\n\
         CONC 1429381 2 2 26876 793318\nw 65535 5840\nr 36556\nl 0.0 0.0\nc> 222\nt> 2000000\nc< 726\nt< 1000000\nc> 16\nt> 725\nc< 84\nt< 130\n",
        "",
    );
    assert_eq!((mix.connections, mix.completed), (2, 2));
    let of = |connection| mix.transfers.iter().filter(move |transfer| transfer.connection == connection);
    let figures = |connection| of(connection).map(|t| (t.start.as_secs(), seconds(t))).collect::<Vec<_>>();
    let (sequential, concurrent) = (figures(0), figures(1));
    println!("{sequential:?} {concurrent:?}");
    let close = |(start, took): (f64, f64), (expected, time): (f64, f64)| {
        // The transmission time of some packets.
        assert!((start - expected).abs() < 3e-5 && (took - time).abs() < 3e-5, "{start} {took}: {expected} {time}");
    };
    // A round trip to be opened, one there and back, and the acceptor's wait.
    let first = 2.0 * 0.117619 + 0.051257;
    close(sequential[0], (0.006851, first));
    close(sequential[1], (0.006851 + first + 6.304943, 0.117619));
    // Opened after a round trip, of which the acceptor knows half a one later; each message takes half a one.
    let rtt = 0.036556;
    let (start, half) = (1.429381 + rtt, rtt / 2.0);
    for (i, start) in [start, start + half, start + half + 1.0, start + 2.0].into_iter().enumerate() {
        close(concurrent[i], (start, half));
    }
}

/// A vector's loss rate applies to its packets: that share is sent again, and all data arrives in the end.
#[test]
fn vectors_have_their_loss_rates() {
    let vectors: String = (0..200)
        .map(|i| format!("SEQ {} 1 {i} {i}\nw 0 0\nr 20000\nl 0.0 0.05\n> 100\n< 96000\n", i * 10_000))
        .collect();
    let mix = replay(&vectors, "");
    let packets = 200.0 * 100.0;
    let share = mix.retransmitted_packets as f64 / packets;
    println!("{} of {packets} packets sent again: {share:.4}; {} timeouts", mix.retransmitted_packets, mix.timeouts);
    assert_eq!(mix.completed, 200);
    // 5 %, of which 5 % once more; and some more than was lost after timeouts.
    assert!(share > 0.045 && share < 0.075, "{share}");
}

/// A path loses a third of all packets, also of those that open connections: all transfers are completed, however long
/// that takes.
#[test]
fn connections_survive_heavy_loss() {
    for recovery in ["sack", "newreno"] {
        let web = workload(&format!(
            r#"
            duration = "2000 s"
            sample = "10 s"
            path = {{ rate = "10 Mbps", rtt = "20 ms", buffer = "1 bdp", packet-error = 0.3 }}
            traffic = [{{ kind = "web", per-second = 5, stop = "60 s", objects = 3, object = "5 kB", recovery = "{recovery}" }}]
            "#
        ));
        println!("{recovery}: {} of {} sessions completed, {} places", web.completed, web.connections, web.slots);
        assert!(web.connections > 200 && web.completed == web.connections);
        assert!(web.transfers.iter().all(|transfer| transfer.completed.is_some()));
    }
}
