//! The receiving side of stamps: whose header it is, whether it is genuine, and what the [`Receiver`] reports on it.

use crate::replays::Replays;
use crate::tag::{Key, verify};
use control::{Bytes, Receiver, Report, Time};
use header::Unverified;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio::sync::Notify;

/// The flows whose peers were granted stamps, by the token in their headers.
#[derive(Default)]
pub(crate) struct ReceivingFlows {
    flows: RwLock<HashMap<u64, Arc<ReceivingFlow>>>,
    /// Datagrams that were dropped because of their header.
    invalid_headers: AtomicU64,
}

/// What one end of a connection receives with stamps.
pub(crate) struct ReceivingFlow {
    key: Key,
    inner: Mutex<Inner>,
    /// Notified when there is a new report.
    pub(crate) news: Notify,
}

struct Inner {
    receiver: Box<dyn Receiver>,
    replays: Replays,
    report: Option<Report>,
}

impl ReceivingFlow {
    /// A flow whose headers are tagged under `key`.
    pub(crate) fn new(key: Key, receiver: Box<dyn Receiver>) -> ReceivingFlow {
        let inner = Inner { receiver, replays: Replays::default(), report: None };
        ReceivingFlow { key, inner: Mutex::new(inner), news: Notify::new() }
    }

    /// The newest report; none before the first.
    pub(crate) fn report(&self) -> Option<Report> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).report
    }
}

impl ReceivingFlows {
    /// Adds a flow under a token that nobody can guess.
    pub(crate) fn add(&self, token: u64, flow: Arc<ReceivingFlow>) {
        self.flows.write().unwrap_or_else(PoisonError::into_inner).insert(token, flow);
    }

    /// Removes a flow whose connection has ended.
    pub(crate) fn remove(&self, token: u64) {
        self.flows.write().unwrap_or_else(PoisonError::into_inner).remove(&token);
    }

    /// How many datagrams were dropped because of their header.
    pub(crate) fn invalid_headers(&self) -> u64 {
        self.invalid_headers.load(Ordering::Relaxed)
    }

    /// A datagram arrived at `now`. Returns how many bytes of it are a header; none if it is to be dropped.
    pub(crate) fn on_datagram(&self, now: Time, datagram: &[u8]) -> Option<usize> {
        if !Unverified::claimed(datagram) {
            return Some(0);
        }
        let size = self.on_stamped(now, datagram);
        if size.is_none() {
            self.invalid_headers.fetch_add(1, Ordering::Relaxed);
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

    /// The report on that stream, if `disturb` is called before each of its packets.
    fn report(mut disturb: impl FnMut(&ReceivingFlows, Time, &[u8])) -> Option<Report> {
        let rapid = registry::find("rapid").unwrap();
        let parties = rapid.build(&rapid.parameters(&Map::new()).unwrap(), &Conditions::exact(Bytes(1000))).unwrap();
        let (flows, flow) = (ReceivingFlows::default(), Arc::new(ReceivingFlow::new(KEY, parties.receiver.unwrap())));
        flows.add(TOKEN, flow.clone());
        for (at, datagram) in stream() {
            disturb(&flows, at, &datagram);
            assert_eq!(flows.on_datagram(at, &datagram), Some(SIZE));
        }
        flow.report()
    }

    #[test]
    fn forged_and_replayed_headers_change_no_report() {
        let honest = report(|_, _, _| ());
        let Some(Report::Available { rate, .. }) = honest else { panic!("{honest:?}") };
        assert!((140e6..=150e6).contains(&rate), "{rate}");
        let mut dropped = 0;
        let mut last: Option<Vec<u8>> = None;
        let disturbed = report(|flows, at, datagram| {
            let mut expect_refusal = |bytes: &[u8]| {
                assert_eq!(flows.on_datagram(at, bytes), None);
                dropped += 1;
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
        assert_eq!(dropped, 90 * (3 + SIZE) + 89);
    }

    #[test]
    fn a_datagram_that_claims_no_header_belongs_to_quic() {
        let flows = ReceivingFlows::default();
        for datagram in [&[][..], &[0x40], &[0xc0; 1200], &[0; 1200]] {
            assert_eq!(flows.on_datagram(Time::ZERO, datagram), Some(0));
        }
        assert_eq!(flows.invalid_headers(), 0);
    }
}
