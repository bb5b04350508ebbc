//! Adaptive streaming over HTTP, as in DASH: over one connection, a player asks for one segment of a video after the
//! other, each at the bitrate that its rule chooses.

use super::bitrate::{AVERAGED, BitrateRule, Known};
use crate::outcome::VideoSession;
use control::{Bytes, Duration, Rate, Time};
use std::sync::Arc;

/// A video, and how it is played.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// Playing time of a segment.
    pub segment: Duration,
    /// The bitrates to choose from, rising; at least one.
    pub bitrates: Vec<Rate>,
    /// The player waits before it asks for a segment until less than this playing time, or as much, is in its buffer.
    pub buffer: Duration,
    /// How a bitrate is chosen.
    pub rule: BitrateRule,
    /// Number of segments; none for a video that does not end.
    pub segments: Option<u64>,
    /// Size of a request.
    pub request: Bytes,
}

/// The player of a session. Playing begins when the first segment has arrived. It stalls when the buffer is empty,
/// until the next segment has arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    video: Arc<Video>,
    /// The segment that has been asked for and has not arrived.
    asked: Option<Asked>,
    /// The number of the bitrate that was chosen last.
    bitrate: usize,
    /// Throughputs of the last segments, bits per second, each from the request to the arrival of the last byte.
    throughputs: Vec<f64>,
    /// Playing time in the buffer at the time `at`.
    buffered: Duration,
    at: Time,
    /// When playing began.
    began: Option<Time>,
    /// How long playing has stalled until the time `at`.
    stalled: Duration,
    /// Number of segments that have arrived.
    segments: u64,
    /// Sum of their bitrates, bits per second.
    sum: f64,
    /// How many of them had another bitrate than the one before.
    switches: u32,
}

/// A segment that has been asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    at: Time,
    size: Bytes,
    is_switch: bool,
}

/// What a player asks for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// How long it waits before it asks.
    pub wait: Duration,
    /// Size of its request.
    pub size: Bytes,
    /// Size of the segment.
    pub segment: Bytes,
}

impl Player {
    /// A player that has not asked for anything.
    pub fn new(video: Arc<Video>) -> Player {
        Player {
            video,
            asked: None,
            bitrate: 0,
            throughputs: Vec::new(),
            buffered: Duration::ZERO,
            at: Time::ZERO,
            began: None,
            stalled: Duration::ZERO,
            segments: 0,
            sum: 0.0,
            switches: 0,
        }
    }

    /// The connection is open, or all of the segment that the player asked for has arrived. Returns what it asks for
    /// next; none at the end of the video.
    pub fn next(&mut self, now: Time) -> Option<Request> {
        self.play_until(now);
        if let Some(asked) = self.asked.take() {
            self.arrive(now, asked);
        }
        let Video { segment, ref bitrates, buffer, rule, segments, request } = *self.video;
        if segments == Some(self.segments) {
            return None;
        }
        let level = self.buffered.min(buffer);
        let wait = self.buffered - level;
        let known = Known { bitrates, before: self.bitrate, throughputs: &self.throughputs, level, buffer };
        let chosen = rule.choose(&known);
        let size = Bytes((bitrates[chosen].as_bps() * segment.as_secs() / 8.0).ceil() as u64);
        let is_switch = self.segments > 0 && chosen != self.bitrate;
        self.bitrate = chosen;
        self.asked = Some(Asked { at: now + wait, size, is_switch });
        Some(Request { wait, size: request, segment: size })
    }

    fn arrive(&mut self, now: Time, Asked { at, size, is_switch }: Asked) {
        if self.throughputs.len() == AVERAGED {
            self.throughputs.remove(0);
        }
        self.throughputs.push(size.over(now.since(at)).as_bps());
        self.began.get_or_insert(now);
        self.buffered += self.video.segment;
        self.segments += 1;
        self.sum += self.video.bitrates[self.bitrate].as_bps();
        self.switches += u32::from(is_switch);
    }

    /// Plays what is in the buffer.
    fn play_until(&mut self, now: Time) {
        let passed = now.since(self.at);
        self.at = now;
        if self.began.is_some() && self.video.segments != Some(self.segments) {
            self.stalled += passed - self.buffered;
        }
        self.buffered -= passed;
    }

    /// How the session went that began at `start`, on the connection of this number, until `now`. What is in the buffer
    /// after the last segment of a video will be played without a stall.
    pub fn session(&self, connection: u32, start: Time, now: Time) -> VideoSession {
        let mut player = self.clone();
        player.play_until(now);
        let Player { video, segments, sum, switches, stalled, buffered, began, .. } = player;
        let arrived = Duration(video.segment.0.saturating_mul(segments));
        let played = if video.segments == Some(segments) { arrived } else { arrived - buffered };
        VideoSession {
            connection,
            start,
            startup: began.map(|began| began.since(start)),
            segments,
            bitrate: sum / segments as f64,
            switches,
            played,
            stalled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    fn player(rule: BitrateRule, segments: Option<u64>) -> Player {
        let bitrates = [1.0, 2.0, 4.0].map(Rate::from_mbps).to_vec();
        let (segment, buffer) = (Duration::from_secs(4.0), Duration::from_secs(10.0));
        Player::new(Arc::new(Video { segment, bitrates, buffer, rule, segments, request: Bytes(400) }))
    }

    /// What it asks for next, at which time in seconds and at which bitrate in Mbps.
    fn ask(player: &mut Player, seconds: f64) -> (f64, f64) {
        let Request { wait, segment, .. } = player.next(at(seconds)).unwrap();
        (seconds + wait.as_secs(), segment.0 as f64 * 8.0 / 4e6)
    }

    #[test]
    fn a_player_asks_at_once_while_its_buffer_has_room() {
        let mut player = player(BitrateRule::Throughput, None);
        assert_eq!(ask(&mut player, 0.5), (0.5, 1.0));
        assert_eq!(ask(&mut player, 1.5), (1.5, 2.0)); // 4 Mbit in 1 s: 2 Mbps is the highest bitrate below
        assert_eq!(ask(&mut player, 2.5), (2.5, 4.0)); // 8 Mbit in 1 s, so 2/(1/4 + 1/8) = 5.3 Mbps; 7 s in the buffer
        assert_eq!(ask(&mut player, 3.5), (3.5, 4.0)); // 10 s in the buffer
        assert_eq!(ask(&mut player, 4.5), (7.5, 4.0)); // 13 s in the buffer, 10 s when it asks
        let session = player.session(7, at(0.25), at(7.5));
        assert_eq!((session.connection, session.startup), (7, Some(Duration::from_secs(1.25))));
        assert_eq!((session.segments, session.bitrate, session.switches), (4, 2.75e6, 2));
        assert_eq!((session.played.as_secs(), session.stalled.as_secs()), (6.0, 0.0));
    }

    #[test]
    fn playing_stalls_while_the_buffer_is_empty() {
        let mut player = player(BitrateRule::Throughput, Some(3));
        ask(&mut player, 0.0);
        ask(&mut player, 2.0); // plays until 6
        ask(&mut player, 9.0); // plays until 13
        let session = player.session(0, at(0.0), at(14.5));
        assert_eq!((session.played.as_secs(), session.stalled.as_secs()), (8.0, 3.0 + 1.5), "the run ends");
        assert_eq!(player.next(at(16.0)), None);
        let session = player.session(0, at(0.0), at(99.0));
        assert_eq!((session.played.as_secs(), session.stalled.as_secs()), (12.0, 3.0 + 3.0), "the video ends");
        assert_eq!((session.segments, session.switches, session.bitrate), (3, 0, 1e6));
    }

    #[test]
    fn nothing_stalls_before_the_first_segment_has_arrived() {
        let mut player = player(BitrateRule::Buffer, None);
        ask(&mut player, 3.0);
        let session = player.session(0, at(0.0), at(20.0));
        assert_eq!((session.startup, session.stalled, session.played), (None, Duration::ZERO, Duration::ZERO));
        assert!(session.bitrate.is_nan());
    }
}
