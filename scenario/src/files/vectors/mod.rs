//! Files of connection vectors, the text format of Tmix: "ns Manual", chapter Tmix, and Weigle et al., "Tmix: a tool for
//! generating realistic TCP application workloads in ns-2", CCR 36(3), 2006.
//!
//! Both of its forms are read, line by line, so that memory does not grow with the file:
//!
//! ```text
//! SEQ 6851 1 21217 555382        S 6851 1 21217 555382       start in us, number of exchanges, two numbers of no meaning
//! w 64800 6432                   w 64800 6432                windows of initiator and acceptor, bytes
//! r 1176194                      r 1176194                   round-trip time, us
//! l 0.000000 0.000000            l 0.000000 0.000000         loss rates of initiator's and acceptor's packets
//! > 245                          I 0 0 245                   the initiator sends 245 bytes
//! t 51257                                                    the acceptor waits 51257 us
//! < 510                          A 0 51257 510               and answers 510 bytes
//! ```
//!
//! Concurrent connections begin with `CONC` or `C` and have two numbers of messages; their lines are `c>`, `c<`, `t>` and
//! `t<`, or `I` and `A` again. What is said of the connection's end (a last `t`, a message of 0 bytes) is read and not used.

use control::{Bytes, Duration, Time};
use experiment::traffic::{Arrivals, Connection, Message, Population, Side};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// No line of such a file is longer; whatever has one is something else.
const LONGEST_LINE: u64 = 1000;
/// No connection says more.
const MOST_MESSAGES: usize = 1_000_000;
/// Larger numbers stand for no time in microseconds (three months) and no size in bytes (8 TB) that a run can come to.
const LARGEST: u64 = 1 << 43;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Which line, from 1.
    pub line: u64,
    /// What is wrong; what to do.
    pub message: String,
}

/// Reads connection vectors.
pub struct Reader<R> {
    input: R,
    line: u64,
    /// The present line, and whether it is to be read again: it begins the next vector.
    text: Vec<u8>,
    again: bool,
    /// When the last connection started.
    last: Time,
}

/// How the messages of a connection are written.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Sequential,
    Concurrent,
    /// `I` and `A`, of either kind of connection.
    Alternate,
}

impl<R: BufRead> Reader<R> {
    /// Reads from the beginning of `input`.
    pub fn new(input: R) -> Reader<R> {
        Reader { input, line: 0, text: Vec::new(), again: false, last: Time::ZERO }
    }

    /// Reads the next vector into `connection`; says false at the end.
    ///
    /// # Errors
    /// What is wrong, and in which line.
    pub fn next(&mut self, connection: &mut Connection) -> Result<bool, Flaw> {
        connection.clear();
        let Some(head) = self.words()? else { return Ok(false) };
        let (form, concurrent, expected) = match (head.first(), head.len()) {
            (Some("SEQ"), 3..=5) => (Form::Sequential, false, [head.number(2)?; 2]),
            (Some("S"), 3..=5) => (Form::Alternate, false, [head.number(2)?; 2]),
            (Some("CONC"), 4..=6) => (Form::Concurrent, true, [head.number(2)?, head.number(3)?]),
            (Some("C"), 4..=6) => (Form::Alternate, true, [head.number(2)?, head.number(3)?]),
            _ => return Err(head.flaw("begins no connection; write one like `SEQ 6851 1 21217 555382`")),
        };
        connection.start = Time(head.microseconds(1)?.0);
        connection.concurrent = concurrent;
        if connection.start < self.last {
            return Err(head.flaw("starts before the connection above it; sort the file by start"));
        }
        self.last = connection.start;
        let begins = self.line;
        let flaw = |line, message: &str| Err(Flaw { line, message: message.to_string() });

        let (mut rtt, mut counts, mut waits) = (None, [0u64; 2], [Duration::ZERO; 2]);
        while let Some(words) = self.words()? {
            match (words.first(), words.len()) {
                (Some("SEQ" | "CONC" | "S" | "C"), _) => {
                    self.again = true;
                    break;
                }
                (Some("w"), 3) => {
                    let window = |bytes| (bytes > 0).then_some(Bytes(bytes));
                    connection.window = [window(words.number(1)?), window(words.number(2)?)];
                }
                (Some("r"), 2) => rtt = Some(words.microseconds(1)?),
                (Some("l"), 3) => connection.loss = [words.probability(1)?, words.probability(2)?],
                // Segment sizes, which some tools note.
                (Some("m"), 3) => {}
                (Some("t"), 2) if form == Form::Sequential => waits[0] += words.microseconds(1)?,
                (Some(t @ ("t>" | "t<")), 2) if form == Form::Concurrent => {
                    waits[usize::from(t == "t<")] += words.microseconds(1)?;
                }
                (Some(sign @ (">" | "<")), 2) if form == Form::Sequential => {
                    let from = if sign == ">" { Side::Initiator } else { Side::Acceptor };
                    let wait = std::mem::take(&mut waits[0]);
                    counts[from.index()] += 1;
                    connection.messages.push(Message { from, wait, size: Bytes(words.number(1)?) });
                }
                (Some(sign @ ("c>" | "c<")), 2) if form == Form::Concurrent => {
                    let from = if sign == "c>" { Side::Initiator } else { Side::Acceptor };
                    let wait = std::mem::take(&mut waits[from.index()]);
                    counts[from.index()] += 1;
                    connection.messages.push(Message { from, wait, size: Bytes(words.number(1)?) });
                }
                (Some(side @ ("I" | "A")), 4) if form == Form::Alternate => {
                    let from = if side == "I" { Side::Initiator } else { Side::Acceptor };
                    // One of the two is zero.
                    let wait = words.microseconds(1)?.max(words.microseconds(2)?);
                    let size = Bytes(words.number(3)?);
                    counts[from.index()] += u64::from(size > Bytes(0));
                    connection.messages.push(Message { from, wait, size });
                }
                _ => {
                    return Err(
                        words.flaw("is no line of such a connection; write one like `w`, `r`, `l`, `>`, `t`, `<`")
                    );
                }
            }
            if connection.messages.len() > MOST_MESSAGES {
                return flaw(self.line, &format!("the connection says more than {MOST_MESSAGES} things; write less"));
            }
        }
        // A message of no bytes is the end of the connection.
        connection.messages.retain(|message| message.size > Bytes(0));
        let Some(rtt) = rtt else {
            return flaw(begins, "the connection has no round-trip time; write one like `r 36556`");
        };
        connection.rtt = rtt;
        if connection.messages.is_empty() {
            return flaw(begins, "the connection says nothing; give it a message, like `> 245`");
        }
        let complete = if concurrent {
            counts[0] >= expected[0] && counts[1] >= expected[1]
        } else {
            counts[0].max(counts[1]) >= expected[0]
        };
        if !complete {
            return flaw(begins, "the connection has fewer messages than this says; the file may have lost its end");
        }
        Ok(true)
    }

    /// The words of the next line that has any; none at the end.
    fn words(&mut self) -> Result<Option<Words>, Flaw> {
        loop {
            if !std::mem::take(&mut self.again) {
                self.text.clear();
                self.line += 1;
                let mut line = (&mut self.input).take(LONGEST_LINE + 1);
                let read = line.read_until(b'\n', &mut self.text);
                let flaw = |message: String| Err(Flaw { line: self.line, message });
                match read {
                    Err(e) => return flaw(format!("cannot be read ({}); check the file", crate::reason(&e))),
                    Ok(0) => return Ok(None),
                    Ok(n) if n as u64 > LONGEST_LINE => {
                        let message = "is longer than any line of connection vectors; name a file of those";
                        return flaw(message.to_string());
                    }
                    Ok(_) => {}
                }
            }
            let text = String::from_utf8_lossy(&self.text);
            // What follows a `#` is a comment.
            let text = text.split('#').next().unwrap_or("").trim();
            if !text.is_empty() {
                return Ok(Some(Words { line: self.line, text: text.to_string() }));
            }
        }
    }
}

/// A line.
struct Words {
    line: u64,
    text: String,
}

impl Words {
    fn first(&self) -> Option<&str> {
        self.text.split_whitespace().next()
    }

    fn len(&self) -> usize {
        self.text.split_whitespace().count()
    }

    fn word(&self, i: usize) -> &str {
        self.text.split_whitespace().nth(i).unwrap_or("")
    }

    fn flaw(&self, what: &str) -> Flaw {
        let shown: String = self.text.chars().take(60).collect();
        Flaw { line: self.line, message: format!("`{shown}` {what}") }
    }

    /// A whole number, 0 or more.
    fn number(&self, i: usize) -> Result<u64, Flaw> {
        match self.word(i).parse::<u64>() {
            Ok(number) if number <= LARGEST => Ok(number),
            Ok(number) => {
                Err(self.flaw(&format!("has the number {number}, which is too large; write at most {LARGEST}")))
            }
            Err(_) => {
                Err(self.flaw(&format!("has `{}` in place of a whole number, 0 or more; correct it", self.word(i))))
            }
        }
    }

    fn microseconds(&self, i: usize) -> Result<Duration, Flaw> {
        Ok(Duration::from_micros(self.number(i)?))
    }

    fn probability(&self, i: usize) -> Result<f64, Flaw> {
        match self.word(i).parse::<f64>() {
            Ok(p) if (0.0..1.0).contains(&p) => Ok(p),
            _ => Err(self.flaw(&format!("has `{}` in place of a probability below 1; correct it", self.word(i)))),
        }
    }
}

/// Writes `connection` in the original form; `number` tells it from others. Times are rounded to microseconds.
///
/// # Errors
/// Those of writing.
pub fn write(out: &mut impl Write, number: u64, connection: &Connection) -> io::Result<()> {
    let us = |time: Duration| (time.0 + 500_000) / 1_000_000;
    let count = |side| connection.messages.iter().filter(|message| message.from == side).count();
    let (mine, theirs) = (count(Side::Initiator), count(Side::Acceptor));
    let start = us(Duration(connection.start.0));
    match connection.concurrent {
        true => writeln!(out, "CONC {start} {mine} {theirs} {number} {number}")?,
        false => writeln!(out, "SEQ {start} {} {number} {number}", mine.max(theirs))?,
    }
    let [w, v] = connection.window.map(|window| window.unwrap_or_default().0);
    let [l, m] = connection.loss;
    writeln!(out, "w {w} {v}\nr {}\nl {l:.6} {m:.6}", us(connection.rtt))?;
    for Message { from, wait, size } in &connection.messages {
        let mark = if *from == Side::Initiator { '>' } else { '<' };
        let (c, of_whom) = if connection.concurrent { ("c", mark.to_string()) } else { ("", String::new()) };
        if *wait > Duration::ZERO {
            writeln!(out, "t{of_whom} {}", us(*wait))?;
        }
        writeln!(out, "{c}{mark} {}", size.0)?;
    }
    Ok(())
}

/// What a file holds, up to some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contents {
    /// Connections that start before that time.
    pub connections: u64,
    /// Their messages.
    pub messages: u64,
    /// What initiators and acceptors send.
    pub bytes: [u64; 2],
    /// The least round-trip time.
    pub least_rtt: Option<Duration>,
}

impl Contents {
    fn add(&mut self, connection: &Connection) {
        self.connections += 1;
        self.messages += connection.messages.len() as u64;
        for message in &connection.messages {
            self.bytes[message.from.index()] += message.size.0;
        }
        self.least_rtt = Some(self.least_rtt.map_or(connection.rtt, |least| least.min(connection.rtt)));
    }
}

/// Writes all of `population`, in the original form, as long as `go_on` says so; returns none if it did not.
///
/// # Errors
/// Those of writing, and that the population cannot be read.
pub fn write_all(
    out: &mut impl Write,
    population: &dyn Population,
    go_on: &mut dyn FnMut() -> bool,
) -> io::Result<Option<Contents>> {
    let (mut arrivals, mut connection) = (population.arrivals().map_err(io::Error::other)?, Connection::default());
    let mut contents = Contents::default();
    while arrivals.next(&mut connection).map_err(io::Error::other)? {
        contents.add(&connection);
        write(out, contents.connections, &connection)?;
        if contents.connections % 1000 == 0 && !go_on() {
            return Ok(None);
        }
    }
    Ok(Some(contents))
}

/// Goes through the vectors of `input` that start before `until`.
///
/// # Errors
/// The first thing that is wrong with them.
pub fn scan(input: impl BufRead, until: Time) -> Result<Contents, Flaw> {
    let (mut reader, mut connection) = (Reader::new(input), Connection::default());
    let mut contents = Contents::default();
    while reader.next(&mut connection)? && connection.start < until {
        contents.add(&connection);
    }
    if contents.connections == 0 && connection.messages.is_empty() {
        let message = "there is no connection in it; name a file of connection vectors";
        return Err(Flaw { line: reader.line, message: message.to_string() });
    }
    Ok(contents)
}

/// The connections in a file; it is read as the run goes on.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// The file.
    pub file: PathBuf,
}

/// Opens a file that can be read more than once.
///
/// # Errors
/// Why it cannot.
pub fn open(file: &Path) -> io::Result<BufReader<File>> {
    // Before it is opened: that of a pipe waits for its writer.
    if !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    Ok(BufReader::with_capacity(1 << 16, File::open(file)?))
}

impl Population for Vectors {
    fn arrivals(&self) -> Result<Box<dyn Arrivals>, String> {
        let input =
            open(&self.file).map_err(|e| format!("{}: cannot be read ({})", self.file.display(), crate::reason(&e)))?;
        Ok(Box::new(Replay { name: self.file.display().to_string(), reader: Reader::new(input) }))
    }
}

struct Replay<R> {
    name: String,
    reader: Reader<R>,
}

impl<R: BufRead + Send> Arrivals for Replay<R> {
    fn next(&mut self, connection: &mut Connection) -> Result<bool, String> {
        self.reader.next(connection).map_err(|Flaw { line, message }| format!("{}:{line}: {message}", self.name))
    }
}

#[cfg(test)]
mod tests;
