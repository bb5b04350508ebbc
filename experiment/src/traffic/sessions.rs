//! Connections that begin together, or arrive independently of each other, as a Poisson process: single transfers, or
//! sessions of web browsers, video players and cameras.

use super::{Arrivals, Connection, Message, Player, Population, Random, Side, Sizes, Stream, Video};
use control::{Bytes, Duration, Time};
use std::sync::Arc;

/// Connections of one kind.
#[derive(Clone, Debug)]
pub struct Sessions {
    /// The run's seed.
    pub seed: u64,
    /// The number of the workload in the run.
    pub index: u64,
    /// Mean number of arrivals per second, as a Poisson process; none if all connections begin at once.
    pub per_second: Option<f64>,
    /// Number of connections in all; none if arrivals do not end.
    pub count: Option<u64>,
    /// The least and the largest round-trip propagation delay, between which that of a connection is drawn.
    pub rtt: (Duration, Duration),
    /// What a connection does.
    pub talk: Talk,
}

/// What a connection does.
#[derive(Clone, Debug)]
pub enum Talk {
    /// The initiator sends a number of bytes from this distribution.
    Transfer(Sizes),
    /// The initiator requests one object after the other, and waits after each.
    Web {
        /// Mean number of objects; their number is distributed geometrically.
        objects: f64,
        /// Size of a request.
        request: Sizes,
        /// Size of an object.
        object: Sizes,
        /// Mean time from an object's arrival to the next request; it is distributed exponentially.
        think: Duration,
    },
    /// The initiator plays a video.
    Video(Arc<Video>),
    /// The initiator sends a frame after each interval, as a camera produces them, whether or not those before have
    /// arrived.
    Frames {
        /// The time from a frame to the next.
        interval: Duration,
        /// Size of a frame.
        size: Bytes,
        /// Number of frames.
        number: u64,
    },
}

impl Talk {
    /// The mean number of bytes that a connection sends on the wire, in packets of `packet` bytes with a `header` each,
    /// in the direction of the transfer or of the objects. None if that depends on the path, as of a video.
    pub fn mean_size(&self, packet: Bytes, header: Bytes) -> Option<f64> {
        let (number, size) = match self {
            Talk::Transfer(size) => (1.0, size.mean()),
            Talk::Web { objects, object, .. } => (objects.max(1.0), object.mean()),
            Talk::Video(_) => return None,
            Talk::Frames { size, number, .. } => (*number as f64, size.0 as f64),
        };
        // An object's last packet is half full on average, unless it is its only one.
        let packets = match size / (packet - header).0.max(1) as f64 {
            few if few <= 0.5 => 1.0,
            many => many + 0.5,
        };
        Some(number * (size + packets * header.0 as f64))
    }
}

impl Population for Sessions {
    fn arrivals(&self) -> Result<Box<dyn Arrivals>, String> {
        let random = Random::new(self.seed, Stream::Sessions, &[self.index]);
        Ok(Box::new(Process { sessions: self.clone(), random, now: Time::ZERO, begun: 0 }))
    }
}

struct Process {
    sessions: Sessions,
    random: Random,
    now: Time,
    begun: u64,
}

impl Arrivals for Process {
    fn next(&mut self, connection: &mut Connection) -> Result<bool, String> {
        let Process { sessions, random, now, begun } = self;
        if sessions.count.is_some_and(|count| *begun >= count) {
            return Ok(false);
        }
        *begun += 1;
        if let Some(per_second) = sessions.per_second {
            *now += Duration::from_secs(random.exponential(1.0 / per_second));
        }
        connection.clear();
        connection.start = *now;
        connection.rtt = random.between(sessions.rtt.0, sessions.rtt.1);
        match &sessions.talk {
            Talk::Transfer(size) => {
                let size = size.draw(random);
                connection.messages.push(Message { from: Side::Initiator, wait: Duration::ZERO, size });
            }
            Talk::Web { objects, request, object, think } => {
                for i in 0..random.geometric(*objects) {
                    let wait =
                        if i == 0 { Duration::ZERO } else { Duration::from_secs(random.exponential(think.as_secs())) };
                    let size = request.draw(random);
                    connection.messages.push(Message { from: Side::Initiator, wait, size });
                    let size = object.draw(random);
                    connection.messages.push(Message { from: Side::Acceptor, wait: Duration::ZERO, size });
                }
            }
            Talk::Frames { interval, size, number } => {
                connection.concurrent = true;
                for i in 0..*number {
                    let wait = if i == 0 { Duration::ZERO } else { *interval };
                    connection.messages.push(Message { from: Side::Initiator, wait, size: *size });
                }
            }
            Talk::Video(video) => connection.player = Some(Box::new(Player::new(video.clone()))),
        }
        Ok(true)
    }
}
