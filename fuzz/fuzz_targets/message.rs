//! The messages about stamps, which a peer sends over the connection: no bytes make the decoder panic, a decoded
//! message is encoded into an equal one, and the receiver that a message asks for is built or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::fuzzing::{Message, receiver};

fuzz_target!(|bytes: &[u8]| {
    let Some(message) = Message::decode(bytes) else { return };
    if let Some(again) = message.encode() {
        assert_eq!(Message::decode(&again).as_ref(), Some(&message));
    }
    if let Message::Ask { controller, parameters } = &message {
        receiver(controller, parameters, 1200);
    }
});
