//! The receiving side of stamps: whose header it is, whether it is genuine, and what the [`Receiver`] reports on it.

use crate::arrivals::Arrivals;
use crate::replays::Replays;
use crate::segments;
use crate::tag::{Key, verify};
use control::{Bytes, Receiver, Report, Stamp, Time};
use header::Unverified;
use quinn::udp::RecvMeta;
use std::collections::HashMap;
use std::io::IoSliceMut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::Notify;

/// The flows whose peers were granted stamps, by the token in their headers.
#[derive(Default)]
pub(crate) struct ReceivingFlows {
    flows: RwLock<HashMap<u64, Arc<ReceivingFlow>>>,
    /// Whether a genuine stamp has arrived since there were none.
    stamped: AtomicBool,
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
    arrivals: Arrivals,
    replays: Replays,
    report: Option<Report>,
}

impl ReceivingFlow {
    /// A flow whose headers are tagged under `key`.
    pub(crate) fn new(key: Key, receiver: Box<dyn Receiver>) -> ReceivingFlow {
        let inner = Inner { receiver, arrivals: Arrivals::default(), replays: Replays::default(), report: None };
        ReceivingFlow { key, inner: Mutex::new(inner), news: Notify::new() }
    }

    /// The newest report; none before the first.
    pub(crate) fn report(&self) -> Option<Report> {
        self.lock().report
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReceivingFlows {
    /// Adds a flow under a token that nobody can guess.
    pub(crate) fn add(&self, token: u64, flow: Arc<ReceivingFlow>) {
        self.flows.write().unwrap_or_else(PoisonError::into_inner).insert(token, flow);
    }

    /// Removes a flow whose connection has ended. Calls `end` after the last one.
    pub(crate) fn remove(&self, token: u64, end: impl FnOnce()) {
        let mut flows = self.flows.write().unwrap_or_else(PoisonError::into_inner);
        flows.remove(&token);
        if flows.is_empty() {
            end();
            self.stamped.store(false, Ordering::Relaxed);
        }
    }

    /// Whether a flow's packets carry stamps, so that their times of arrival matter. A hybrid's do not at first.
    pub(crate) fn is_stamped(&self) -> bool {
        self.stamped.load(Ordering::Relaxed)
    }

    /// How many datagrams were dropped because of their header.
    pub(crate) fn invalid_headers(&self) -> u64 {
        self.invalid_headers.load(Ordering::Relaxed)
    }

    /// Takes the headers off the message in the first of the buffers, which arrived `at` this time; if that is not
    /// known, receivers are told of routers' answers alone. Calls `begin` when the first genuine stamp has arrived.
    /// Returns how many of the buffers are messages now ([`segments::strip`]).
    pub(crate) fn on_message(
        &self,
        at: Option<Duration>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
        begin: impl FnOnce(),
    ) -> usize {
        if !segments::of(&buffers[0], &metas[0]).any(Unverified::claimed) {
            return 1;
        }
        let flows = self.flows.read().unwrap_or_else(PoisonError::into_inner);
        let mut reading = Reading { flows: &flows, at, current: None, stamped: false };
        let mut invalid = 0;
        let count = segments::strip(buffers, metas, |datagram| {
            if !Unverified::claimed(datagram) {
                return Some(0);
            }
            let size = reading.read(datagram);
            invalid += u64::from(size.is_none());
            size
        });
        self.invalid_headers.fetch_add(invalid, Ordering::Relaxed);
        if reading.stamped && !self.stamped.swap(true, Ordering::Relaxed) {
            begin();
        }
        count
    }
}

/// The headers of one message, most of which belong to one flow.
struct Reading<'a> {
    flows: &'a HashMap<u64, Arc<ReceivingFlow>>,
    at: Option<Duration>,
    /// The flow of the last header and its token.
    current: Option<(u64, &'a ReceivingFlow, MutexGuard<'a, Inner>)>,
    /// Whether one of them was genuine.
    stamped: bool,
}

impl Reading<'_> {
    /// Returns the length in bytes of the header of `datagram`; none if it is not genuine.
    fn read(&mut self, datagram: &[u8]) -> Option<usize> {
        let header = Unverified::read(datagram)?;
        // Whoever puts padding in front of a packet changes nothing: QUIC authenticates the packet.
        if header.is_padding() {
            return (!Unverified::claimed(&datagram[header.size..])).then_some(header.size);
        }
        let token = header.token();
        if self.current.as_ref().is_none_or(|(current, ..)| *current != token) {
            self.current = None; // unlocked before the next is locked
            let flow = self.flows.get(&token)?;
            self.current = Some((token, flow, flow.lock()));
        }
        let (_, flow, inner) = self.current.as_mut()?;
        let stamped = verify(&header, &flow.key)?;
        self.stamped = true;
        // The tag does not cover the packet behind the header. Whoever copies a header onto other bytes and is first
        // must not have the genuine packet dropped: only the stamp of a replayed header is ignored.
        // What routers answer counts whenever it arrived.
        let is_answer = matches!(stamped.stamp, Stamp::Rate { .. } | Stamp::Window { .. });
        let at = self.at.map(|at| inner.arrivals.time(at));
        if let Some(at) = at.or(is_answer.then_some(Time::ZERO))
            && inner.replays.is_new(stamped.number)
        {
            let size = Bytes((datagram.len() - header.size) as u64);
            if let Some(report) = inner.receiver.on_arrival(at, &stamped.stamp, size) {
                inner.report = Some(report);
                flow.news.notify_one();
            }
        }
        Some(header.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag;
    use control::{Conditions, Duration, registry};
    use header::{Header, ROUTED, SIZE};
    use realtime::to_std;
    use serde_json::Map;

    const KEY: Key = [3; 16];
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

    /// What is passed on of one datagram that arrives at `now`; none if it is dropped.
    fn passed_on(flows: &ReceivingFlows, now: Time, datagram: &[u8]) -> Option<Vec<u8>> {
        let mut buffer = datagram.to_vec();
        let mut metas = [RecvMeta { len: datagram.len(), stride: datagram.len(), ..RecvMeta::default() }];
        let at = Some(to_std(now.since(Time::ZERO)));
        assert_eq!(flows.on_message(at, &mut [IoSliceMut::new(&mut buffer)], &mut metas, || ()), 1);
        buffer.truncate(metas[0].len);
        Some(buffer).filter(|packet| !packet.is_empty() || datagram.is_empty())
    }

    /// The report on that stream, if `disturb` is called before each of its packets.
    fn report(mut disturb: impl FnMut(&ReceivingFlows, Time, &[u8])) -> Option<Report> {
        let rapid = registry::find("rapid").unwrap();
        let parties = rapid.build(&rapid.parameters(&Map::new()).unwrap(), &Conditions::exact(Bytes(1000))).unwrap();
        let (flows, flow) = (ReceivingFlows::default(), Arc::new(ReceivingFlow::new(KEY, parties.receiver.unwrap())));
        flows.add(TOKEN, flow.clone());
        for (at, datagram) in stream() {
            disturb(&flows, at, &datagram);
            assert_eq!(passed_on(&flows, at, &datagram).as_deref(), Some(&datagram[SIZE..]));
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
                assert_eq!(passed_on(flows, at, bytes), None);
                dropped += 1;
            };
            let mut faster = datagram.to_vec();
            faster[36..40].copy_from_slice(&1e12f32.to_be_bytes());
            expect_refusal(&faster);
            let stamp = Stamp::Probe { stream: 9, index: 0, len: 1, rate: 1e12, sent: at };
            expect_refusal(&stamped(&Header { token: TOKEN, number: 5000, stamp }, &[4; 16]));
            let mut strange = datagram.to_vec();
            strange[8] ^= 1; // another token
            expect_refusal(&strange);
            (1..=SIZE).for_each(|len| expect_refusal(&datagram[..len]));
            if let Some(replayed) = &last {
                assert_eq!(passed_on(flows, at, replayed).as_deref(), Some(&replayed[SIZE..]));
            }
            last = Some(datagram.to_vec());
        });
        assert_eq!(disturbed, honest);
        assert_eq!(dropped, 90 * (3 + SIZE));
    }

    /// Its tag is genuine, but covers the header alone.
    #[test]
    fn whoever_copies_a_header_onto_other_bytes_and_is_first_has_no_packet_dropped() {
        let garbled = report(|flows, at, datagram| {
            let garbage = [&datagram[..SIZE], &[0x41; 1000]].concat();
            assert_eq!(passed_on(flows, at, &garbage).unwrap(), [0x41; 1000], "QUIC finds out what it is");
        });
        assert_eq!(garbled, report(|_, _, _| ()), "each stamp counts once");
    }

    #[test]
    fn datagrams_of_one_message_arrived_together() {
        let rapid = registry::find("rapid").unwrap();
        let parties = rapid.build(&rapid.parameters(&Map::new()).unwrap(), &Conditions::exact(Bytes(1000))).unwrap();
        // A message of nine whose middle three are of another flow, and one of QUIC's.
        let (flows, other) =
            (ReceivingFlows::default(), Arc::new(ReceivingFlow::new([9; 16], parties.receiver.unwrap())));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let flow = Arc::new(ReceivingFlow::new(KEY, Box::new(Recording(seen.clone()))));
        flows.add(TOKEN, flow.clone());
        flows.add(7, other.clone());
        let datagrams: Vec<_> = (0..9)
            .map(|number| {
                let is_other = (3..6).contains(&number);
                let (token, key) = if is_other { (7, [9; 16]) } else { (TOKEN, KEY) };
                let stamp = Stamp::Probe { stream: 1, index: number as u16, len: 9, rate: 1e6, sent: Time(0) };
                stamped(&Header { token, number, stamp }, &key)
            })
            .chain([vec![0x40; SIZE + 1000]])
            .collect();
        let mut buffers = vec![vec![0; 65536]; 3];
        let whole = datagrams.concat();
        buffers[0][..whole.len()].copy_from_slice(&whole);
        let mut slices: Vec<_> = buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
        let mut metas = [RecvMeta { len: whole.len(), stride: SIZE + 1000, ..RecvMeta::default() }; 3];
        let at = to_std(Duration::from_millis(5));
        assert_eq!(flows.on_message(Some(at), &mut slices, &mut metas, || ()), 2);
        let sizes = |meta: RecvMeta| (meta.len, meta.stride);
        assert_eq!((sizes(metas[0]), sizes(metas[1])), ((9000, 1000), (SIZE + 1000, SIZE + 1000)));
        let seen = seen.lock().unwrap();
        assert_eq!(*seen, [0, 1, 2, 6, 7, 8].map(|index| (Time::ZERO, index, Bytes(1000))));
    }

    /// Writes down what it sees.
    struct Recording(Arc<Mutex<Vec<(Time, u16, Bytes)>>>);

    impl Receiver for Recording {
        fn on_arrival(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report> {
            let Stamp::Probe { index, .. } = *stamp else { panic!("{stamp:?}") };
            self.0.lock().unwrap().push((now, index, size));
            None
        }
    }

    #[test]
    fn times_of_arrival_matter_from_the_first_genuine_stamp_on() {
        let flows = ReceivingFlows::default();
        flows.add(TOKEN, Arc::new(ReceivingFlow::new(KEY, Box::new(Recording(Arc::default())))));
        let stamp = Stamp::Probe { stream: 1, index: 0, len: 9, rate: 1e6, sent: Time(0) };
        let genuine = stamped(&Header { token: TOKEN, number: 1, stamp }, &KEY);
        let mut room = [0; ROUTED];
        header::pad(&mut room);
        let padded = [&room[..], &[0x40; 1000]].concat();
        assert_eq!(passed_on(&flows, Time::ZERO, &padded).unwrap(), [0x40; 1000]);
        let twice = [&room[..], &padded].concat();
        assert_eq!(passed_on(&flows, Time::ZERO, &twice), None, "a header behind padding is none");
        assert_eq!(passed_on(&flows, Time::ZERO, &stamped(&Header { token: TOKEN, number: 1, stamp }, &[4; 16])), None);
        assert!(!flows.is_stamped());
        passed_on(&flows, Time::ZERO, &genuine);
        assert!(flows.is_stamped());
        flows.remove(TOKEN, || ());
        assert!(!flows.is_stamped());
    }

    #[test]
    fn a_receivers_time_begins_with_its_first_stamp_however_old_the_endpoint_is() {
        let (flows, seen) = (ReceivingFlows::default(), Arc::new(Mutex::new(Vec::new())));
        flows.add(TOKEN, Arc::new(ReceivingFlow::new(KEY, Box::new(Recording(seen.clone())))));
        let year = std::time::Duration::from_secs(365 * 86_400); // `Time` has 213 days
        for number in 0..3 {
            let stamp = Stamp::Probe { stream: 1, index: number as u16, len: 9, rate: 1e6, sent: Time(0) };
            let mut datagram = stamped(&Header { token: TOKEN, number, stamp }, &KEY);
            let mut metas = [RecvMeta { len: datagram.len(), stride: datagram.len(), ..RecvMeta::default() }];
            let at = year + std::time::Duration::from_millis(number);
            flows.on_message(Some(at), &mut [IoSliceMut::new(&mut datagram)], &mut metas, || ());
        }
        let times: Vec<_> = seen.lock().unwrap().iter().map(|(at, ..)| at.since(Time::ZERO)).collect();
        assert_eq!(times, [0, 1, 2].map(Duration::from_millis));
    }

    #[test]
    fn what_routers_answer_counts_whenever_it_arrived() {
        let rcp = registry::find("rcp").unwrap();
        let parties = rcp.build(rcp.defaults(), &Conditions::exact(Bytes(1000))).unwrap();
        let (flows, flow) = (ReceivingFlows::default(), Arc::new(ReceivingFlow::new(KEY, parties.receiver.unwrap())));
        flows.add(TOKEN, flow.clone());
        let stamp = Stamp::Rate { rate: 5e6, rtt: 0.1 };
        let mut datagram = stamped(&Header { token: TOKEN, number: 1, stamp }, &KEY);
        let mut metas = [RecvMeta { len: datagram.len(), stride: datagram.len(), ..RecvMeta::default() }];
        flows.on_message(None, &mut [IoSliceMut::new(&mut datagram)], &mut metas, || ());
        assert_eq!(flow.report(), Some(Report::Allowed { rate: 5e6 }));
    }

    #[test]
    fn a_datagram_that_claims_no_header_belongs_to_quic() {
        let flows = ReceivingFlows::default();
        for datagram in [&[][..], &[0x40], &[0xc0; 1200], &[0; 1200]] {
            assert_eq!(passed_on(&flows, Time::ZERO, datagram).as_deref(), Some(datagram));
        }
        assert_eq!(flows.invalid_headers(), 0);
    }
}
