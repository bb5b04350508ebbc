//! The problems that checks find in a scenario, each with the key that it concerns.

use super::key_path::KeyPath;

/// The problems found so far. Checks add to it and go on, so that a user is told of all mistakes at once.
#[derive(Default)]
pub(super) struct Problems {
    /// The key and the message of each problem, in the order in which the checks found them.
    pub found: Vec<(KeyPath, String)>,
}

impl Problems {
    /// Adds a problem with the key `at`. The message says what is wrong and, after a semicolon, what to do. A problem
    /// that was found before is not added again: a key of a link may hold for both of its directions.
    pub fn add(&mut self, at: KeyPath, message: impl Into<String>) {
        let problem = (at, message.into());
        if !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    /// Adds a problem unless `holds` is true.
    pub fn unless(&mut self, holds: bool, at: KeyPath, message: impl Into<String>) {
        if !holds {
            self.add(at, message);
        }
    }
}
