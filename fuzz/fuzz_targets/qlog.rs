//! No bytes make the reader of logs (qlog) panic, hang or take much memory; the error that it reports is one line; and
//! what it reads can be written and is then read alike.

#![no_main]

use libfuzzer_sys::fuzz_target;
use qlog::{Event, Happened, Header};

fuzz_target!(|bytes: &[u8]| match qlog::read(bytes) {
    Err(mistake) => assert_eq!(mistake.to_string().lines().count(), 1, "{mistake}"),
    Ok(traces) => {
        for trace in traces {
            assert!(trace.events.is_sorted_by(|a, b| a.time <= b.time) && trace.events.len() as u64 <= trace.total);
            // Packets sent are not written; and what is written counts from zero.
            let kept = |event: &Event| !matches!(event.happened, Happened::Sent(_)) && event.time <= 1e10;
            let events: Vec<Event> = trace.events.into_iter().filter(kept).collect();
            let mut written = Vec::new();
            qlog::write(&mut written, &Header::default(), &events).expect("a vector takes everything");
            let again = qlog::read(&written).expect("what was written is right").remove(0);
            assert_eq!(names(&again.events), names(&events));
        }
    }
});

/// The kinds of the events.
fn names(events: &[Event]) -> Vec<std::mem::Discriminant<Happened>> {
    events.iter().map(|event| std::mem::discriminant(&event.happened)).collect()
}
