//! The receiving side of stamps: whose header it is, whether it is genuine, and what the [`Receiver`] makes of it.

use crate::replays::Replays;
use crate::tag::{Key, verify};
use control::{Bytes, Receiver, Report, Time};
use header::Unverified;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio::sync::Notify;

/// The flows whose peers were granted stamps, by token.
#[derive(Default)]
pub(crate) struct Arrivals {
    flows: RwLock<HashMap<u64, Arc<Arriving>>>,
    /// Datagrams that were thrown away for their header.
    pub(crate) refused: AtomicU64,
}

/// One flow that arrives.
pub(crate) struct Arriving {
    key: Key,
    inner: Mutex<Inner>,
    /// There is a new report.
    pub(crate) news: Notify,
}

struct Inner {
    receiver: Box<dyn Receiver>,
    replays: Replays,
    report: Option<Report>,
}

impl Arriving {
    /// A flow whose headers are tagged with `key`.
    pub(crate) fn new(key: Key, receiver: Box<dyn Receiver>) -> Arriving {
        let inner = Inner { receiver, replays: Replays::default(), report: None };
        Arriving { key, inner: Mutex::new(inner), news: Notify::new() }
    }

    /// The newest report.
    pub(crate) fn report(&self) -> Option<Report> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).report
    }
}

impl Arrivals {
    /// Lets a flow in under a token that nobody can guess.
    pub(crate) fn admit(&self, token: u64, flow: Arc<Arriving>) {
        self.flows.write().unwrap_or_else(PoisonError::into_inner).insert(token, flow);
    }

    /// Its connection has ended.
    pub(crate) fn dismiss(&self, token: u64) {
        self.flows.write().unwrap_or_else(PoisonError::into_inner).remove(&token);
    }

    /// A datagram arrived at `now`: how many bytes of it are a header, or none if it is to be thrown away.
    pub(crate) fn on_datagram(&self, now: Time, datagram: &[u8]) -> Option<usize> {
        if !Unverified::claimed(datagram) {
            return Some(0);
        }
        let size = self.on_stamped(now, datagram);
        if size.is_none() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        size
    }

    fn on_stamped(&self, now: Time, datagram: &[u8]) -> Option<usize> {
        let header = Unverified::read(datagram)?;
        let flow = self.flows.read().unwrap_or_else(PoisonError::into_inner).get(&header.token())?.clone();
        let stamped = verify(&header, &flow.key)?;
        let mut inner = flow.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner.replays.is_new(stamped.number) {
            return None;
        }
        let size = Bytes((datagram.len() - header.size) as u64);
        if let Some(report) = inner.receiver.on_arrival(now, &stamped.stamp, size) {
            inner.report = Some(report);
            flow.news.notify_one();
        }
        Some(header.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag;
    use control::{Conditions, Duration, Stamp, registry};
    use header::{Header, ROUTED, SIZE};
    use serde_json::Map;

    const KEY: Key = [3; 32];
    const TOKEN: u64 = 42;

    fn stamped(header: &Header, key: &Key) -> Vec<u8> {
        let mut room = [0; ROUTED];
        let size = tag::write(header, key, &mut room);
        [&room[ROUTED - size..], &[0x40; 1000]].concat()
    }

    /// One stream of 90 packets at 100 to 190 Mbps through a link of 150 Mbps, and when each packet arrives.
    fn stream() -> Vec<(Time, Vec<u8>)> {
        let (mut sent, mut arrived) = (Time::ZERO, Time::ZERO);
        let mut number = 0;
        std::iter::repeat_with(|| {
            let (index, mbps) = (number as u16, 100.0 + number as f64);
            sent += Duration::from_secs(8000.0 / (mbps * 1e6));
            arrived = (sent).max(arrived + Duration::from_secs(8000.0 / 150e6));
            let stamp = Stamp::Probe { stream: 1, index, len: 90, rate: mbps as f32 * 1e6, sent };
            let header = Header { token: TOKEN, number, stamp };
            number += 1;
            (arrived, stamped(&header, &KEY))
        })
        .take(90)
        .collect()
    }

    /// The report on that stream, with what `disturb` does before each of its packets.
    fn report(mut disturb: impl FnMut(&Arrivals, Time, &[u8])) -> Option<Report> {
        let rapid = registry::find("rapid").unwrap();
        let parties = rapid.build(&rapid.parameters(&Map::new()).unwrap(), &Conditions::exact(Bytes(1000))).unwrap();
        let (arrivals, flow) = (Arrivals::default(), Arc::new(Arriving::new(KEY, parties.receiver.unwrap())));
        arrivals.admit(TOKEN, flow.clone());
        for (at, datagram) in stream() {
            disturb(&arrivals, at, &datagram);
            assert_eq!(arrivals.on_datagram(at, &datagram), Some(SIZE));
        }
        flow.report()
    }

    #[test]
    fn nothing_forged_changes_a_report() {
        let honest = report(|_, _, _| ());
        let Some(Report::Available { rate, .. }) = honest else { panic!("{honest:?}") };
        assert!((140e6..=150e6).contains(&rate), "{rate}");
        let mut thrown = 0;
        let mut last: Option<Vec<u8>> = None;
        let disturbed = report(|arrivals, at, datagram| {
            let mut expect_refusal = |bytes: &[u8]| {
                assert_eq!(arrivals.on_datagram(at, bytes), None);
                thrown += 1;
            };
            if let Some(replayed) = &last {
                expect_refusal(replayed);
            }
            last = Some(datagram.to_vec());
            let mut faster = datagram.to_vec();
            faster[36..40].copy_from_slice(&1e12f32.to_be_bytes());
            expect_refusal(&faster);
            let stamp = Stamp::Probe { stream: 9, index: 0, len: 1, rate: 1e12, sent: at };
            expect_refusal(&stamped(&Header { token: TOKEN, number: 5000, stamp }, &[4; 32]));
            let mut strange = datagram.to_vec();
            strange[8] ^= 1; // another token
            expect_refusal(&strange);
            (1..=SIZE).for_each(|len| expect_refusal(&datagram[..len]));
        });
        assert_eq!(disturbed, honest);
        assert_eq!(thrown, 90 * (3 + SIZE) + 89);
    }

    #[test]
    fn what_claims_no_header_is_quics() {
        let arrivals = Arrivals::default();
        for datagram in [&[][..], &[0x40], &[0xc0; 1200], &[0; 1200]] {
            assert_eq!(arrivals.on_datagram(Time::ZERO, datagram), Some(0));
        }
        assert_eq!(arrivals.refused.load(Ordering::Relaxed), 0);
    }
}
