//! Writing connection vectors.

use super::contents::Contents;
use control::Duration;
use experiment::traffic::{Connection, Message, Population, Side};
use std::io::{self, Write};

/// Writes `connection` in the original form. The connection is given this `number`, to tell it from others. Times are
/// rounded to microseconds.
///
/// # Errors
/// Writing fails.
pub fn write(out: &mut impl Write, number: u64, connection: &Connection) -> io::Result<()> {
    let us = |time: Duration| (time.0 + 500_000) / 1_000_000;
    let count = |side| connection.messages.iter().filter(|message| message.from == side).count();
    let (initiators, acceptors) = (count(Side::Initiator), count(Side::Acceptor));
    let start = us(Duration(connection.start.0));
    match connection.concurrent {
        true => writeln!(out, "CONC {start} {initiators} {acceptors} {number} {number}")?,
        false => writeln!(out, "SEQ {start} {} {number} {number}", initiators.max(acceptors))?,
    }
    let [w, v] = connection.window.map(|window| window.unwrap_or_default().0);
    let [l, m] = connection.loss;
    writeln!(out, "w {w} {v}\nr {}\nl {l:.6} {m:.6}", us(connection.rtt))?;
    for Message { from, wait, size } in &connection.messages {
        let mark = if *from == Side::Initiator { '>' } else { '<' };
        let (c, side) = if connection.concurrent { ("c", mark.to_string()) } else { ("", String::new()) };
        if *wait > Duration::ZERO {
            writeln!(out, "t{side} {}", us(*wait))?;
        }
        writeln!(out, "{c}{mark} {}", size.0)?;
    }
    Ok(())
}

/// Writes all connections of `population` in the original form. Stops when `go_on`, which is asked after every 1000
/// connections, returns false; then the result is none.
///
/// # Errors
/// Writing fails, or the population cannot be read.
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
