//! No bytes make the reader of connection vectors panic, hang or take much memory, and the error that it reports is one
//! line.
//!
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none vectors` runs it. A file to begin with: `mkdir -p fuzz/corpus/vectors`,
//! then `cargo run --release -- vectors --load 1Mbps --duration 1s --out fuzz/corpus/vectors/mix.cvec`.

#![no_main]

use control::Time;
use libfuzzer_sys::fuzz_target;
use scenario::vectors;

fuzz_target!(|bytes: &[u8]| match vectors::scan(bytes, Time::MAX) {
    Ok(contents) => assert!(contents.connections > 0 && contents.messages >= contents.connections),
    Err(error) => assert!(error.line > 0 && error.message.lines().count() == 1),
});
