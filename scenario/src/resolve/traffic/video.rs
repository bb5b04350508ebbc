//! Sessions of adaptive streaming: `kind = "video"`.

use super::table::TrafficTable;
use crate::keys::traffic::{self, VideoKeys};
use crate::problems::Problems;
use control::{Bytes, Duration, Rate};
use experiment::traffic::{BitrateRule, Video};

/// Size of a request for a segment, as by default of a web object.
const REQUEST: Bytes = Bytes(400);
/// The bitrates if none are given, in Mbps.
const BITRATES: [f64; 4] = [1.0, 2.5, 5.0, 8.0];
/// The shortest and the longest playing time of a segment.
const SEGMENT: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(3_600_000));
/// The highest bitrate.
const MOST: Rate = Rate::from_gbps(1000.0);

/// The video of `table`, and how it is played.
pub(super) fn video(table: &TrafficTable, problems: &mut Problems) -> Option<Video> {
    let at = &table.at;
    let VideoKeys { segment, bitrates, buffer, rule, length } = table.read(problems)?;
    let found = problems.found.len();
    let (shortest, longest) = SEGMENT;
    let message = format!("{segment} is not within {shortest} and {longest}; write one like \"4 s\"");
    problems.unless((shortest..=longest).contains(&segment), at.key("segment"), message);
    problems.unless(buffer > Duration::ZERO, at.key("buffer"), "is zero; write one like \"30 s\"");
    problems.unless(length != Some(Duration::ZERO), at.key("length"), "is zero; write one like \"60 s\", or remove it");
    let bitrates = bitrates.unwrap_or_else(|| BITRATES.map(Rate::from_mbps).to_vec());
    let example = "write one or more like [\"1 Mbps\", \"2.5 Mbps\"]";
    problems.unless(!bitrates.is_empty(), at.key("bitrates"), format!("is empty; {example}"));
    let are_rates = bitrates.iter().all(|&bitrate| bitrate > Rate::ZERO && bitrate <= MOST);
    problems.unless(are_rates, at.key("bitrates"), format!("has a bitrate of zero, or above {MOST}; {example}"));
    let rise = bitrates.is_sorted_by(|one, next| one < next);
    problems.unless(rise, at.key("bitrates"), format!("does not rise from the first to the last; {example}"));
    let rule = match rule {
        traffic::BitrateRule::Throughput => BitrateRule::Throughput,
        traffic::BitrateRule::Buffer => BitrateRule::Buffer,
    };
    let segments = length.map(|length| length.0.div_ceil(segment.0.max(1)));
    (problems.found.len() == found).then_some(Video { segment, bitrates, buffer, rule, segments, request: REQUEST })
}
