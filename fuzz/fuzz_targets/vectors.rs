//! No bytes make the reader of connection vectors panic, hang or take much memory, and the error that it reports is one
//! line.

#![no_main]

use control::Time;
use libfuzzer_sys::fuzz_target;
use scenario::vectors;

fuzz_target!(|bytes: &[u8]| match vectors::scan(bytes, Time::MAX) {
    Ok(contents) => assert!(contents.connections > 0 && contents.messages >= contents.connections),
    Err(error) => assert!(error.line > 0 && error.message.lines().count() == 1),
});
