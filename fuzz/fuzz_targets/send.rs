//! The sender of a copy: no receiver makes it panic or wait for ever. The input is the receiver's answers: messages are
//! encoded from it, so that most of them are in order.
#![no_main]

use copy::frame::encode;
use copy::fuzzing;
use copy::message::{Answer, SourcePath};
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

/// The folder that is sent: an empty file, two short ones and a folder.
static FROM: LazyLock<PathBuf> = LazyLock::new(|| {
    let from = std::env::temp_dir().join(format!("thalweg-fuzz-{}", std::process::id()));
    fs::create_dir_all(from.join("folder")).expect("room");
    for (file, size) in [("a", 0), ("b", 100), ("folder/c", 5000)] {
        fs::write(from.join(file), vec![7; size]).expect("room");
    }
    from
});
/// Lengths, offsets and positions.
const SIZES: [u64; 8] = [0, 1, 99, 100, 101, 5000, 1 << 40, u64::MAX];

fuzz_target!(|data: &[u8]| {
    let mut answers = Vec::new();
    for &[kind, a, b] in data.as_chunks::<3>().0 {
        let (id, size) = (u64::from(a % 4), SIZES[usize::from(b) % SIZES.len()]);
        let answer = match kind % 9 {
            0 | 1 => Answer::Want { id, offset: size },
            2 | 3 => Answer::Compare { id, length: size },
            4 => Answer::Progress { id, position: size, received: SIZES[usize::from(a) % SIZES.len()] },
            5 => Answer::Done(id),
            6 => Answer::Failed(id, "\u{1b}[2J".repeat(b.into())),
            7 if b & 1 != 0 => Answer::Unflushed(vec![b; a.into()], "why".into()),
            7 => Answer::Problem(SourcePath { source: a.into(), path: vec![b; a.into()] }, "why".into()),
            _ => Answer::Finished { received: size },
        };
        answers.extend(encode(&answer).expect("a short message"));
    }
    fuzzing::send(&FROM, &answers);
});
