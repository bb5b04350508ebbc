//! What a peer can do to a receiver: it chooses the controller, all parameters within the registry's bounds, and then
//! writes any stamps at any time. No receiver panics, hangs, or takes more memory than its parameters allow, and none
//! reports what is no rate.
#![no_main]

use control::registry::{self, Controller};
use control::{Bytes, Conditions, Duration, Report, Stamp, Time};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Number, Value};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that a receiver may take: streams have 10,000 packets at most.
const MOST: usize = 8 << 20;

#[global_allocator]
static ALLOCATED: Counting = Counting(AtomicUsize::new(0));

/// The system's allocator, with a count of the bytes in use.
struct Counting(AtomicUsize);

// SAFETY: both calls are the system's, with what it asks for and returns.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.0.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(block, layout) }
    }
}

/// What the peer decides, read from the input; zeros behind its end.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let (now, rest) = self.0.split_at(N.min(self.0.len()));
        bytes[..now.len()].copy_from_slice(now);
        self.0 = rest;
        bytes
    }
    fn byte(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }
    fn float(&mut self) -> f32 {
        f32::from_le_bytes(self.bytes())
    }
    fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    /// A value of the same kind as `default`.
    fn value(&mut self, default: &Value) -> Value {
        match default {
            Value::Bool(_) => Value::Bool(self.byte() & 1 == 1),
            Value::Number(number) if !number.is_f64() => Value::from(self.long() >> (self.byte() % 64)),
            Value::Number(_) => Number::from_f64(f64::from(self.float())).map_or(Value::Null, Value::Number),
            Value::String(text) => match text.split_once(' ') {
                Some((_, unit)) => Value::String(format!("{} {unit}", self.float())),
                None => default.clone(),
            },
            other => other.clone(),
        }
    }
}

/// The controller's parameters, of which some are changed to others that the registry takes.
fn parameters(controller: &Controller, input: &mut Input) -> Value {
    let mut changed = Map::new();
    for (name, default) in controller.defaults().as_object().expect("an object") {
        if input.byte() & 3 == 0 {
            changed.insert(name.clone(), input.value(default));
            if controller.parameters(&changed).is_err() {
                changed.remove(name);
            }
        }
    }
    controller.parameters(&changed).expect("each was checked with those before")
}

fn stamp(input: &mut Input) -> Option<Stamp> {
    let kind = input.byte();
    let stamp = match kind & 7 {
        0 => Stamp::None,
        1 => Stamp::Rate { rate: input.float(), rtt: input.float() },
        2 => Stamp::Window { window: input.float(), rtt: input.float(), feedback: input.float() },
        _ => Stamp::Probe {
            stream: input.long() as u32 >> (kind & 24),
            index: u16::from_le_bytes(input.bytes()),
            len: u16::from_le_bytes(input.bytes()),
            rate: input.float(),
            sent: Time(input.long() >> (kind & 31)),
        },
    };
    // Other stamps are refused when a header is read.
    let mut room = [0x40; header::ROUTED + 1];
    let size = header::Header { token: 1, number: 1, stamp }.write(room.first_chunk_mut().expect("room"), |_| [0; 8]);
    header::stamp(&room[header::ROUTED - size..])
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let all = registry::all();
    let controller = all[input.byte() as usize % all.len()];
    let parameters = parameters(controller, &mut input);
    let host = Conditions {
        timing_error: Duration::from_micros(u64::from(input.byte())),
        quantum: Duration::from_micros(u64::from(input.byte())),
        ..Conditions::exact(Bytes(1200))
    };
    let Some(mut receiver) = controller.build(&parameters, &host).expect("checked").receiver else { return };
    let before = ALLOCATED.0.load(Ordering::Relaxed);
    let mut now = Time::ZERO;
    while !input.0.is_empty() {
        let Some(mut stamp) = stamp(&mut input) else { continue };
        now = match input.byte() {
            0 => Time(input.long()),
            shift => now + Duration(input.long() >> (shift % 64)),
        };
        let size = Bytes(u64::from(u16::from_le_bytes(input.bytes())));
        // The same again, as the sender of a long stream would do it.
        let (again, gap) = (u16::from(input.byte()).pow(2) >> 4, Duration(input.long() >> 24));
        for _ in 0..=again {
            let report = receiver.on_arrival(now, &stamp, size);
            let rate = match report {
                Some(Report::Available { rate, .. } | Report::Received { rate } | Report::Allowed { rate }) => rate,
                Some(Report::Feedback { part, .. }) => part,
                None => 0.0,
            };
            assert!(rate >= 0.0, "{} {parameters}: {report:?}", controller.name);
            now += gap;
            if let Stamp::Probe { index, len, sent, .. } = &mut stamp {
                *index = index.wrapping_add(1);
                *sent += gap;
                if *index >= *len {
                    break;
                }
            }
        }
        let used = ALLOCATED.0.load(Ordering::Relaxed).saturating_sub(before);
        assert!(used <= MOST, "{} {parameters}: {used} bytes", controller.name);
    }
});
