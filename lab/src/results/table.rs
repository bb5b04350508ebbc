//! The summary as tables, for the terminal and for the report.

use super::columns::{Columns, DASH, maybe, number};
use super::{FlowSummary, LinkSummary, RunSummary, Summary};

/// The most rows of details (flows, links, traffic) that the terminal shows.
const FEW: usize = 32;

/// The tables for the terminal: a row per run; then, unless they have more than [`FEW`] rows, traffic of connections
/// that come and go, the sessions of video players in it, and the flows and links of runs that have several.
///
/// Every line ends in a newline. A dash stands for a value that does not exist or an event that never happened.
pub fn table(summary: &Summary) -> String {
    let rows = |n: usize| if n > 1 { n } else { 0 };
    let traffic_rows = |run: &RunSummary| run.traffic.iter().map(|traffic| 1 + traffic.videos.len()).sum::<usize>();
    let details =
        summary.runs.iter().map(|run| rows(run.flows.len()) + rows(run.links.len()) + traffic_rows(run)).sum::<usize>();
    let mut text = runs(summary).to_text();
    for table in [agreement(summary), emulated(summary)].into_iter().flatten() {
        text += "\n";
        text += &table.to_text();
    }
    if details > FEW {
        return text;
    }
    if summary.runs.iter().any(|run| !run.traffic.is_empty()) {
        text += "\n";
        text += &traffic(summary).to_text();
    }
    if summary.runs.iter().flat_map(|run| &run.traffic).any(|traffic| !traffic.videos.is_empty()) {
        text += "\n";
        text += &videos(summary).to_text();
    }
    for run in &summary.runs {
        let tables = [(run.flows.len() > 1).then(|| flows(run)), (run.links.len() > 1).then(|| links(run))];
        for (i, table) in tables.into_iter().flatten().enumerate() {
            text += "\n";
            if i == 0 && summary.runs.len() > 1 {
                text += &format!("{}:\n", run.name);
            }
            text += &table.to_text();
        }
    }
    text
}

/// Real runs beside the simulated runs of the same scenarios: one row per pair. None without real runs.
pub fn agreement(summary: &Summary) -> Option<Columns> {
    let mut table = Columns::new(&[
        "agreement",
        "goodput\nsimulated\nMbps",
        "\nreal\nMbps",
        "",
        "\nwithin\n10 %",
        "mean queue\nsimulated\npackets",
        "\nreal\npackets",
        "\nwithin\nfactor 2",
        "",
    ]);
    let verdict = |agrees: bool| if agrees { "PASS" } else { "MISS" }.to_string();
    for pair in &summary.agreement {
        let [simulated, real] = pair.throughput_mbps;
        table.row([
            pair.name.clone(),
            number(simulated, 1),
            number(real, 1),
            format!("{:+.1} %", 100.0 * (real / simulated - 1.0)),
            verdict(pair.throughput_agrees),
            number(pair.mean_queue_packets[0], 1),
            number(pair.mean_queue_packets[1], 1),
            verdict(pair.queue_agrees),
            if pair.trusted { DASH } else { "untrusted" }.to_string(),
        ]);
    }
    (!summary.agreement.is_empty()).then_some(table)
}

/// The work of the emulator: one row per emulated run. None without emulated runs.
pub fn emulated(summary: &Summary) -> Option<Columns> {
    let mut table = Columns::new(&[
        "emulator",
        "forward\nMbps",
        "reverse\nMbps",
        "off by\nmedian\nus",
        "\n99 %\nus",
        "\nmost\nus",
        "over\n200 us\n%",
        "missed",
        "unsent",
        "refused",
        "core\n%",
        "host\n%",
        "",
    ]);
    let some = |count: u64| maybe((count > 0).then_some(count as f64), 0);
    let runs: Vec<_> = summary.runs.iter().filter_map(|run| Some((run, run.emulator.as_ref()?))).collect();
    for (run, emulator) in &runs {
        table.row([
            run.name.clone(),
            number(emulator.delivered_mbps[0], 1),
            number(emulator.delivered_mbps[1], 1),
            maybe(emulator.late_median_us, 0),
            maybe(emulator.late_p99_us, 0),
            maybe(emulator.late_max_us, 0),
            number(100.0 * emulator.late_share, 2),
            some(emulator.missed),
            some(emulator.unsent),
            some(emulator.refused),
            number(100.0 * emulator.core_share, 0),
            maybe(emulator.host_share.map(|share| 100.0 * share), 0),
            emulator.verdict().to_string(),
        ]);
    }
    (!runs.is_empty()).then_some(table)
}

/// One row per run. The queue is that of the busiest link.
pub fn runs(summary: &Summary) -> Columns {
    let mut table = Columns::new(&[
        "run",
        "goodput\nMbps",
        "link\nuse\n%",
        "mean\nqueue\npackets",
        "max\nqueue\npackets",
        "drops",
        "resent",
        "acquired\nRTTs",
        "Jain",
    ]);
    for run in &summary.runs {
        let busiest = run.busiest_link();
        let has_flows = !run.flows.is_empty();
        let resent: u64 = run.flows.iter().map(|flow| flow.retransmitted_packets).sum();
        table.row([
            run.name.clone(),
            maybe(has_flows.then_some(run.throughput_mbps), 1),
            maybe(busiest.map(|link| 100.0 * link.utilization), 1),
            maybe(busiest.map(|link| link.mean_queue_packets), 1),
            maybe(busiest.map(|link| link.max_queue_packets as f64), 0),
            run.links.iter().map(|link| link.drops).sum::<u64>().to_string(),
            maybe(has_flows.then_some(resent as f64), 0),
            maybe(run.acquire_rtts(), 1),
            maybe((run.flows.len() > 1).then_some(run.jain), 3),
        ]);
    }
    table
}

/// One row per flow.
pub fn flows(run: &RunSummary) -> Columns {
    let mut table = Columns::new(&[
        "flow",
        "goodput\nMbps",
        "RTT\nms",
        "mean\nRTT\nms",
        "window\npackets",
        "resent",
        "timeouts",
        "acquired\nRTTs",
        "completed\ns",
    ]);
    for flow in &run.flows {
        let FlowSummary { id, controller, .. } = flow;
        table.row([
            if *controller == run.controller { id.to_string() } else { format!("{id} {controller}") },
            number(flow.throughput_mbps, 1),
            number(flow.rtt_ms, 1),
            number(flow.mean_rtt_ms, 1),
            maybe(flow.mean_window_packets, 0),
            flow.retransmitted_packets.to_string(),
            flow.timeouts.to_string(),
            maybe(flow.acquire_rtts, 1),
            maybe(flow.completion_seconds, 3),
        ]);
    }
    table
}

/// One row per run and kind of connections that come and go.
pub fn traffic(summary: &Summary) -> Columns {
    let several = summary.runs.len() > 1;
    let mut table = Columns::new(&[
        if several { "run: traffic" } else { "traffic" },
        "connec-\ntions",
        "offered\nMbps",
        "carried\nMbps",
        "transfers",
        "completed",
        "median\ns",
        "90 %\ns",
        "99 %\ns",
        "resent",
    ]);
    for (run, traffic) in summary.runs.iter().flat_map(|run| run.traffic.iter().map(move |traffic| (run, traffic))) {
        let of_run = if several { format!("{}: ", run.name) } else { String::new() };
        table.row([
            format!("{of_run}{}", traffic.name),
            traffic.connections.to_string(),
            number(traffic.offered_mbps[0], 1),
            number(traffic.carried_mbps[0], 1),
            traffic.transfers.to_string(),
            traffic.completed_transfers.to_string(),
            maybe(traffic.completion_median_seconds, 3),
            maybe(traffic.completion_p90_seconds, 3),
            maybe(traffic.completion_p99_seconds, 3),
            traffic.retransmitted_packets.to_string(),
        ]);
    }
    table
}

/// One row per run and session of a video player.
pub fn videos(summary: &Summary) -> Columns {
    let several = summary.runs.len() > 1;
    let mut table = Columns::new(&[
        if several { "run: video session" } else { "video session" },
        "began\ns",
        "startup\ns",
        "segments",
        "bitrate\nMbps",
        "switches",
        "stalled\n%",
    ]);
    let workloads = summary.runs.iter().flat_map(|run| run.traffic.iter().map(move |traffic| (run, traffic)));
    let sessions = workloads.flat_map(|(run, traffic)| traffic.videos.iter().map(move |video| (run, traffic, video)));
    for (run, traffic, video) in sessions {
        let of_run = if several { format!("{}: ", run.name) } else { String::new() };
        table.row([
            format!("{of_run}{} {}", traffic.name, video.connection),
            number(video.start_seconds, 1),
            maybe(video.startup_seconds, 3),
            video.segments.to_string(),
            number(video.bitrate_mbps, 2),
            video.switches.to_string(),
            number(100.0 * video.stalled_share, 1),
        ]);
    }
    table
}

/// One row per run, kind of connections that come and go, and size of what they transfer.
pub fn completion(summary: &Summary) -> Columns {
    let several = summary.runs.len() > 1;
    let mut table = Columns::new(&[
        if several { "run: traffic" } else { "traffic" },
        "from\nbytes",
        "below\nbytes",
        "transfers",
        "mean\ns",
        "processor\nsharing\ns",
    ]);
    for (run, traffic) in summary.runs.iter().flat_map(|run| run.traffic.iter().map(move |traffic| (run, traffic))) {
        let of_run = if several { format!("{}: ", run.name) } else { String::new() };
        for bin in &traffic.completion_by_size {
            table.row([
                format!("{of_run}{}", traffic.name),
                bin.bytes[0].to_string(),
                bin.bytes[1].to_string(),
                bin.transfers.to_string(),
                number(bin.mean_seconds, 3),
                maybe(bin.ideal_seconds, 3),
            ]);
        }
    }
    table
}

/// One row per direction of a link.
pub fn links(run: &RunSummary) -> Columns {
    let mut table =
        Columns::new(&["link", "used\n%", "mean\nqueue\npackets", "max\nqueue\npackets", "drops", "errors"]);
    for LinkSummary { name, utilization, mean_queue_packets, max_queue_packets, drops, errors, .. } in &run.links {
        table.row([
            name.clone(),
            number(100.0 * utilization, 1),
            number(*mean_queue_packets, 1),
            max_queue_packets.to_string(),
            drops.to_string(),
            errors.to_string(),
        ]);
    }
    table
}
