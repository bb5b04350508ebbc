//! Reading connection vectors.

use super::LineError;
use super::line::Lines;
use control::{Bytes, Duration, Time};
use experiment::traffic::{Connection, Message, Side};
use std::io::BufRead;

/// The most messages that a connection may have. It bounds the memory that reading takes.
const MOST_MESSAGES: usize = 1_000_000;

/// Reads connection vectors, one after the other.
pub struct Reader<R> {
    lines: Lines<R>,
    /// When the last connection started; connections must be sorted by start.
    last_start: Time,
}

/// How the messages of a connection are written.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// `>`, `<` and `t`.
    Sequential,
    /// `c>`, `c<`, `t>` and `t<`.
    Concurrent,
    /// `I` and `A`, of sequential and of concurrent connections.
    Alternate,
}

impl<R: BufRead> Reader<R> {
    /// Reads from the beginning of `input`.
    pub fn new(input: R) -> Reader<R> {
        Reader { lines: Lines::new(input), last_start: Time::ZERO }
    }

    /// Reads the next vector into `connection`. Returns false at the end of the file.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn next(&mut self, connection: &mut Connection) -> Result<bool, LineError> {
        connection.clear();
        let Some(head) = self.lines.next()? else { return Ok(false) };
        let (form, concurrent, expected) = match (head.first(), head.len()) {
            (Some("SEQ"), 3..=5) => (Form::Sequential, false, [head.whole_number(2)?; 2]),
            (Some("S"), 3..=5) => (Form::Alternate, false, [head.whole_number(2)?; 2]),
            (Some("CONC"), 4..=6) => (Form::Concurrent, true, [head.whole_number(2)?, head.whole_number(3)?]),
            (Some("C"), 4..=6) => (Form::Alternate, true, [head.whole_number(2)?, head.whole_number(3)?]),
            _ => return Err(head.error("does not begin a connection; write one like `SEQ 6851 1 21217 555382`")),
        };
        connection.start = Time(head.microseconds(1)?.0);
        connection.concurrent = concurrent;
        if connection.start < self.last_start {
            return Err(head.error("starts before the connection above it; sort the file by start"));
        }
        self.last_start = connection.start;
        let begins = self.lines.number();
        let error = |line, message: &str| Err(LineError { line, message: message.to_string() });

        let (mut rtt, mut counts, mut waits) = (None, [0u64; 2], [Duration::ZERO; 2]);
        while let Some(words) = self.lines.next()? {
            match (words.first(), words.len()) {
                (Some("SEQ" | "CONC" | "S" | "C"), _) => {
                    self.lines.repeat();
                    break;
                }
                (Some("w"), 3) => {
                    let window = |bytes| (bytes > 0).then_some(Bytes(bytes));
                    connection.window = [window(words.whole_number(1)?), window(words.whole_number(2)?)];
                }
                (Some("r"), 2) => rtt = Some(words.microseconds(1)?),
                (Some("l"), 3) => connection.loss = [words.probability(1)?, words.probability(2)?],
                // Some tools write segment sizes, which are not used.
                (Some("m"), 3) => {}
                (Some("t"), 2) if form == Form::Sequential => waits[0] += words.microseconds(1)?,
                (Some(t @ ("t>" | "t<")), 2) if form == Form::Concurrent => {
                    waits[usize::from(t == "t<")] += words.microseconds(1)?;
                }
                (Some(sign @ (">" | "<")), 2) if form == Form::Sequential => {
                    let from = if sign == ">" { Side::Initiator } else { Side::Acceptor };
                    let wait = std::mem::take(&mut waits[0]);
                    counts[from.index()] += 1;
                    connection.messages.push(Message { from, wait, size: Bytes(words.whole_number(1)?) });
                }
                (Some(sign @ ("c>" | "c<")), 2) if form == Form::Concurrent => {
                    let from = if sign == "c>" { Side::Initiator } else { Side::Acceptor };
                    let wait = std::mem::take(&mut waits[from.index()]);
                    counts[from.index()] += 1;
                    connection.messages.push(Message { from, wait, size: Bytes(words.whole_number(1)?) });
                }
                (Some(side @ ("I" | "A")), 4) if form == Form::Alternate => {
                    let from = if side == "I" { Side::Initiator } else { Side::Acceptor };
                    // One of the two times is zero.
                    let wait = words.microseconds(1)?.max(words.microseconds(2)?);
                    let size = Bytes(words.whole_number(3)?);
                    counts[from.index()] += u64::from(size > Bytes(0));
                    connection.messages.push(Message { from, wait, size });
                }
                _ => {
                    return Err(
                        words.error("is not a line of such a connection; write one like `w`, `r`, `l`, `>`, `t`, `<`")
                    );
                }
            }
            if connection.messages.len() > MOST_MESSAGES {
                return error(
                    self.lines.number(),
                    &format!("the connection has more than {MOST_MESSAGES} messages; write fewer"),
                );
            }
        }
        // A message of 0 bytes stands for the end of the connection.
        connection.messages.retain(|message| message.size > Bytes(0));
        let Some(rtt) = rtt else {
            return error(begins, "the connection has no round-trip time; write one like `r 36556`");
        };
        connection.rtt = rtt;
        if connection.messages.is_empty() {
            return error(begins, "the connection has no message; give it one, like `> 245`");
        }
        let complete = if concurrent {
            counts[0] >= expected[0] && counts[1] >= expected[1]
        } else {
            counts[0].max(counts[1]) >= expected[0]
        };
        if !complete {
            return error(
                begins,
                "the connection has fewer messages than this line says; check whether the file was cut off",
            );
        }
        Ok(true)
    }

    /// The number of the line that was read last, from 1.
    pub(super) fn line(&self) -> u64 {
        self.lines.number()
    }
}
