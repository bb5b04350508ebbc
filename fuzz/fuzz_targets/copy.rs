//! What the two ends of a copy tell each other: no bytes make the reader panic, and what is read is what was written. From the
//! root: `cargo +nightly fuzz run copy`
#![no_main]

use copy::message::{Answer, Hello, Offer, Piece, Welcome, decode, encode, read};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn try_as<T: DeserializeOwned + Serialize + PartialEq>(bytes: &[u8]) {
    if let Ok(message) = decode::<T>(bytes) {
        let again = encode(&message).expect("it was read");
        assert!(decode::<T>(&again[4..]).is_ok_and(|same| same == message));
    }
    let mut rest = bytes;
    while read::<T>(&mut rest).is_ok() {}
}

fuzz_target!(|data: &[u8]| {
    try_as::<Hello>(data);
    try_as::<Welcome>(data);
    try_as::<Offer>(data);
    try_as::<Answer>(data);
    try_as::<Piece>(data);
});
