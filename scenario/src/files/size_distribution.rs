//! Files with the empirical distribution of sizes.

use super::line_error::LineError;
use crate::problem::reason;
use experiment::traffic::Sizes;
use std::io::{BufRead, Read};

/// The most points that a distribution may have.
const MOST_POINTS: usize = 100_000;
/// The length of a line, in bytes, above which a file is refused. It bounds the memory that a file without line ends
/// takes.
const LONGEST_LINE: u64 = 1000;
/// How to correct a line that cannot be read.
const HELP: &str = "write a line like `1460 0.5`";

/// Reads an empirical distribution. Each line has a size in bytes and the share of sizes that are not larger; neither
/// may fall from line to line, and the last share is 1. A `#` begins a comment.
///
/// # Errors
/// The first line that is wrong.
pub(crate) fn read(mut input: impl BufRead) -> Result<Sizes, LineError> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for number in 1.. {
        let mut line = Vec::new();
        let flaw = |message: String| Err(LineError { line: number, message });
        let read = (&mut input).take(LONGEST_LINE + 1).read_until(b'\n', &mut line);
        match read {
            Err(e) => return flaw(format!("cannot be read ({}); check the file", reason(&e))),
            Ok(0) => break,
            Ok(n) if n as u64 > LONGEST_LINE => {
                return flaw("is too long for a size and a share; name a file of sizes and shares".into());
            }
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let words: Vec<&str> = text.split('#').next().unwrap_or("").split_whitespace().collect();
        let (size, share) = match words[..] {
            [] => continue,
            [size, share] => match (size.parse::<f64>(), share.parse::<f64>()) {
                (Ok(size), Ok(share)) if (0.0..=1e15).contains(&size) && (0.0..=1.0).contains(&share) => (size, share),
                _ => return flaw(format!("is not a size in bytes and a share of 0 to 1; {HELP}")),
            },
            _ => return flaw(format!("is not a size in bytes and a share of 0 to 1; {HELP}")),
        };
        if points.last().is_some_and(|&(before, up_to)| size < before || share < up_to) {
            return flaw("has a smaller size or share than the line above it; sort the file".into());
        }
        // A point that is given twice adds nothing.
        if points.last().is_some_and(|&(before, up_to)| share == up_to && size == before) {
            continue;
        }
        points.push((size, share));
        if points.len() > MOST_POINTS {
            return flaw(format!("is one of more than {MOST_POINTS} points; write fewer lines"));
        }
    }
    match points.last() {
        Some((_, 1.0)) => Ok(Sizes::Empirical(points.into())),
        Some((_, share)) => {
            Err(LineError { line: points.len() as u64, message: format!("the last share is {share}; write 1 there") })
        }
        None => {
            let message = "the file has no points; write lines like `1460 0.5`, the last with a share of 1";
            Err(LineError { line: 1, message: message.into() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_read_or_its_wrong_line_is_named() {
        let sizes = read("# web\n100 0\n1000 0.5\n\n9000 1 # the end\n".as_bytes()).unwrap();
        assert_eq!(sizes, Sizes::Empirical([(100.0, 0.0), (1000.0, 0.5), (9000.0, 1.0)].into()));
        assert_eq!(sizes.mean(), 0.5 * 550.0 + 0.5 * 5000.0);
        for (text, line, part) in [
            ("", 1, "no points"),
            ("100 0.5\n", 1, "the last share is 0.5"),
            ("100 0.5\n90 1\n", 2, "sort the file"),
            ("100 -0.5\n", 1, "not a size in bytes and a share"),
            ("100 0.5 7\n", 1, "not a size in bytes and a share"),
            ("100 nan\n", 1, "not a size in bytes and a share"),
            (&"1".repeat(2000), 1, "too long"),
        ] {
            let LineError { line: at, message } = read(text.as_bytes()).unwrap_err();
            assert!(at == line && message.contains(part) && message.contains("; "), "{text}: {at}: {message}");
        }
    }
}
