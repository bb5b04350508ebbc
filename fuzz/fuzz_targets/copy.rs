//! The messages of the copy protocol: no bytes make the decoder panic, and a decoded message is encoded into an equal
//! one.
#![no_main]

use copy::frame::{decode, encode, read};
use copy::message::{Answer, Offer, Piece, Request, Response};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn try_as<T: DeserializeOwned + Serialize + PartialEq>(bytes: &[u8]) {
    if let Ok(message) = decode::<T>(bytes) {
        let again = encode(&message).expect("a decoded message can be encoded");
        assert!(decode::<T>(&again[4..]).is_ok_and(|same| same == message));
    }
    let mut rest = bytes;
    while read::<T>(&mut rest).is_ok() {}
}

fuzz_target!(|data: &[u8]| {
    try_as::<Request>(data);
    try_as::<Response>(data);
    try_as::<Offer>(data);
    try_as::<Answer>(data);
    try_as::<Piece>(data);
});
