//! Sessions of adaptive streaming, `kind = "video"`, and of video calls, `kind = "frames"`.

use super::table::TrafficTable;
use crate::keys::traffic::{self, FramesKeys, LengthKeys, VideoKeys};
use crate::problems::Problems;
use control::{Bytes, Duration, Rate};
use experiment::traffic::{BitrateRule, Talk, Video};

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
    let VideoKeys { segment, bitrates, buffer, rule } = table.read(problems)?;
    let length = length(table, problems)?;
    let found = problems.found.len();
    let (shortest, longest) = SEGMENT;
    let message = format!("{segment} is not within {shortest} and {longest}; write one like \"4 s\"");
    problems.unless((shortest..=longest).contains(&segment), at.key("segment"), message);
    problems.unless(buffer > Duration::ZERO, at.key("buffer"), "is zero; write one like \"30 s\"");
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

/// The frames of `table`, which come for as long as its key `length` says, and not after the run, which `lasts` on.
pub(super) fn frames(table: &TrafficTable, lasts: Duration, problems: &mut Problems) -> Option<Talk> {
    let at = &table.at;
    let FramesKeys { fps, bitrate } = table.read(problems)?;
    let length = length(table, problems)?.map_or(lasts, |length| length.min(lasts));
    let found = problems.found.len();
    let message = format!("{fps} is not a number of frames per second; write 0.1 to 1000, like 30");
    problems.unless((0.1..=1000.0).contains(&fps), at.key("fps"), message);
    let message = format!("{bitrate} is not within 1 bps and {MOST}; write one like \"2.5 Mbps\"");
    problems.unless(bitrate >= Rate::from_bps(1.0) && bitrate <= MOST, at.key("bitrate"), message);
    if problems.found.len() > found {
        return None;
    }
    let interval = Duration::from_secs(1.0 / fps);
    let size = Bytes((bitrate.as_bps() / fps / 8.0).ceil() as u64);
    Some(Talk::Frames { interval, size, number: length.0.div_ceil(interval.0) })
}

/// How long a session of `table` lasts, if it ends. The outer option is none if that adds to `problems`.
fn length(table: &TrafficTable, problems: &mut Problems) -> Option<Option<Duration>> {
    let LengthKeys { length } = table.read(problems)?;
    let message = "is zero; write one like \"60 s\", or remove it";
    problems.unless(length != Some(Duration::ZERO), table.at.key("length"), message);
    Some(length)
}
