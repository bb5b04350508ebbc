//! The receiver of a copy: no sender makes it panic, wait for ever, fill the disk with what was not asked for, or touch
//! anything outside of its folder. The input chooses the options, and has the sender's two streams: messages are
//! encoded from it, so that most of them are in order.
#![no_main]

use copy::frame::encode;
use copy::message::{Attributes, Offer, Piece, SourcePath};
use copy::{Options, fuzzing};
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

/// The folder of this process, in memory if the system has such a place. The receiver's folder is in it.
static HOME: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = [PathBuf::from("/dev/shm"), std::env::temp_dir()].into_iter().find(|place| place.is_dir());
    place.expect("a folder for temporary files").join(format!("thalweg-fuzz-{}", std::process::id()))
});
/// Names in offers: of files that are there, of folders, and of things that must not be touched.
const NAMES: [&[u8]; 8] = [b"", b"a", b"b", b"folder", b"folder/c", b"link", b"link/d", b"../outside"];
/// Sizes and offsets.
const SIZES: [u64; 8] = [0, 1, 5, 100, 4096, 70_000, 1 << 40, u64::MAX];
/// What is in the files that are there.
const THERE: &[u8] = &[7; 100];

fuzz_target!(|data: &[u8]| {
    let Some((&[options], steps)) = data.split_first_chunk() else { return };
    let to = HOME.join("to");
    prepare();
    let options = Options { recursive: options & 1 != 0, preserve: options & 2 != 0, sync: options & 4 != 0 };
    let (mut offers, mut contents) = (Vec::new(), Vec::new());
    let mut id = 0;
    let mut rest = steps;
    while let Some((&[kind, a, b], after)) = rest.split_first_chunk() {
        rest = after;
        if kind & 8 == 0 {
            let path = SourcePath { source: u32::from(a >> 6), path: name(a) };
            let offer = match kind & 7 {
                0..3 => {
                    id += 1;
                    Offer::File { id: id - 1, path, size: size(b) }
                }
                3 => Offer::Hash { id: (a >> 4).into(), hash: (a & 8 == 0).then(|| hash(b)) },
                4 => Offer::Folder(path, attributes(b)),
                5 if a & 1 != 0 => Offer::Hash { id: (a >> 4).into(), hash: (b > 0).then(|| hash(b)) },
                5 => Offer::Problem(path, "\u{1b}[2J".repeat(b.into())),
                6 => Offer::End,
                _ => Offer::Goodbye(Default::default()),
            };
            offers.extend(encode(&offer).expect("a short message"));
        } else {
            let piece = match kind & 7 {
                0 | 1 => {
                    Piece::Begin { id: (a >> 4).into(), offset: size(a), size: size(b), attributes: attributes(b) }
                }
                2 | 3 => Piece::Data(b.into()),
                4 => Piece::Hole(size(b)),
                5 => Piece::End { hash: hash(a), changed: b & 1 != 0 },
                6 => Piece::Abandoned("why".into()),
                _ => Piece::Over,
            };
            contents.extend(encode(&piece).expect("a short message"));
            if let Piece::Data(length) = piece {
                contents.extend(vec![a; length as usize]);
            }
        }
    }
    fuzzing::receive(&to, options, &offers, &contents);
    assert_eq!(fs::read(HOME.join("outside")).expect("it is there"), THERE, "a file outside was changed");
    assert_eq!(fs::read_dir(&*HOME).expect("it is there").count(), 2, "a file outside was made");
});

/// The folder as it is before each copy.
fn prepare() {
    let to = HOME.join("to");
    let _ = fs::remove_dir_all(&*HOME);
    fs::create_dir_all(to.join("folder")).expect("room");
    // The last one is the partial file of an interrupted copy of `b`.
    let partial = format!("to/.b.thalweg-{}", &blake3::hash(b"b").to_hex()[..8]);
    for file in ["outside", "to/a", "to/folder/c", &partial] {
        fs::write(HOME.join(file), THERE).expect("room");
    }
    std::os::unix::fs::symlink("..", to.join("link")).expect("room");
}

fn name(byte: u8) -> Vec<u8> {
    NAMES[usize::from(byte) % NAMES.len()].to_vec()
}

fn size(byte: u8) -> u64 {
    SIZES[usize::from(byte) % SIZES.len()]
}

fn attributes(byte: u8) -> Attributes {
    let time = (i64::from(byte) << (byte % 60), u32::from(byte) << 23);
    Attributes { mode: u32::from(byte) << 4 | 0o700, modified: time, accessed: time }
}

/// The hash of what [`THERE`] has, of nothing, or of a piece that could have come.
fn hash(byte: u8) -> [u8; 32] {
    let contents = if byte == u8::MAX { THERE } else { &vec![byte; usize::from(byte)] };
    *blake3::hash(contents).as_bytes()
}
