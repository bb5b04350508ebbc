//! What is wrong with a scenario, in one line.

use std::fmt;

/// One thing that is wrong with a scenario, and what to do about it. Displays as one line:
/// `gigabit.toml:12:8: path.rate: <what is wrong>; <what to do>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the user named it.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// The key, such as `flow[2].start`; empty if the problem is the file itself.
    pub key: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// Where a problem lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the file, lines and columns counted from 1; columns count characters.
    At {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
    },
    /// In a `--set` on the command line.
    Set,
    /// The file itself.
    File,
}

impl Problem {
    /// A problem with the file as a whole.
    pub(super) fn of_file(file: &str, message: &str) -> Problem {
        Problem { file: file.into(), place: Place::File, key: String::new(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { file, place, key, message } = self;
        let mut line = match place {
            Place::At { line, column } => format!("{file}:{line}:{column}: "),
            Place::Set => format!("{file}: --set "),
            Place::File => format!("{file}: "),
        };
        if !key.is_empty() {
            line += &format!("{key}: ");
        }
        line += message;
        f.write_str(&one_line(&line))
    }
}

/// Keys and values are quoted in messages, and they may contain anything and be of any length.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 600;
    let mut line = String::new();
    for c in text.chars() {
        match c {
            // Some of these move the cursor or turn the direction of writing, and none can be seen.
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

/// What the system says of an error, in its words but without its number.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
