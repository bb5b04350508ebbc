//! Which thread goes before which, where that cannot be said.

/// Nothing goes before others here.
pub fn hurry(_: u8) -> bool {
    false
}

/// Nor is anything woken in time because it asks.
pub fn wake_in_time() -> bool {
    false
}
