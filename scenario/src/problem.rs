//! One problem with a scenario, as users see it: a line that names the file, the place, the key and the remedy.

use std::fmt;

/// One thing that is wrong with a scenario, and what to do about it. Displays as one line:
/// `gigabit.toml:12:8: path.rate: <what is wrong>; <what to do>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the user named it.
    pub file: String,
    /// Where in the file, or outside of it, the cause is.
    pub location: Location,
    /// The key, such as `flow[2].start`; empty if the problem concerns the file as a whole.
    pub key: String,
    /// What is wrong, a semicolon, and what to do.
    pub message: String,
}

/// Where the cause of a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// At this line and column of the file.
    At {
        /// The line, counted from 1.
        line: usize,
        /// The column in characters, counted from 1.
        column: usize,
    },
    /// In a `--set` of the command line.
    Set,
    /// The file as a whole.
    File,
}

impl Problem {
    /// A problem with the file as a whole.
    pub(super) fn of_file(file: &str, message: &str) -> Problem {
        Problem { file: file.into(), location: Location::File, key: String::new(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { file, location, key, message } = self;
        let mut line = match location {
            Location::At { line, column } => format!("{file}:{line}:{column}: "),
            Location::Set => format!("{file}: --set "),
            Location::File => format!("{file}: "),
        };
        if !key.is_empty() {
            line += &format!("{key}: ");
        }
        line += message;
        f.write_str(&one_line(&line))
    }
}

/// `text` without characters that break the line or control the terminal, cut off after some 600 bytes. Messages quote
/// keys and values of the user, which may contain any character and be of any length.
fn one_line(text: &str) -> String {
    /// The length of a message, in bytes, after which the rest is cut off.
    const LONGEST: usize = 600;
    let mut line = String::new();
    for c in text.chars() {
        match c {
            // Besides control characters: line and paragraph separators, and marks that change the direction of
            // writing.
            c if c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                line.extend(c.escape_default());
            }
            c => line.push(c),
        }
        if line.len() > LONGEST {
            line.push('…');
            break;
        }
    }
    line
}

/// The operating system's description of `error`, in lower case and without the error number.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
