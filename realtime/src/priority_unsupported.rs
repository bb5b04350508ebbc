//! Which threads the system schedules before others, on systems where this crate cannot tell it.

/// Changes nothing, and returns false: this thread is scheduled as others are.
pub fn hurry(_: u8) -> bool {
    false
}

/// Changes nothing, and returns false: this thread is woken as others are.
pub fn wake_in_time() -> bool {
    false
}
