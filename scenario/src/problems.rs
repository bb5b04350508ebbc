//! The problems that checks find in a scenario, each with the key that it concerns.

use super::key_path::KeyPath;

/// The problems found so far. Checks add to it and go on, so that a user is told of all mistakes at once.
#[derive(Default)]
pub(super) struct Problems {
    /// The key and the message of each problem, in the order in which the checks found them.
    pub found: Vec<(KeyPath, String)>,
}

impl Problems {
    /// Adds a problem with the key `at`. The message says what is wrong and, after a semicolon, what to do.
    pub fn add(&mut self, at: KeyPath, message: impl Into<String>) {
        self.found.push((at, message.into()));
    }

    /// Adds a problem unless `holds` is true.
    pub fn unless(&mut self, holds: bool, at: KeyPath, message: impl Into<String>) {
        if !holds {
            self.add(at, message);
        }
    }
}
