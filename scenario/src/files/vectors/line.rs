//! The lines of a file of connection vectors, and the numbers in them.

use super::LineError;
use crate::problem::reason;
use control::Duration;
use std::io::{BufRead, Read};

/// The length of a line, in bytes, above which a file is refused. It bounds the memory that a file without line ends
/// takes.
const LONGEST_LINE: u64 = 1000;
/// The largest number that a line may have. As a time in microseconds it is about three months, as a size in bytes 8
/// TB; no run reaches either.
const LARGEST: u64 = 1 << 43;

/// Reads lines.
pub(super) struct Lines<R> {
    input: R,
    /// The number of the present line, from 1; 0 before the first line.
    number: u64,
    /// The present line.
    text: Vec<u8>,
    /// Whether the present line is also the next one.
    repeated: bool,
}

impl<R: BufRead> Lines<R> {
    /// Reads from the beginning of `input`.
    pub fn new(input: R) -> Lines<R> {
        Lines { input, number: 0, text: Vec::new(), repeated: false }
    }

    /// The number of the present line.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Makes the present line the next one, too.
    pub fn repeat(&mut self) {
        self.repeated = true;
    }

    /// The next line that is not empty. None at the end of the file.
    ///
    /// # Errors
    /// The line that cannot be read, or is too long.
    pub fn next(&mut self) -> Result<Option<Line>, LineError> {
        loop {
            if !std::mem::take(&mut self.repeated) {
                self.text.clear();
                self.number += 1;
                let mut line = (&mut self.input).take(LONGEST_LINE + 1);
                let read = line.read_until(b'\n', &mut self.text);
                let error = |message: String| Err(LineError { line: self.number, message });
                match read {
                    Err(e) => return error(format!("cannot be read ({}); check the file", reason(&e))),
                    Ok(0) => return Ok(None),
                    Ok(n) if n as u64 > LONGEST_LINE => {
                        let message = "is too long for a line of connection vectors; name a file of connection vectors";
                        return error(message.to_string());
                    }
                    Ok(_) => {}
                }
            }
            let text = String::from_utf8_lossy(&self.text);
            // A `#` begins a comment.
            let text = text.split('#').next().unwrap_or("").trim();
            if !text.is_empty() {
                return Ok(Some(Line { number: self.number, text: text.to_string() }));
            }
        }
    }
}

/// A line, divided into words.
pub(super) struct Line {
    /// Its number, from 1.
    number: u64,
    /// Its text, without a comment.
    text: String,
}

impl Line {
    /// The first word.
    pub fn first(&self) -> Option<&str> {
        self.text.split_whitespace().next()
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.text.split_whitespace().count()
    }

    /// The word at index `i`, or nothing.
    fn word(&self, i: usize) -> &str {
        self.text.split_whitespace().nth(i).unwrap_or("")
    }

    /// The error that this line is `what`.
    pub fn error(&self, what: &str) -> LineError {
        let shown: String = self.text.chars().take(60).collect();
        LineError { line: self.number, message: format!("`{shown}` {what}") }
    }

    /// The word at index `i` as a whole number from 0 to [`LARGEST`].
    pub fn whole_number(&self, i: usize) -> Result<u64, LineError> {
        match self.word(i).parse::<u64>() {
            Ok(number) if number <= LARGEST => Ok(number),
            Ok(number) => {
                Err(self.error(&format!("has the number {number}, which is too large; write at most {LARGEST}")))
            }
            Err(_) => {
                Err(self.error(&format!("has `{}` in place of a whole number, 0 or more; correct it", self.word(i))))
            }
        }
    }

    /// The word at index `i` as a time in microseconds.
    pub fn microseconds(&self, i: usize) -> Result<Duration, LineError> {
        Ok(Duration::from_micros(self.whole_number(i)?))
    }

    /// The word at index `i` as a probability, which is less than 1.
    pub fn probability(&self, i: usize) -> Result<f64, LineError> {
        match self.word(i).parse::<f64>() {
            Ok(p) if (0.0..1.0).contains(&p) => Ok(p),
            _ => Err(self.error(&format!("has `{}` in place of a probability below 1; correct it", self.word(i)))),
        }
    }
}
