//! Files with traces of delivery opportunities: a whole number of milliseconds per line.

use super::regular;
use crate::problem::reason;
use path::Trace;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most opportunities that a trace may have: they take 40 MB of memory, and last an hour at 33 Mbps.
const MOST: usize = 10_000_000;
/// The length of a line, in bytes, at which a file is refused. It bounds the memory that a file without line ends
/// takes.
const LONGEST_LINE: u64 = 40;
/// How to correct a trace.
const HELP: &str = "write one whole number of milliseconds per line, none less than the one before";

/// The traces that the runs of a plan follow. Each file is read once.
pub(crate) struct TraceFiles<'a> {
    /// Has the texts of traces that are not read from files, by name.
    beside: &'a dyn Fn(&str) -> Option<String>,
    /// The folder of the scenario.
    folder: PathBuf,
    /// What was read so far, or what is wrong with it, by name.
    read: RefCell<HashMap<String, Result<Arc<Trace>, String>>>,
}

impl TraceFiles<'_> {
    /// The traces of a scenario in `folder`. A trace whose text `beside` has is not read from a file.
    pub fn new<'a>(folder: &Path, beside: &'a dyn Fn(&str) -> Option<String>) -> TraceFiles<'a> {
        TraceFiles { beside, folder: folder.to_path_buf(), read: RefCell::default() }
    }

    /// The trace that the scenario calls `name`.
    ///
    /// # Errors
    /// The file, the line, what is wrong there, and what to do.
    pub fn get(&self, name: &str) -> Result<Arc<Trace>, String> {
        let mut all = self.read.borrow_mut();
        let of_name = || match (self.beside)(name) {
            Some(text) => parse(name, &mut text.as_bytes(), MOST),
            None => read(&self.folder.join(name), MOST),
        };
        all.entry(name.to_string()).or_insert_with(|| of_name().map(Arc::new)).clone()
    }
}

/// Reads the trace in `file`, which may have at most `most` lines.
fn read(file: &Path, most: usize) -> Result<Trace, String> {
    let name = file.display().to_string();
    let mut input = regular::open(file).map_err(|e| unreadable(&name, &e))?;
    parse(&name, &mut input, most)
}

/// The message for a file that cannot be read.
fn unreadable(name: &str, error: &std::io::Error) -> String {
    format!("{name} cannot be read ({}); check its name and permissions", reason(error))
}

/// Reads the trace called `name` from `reader`, which may have at most `most` lines.
fn parse(name: &str, reader: &mut dyn BufRead, most: usize) -> Result<Trace, String> {
    let mut stamps: Vec<u32> = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line is read only as far as it may be long, because a file may be a single line of any length.
        if (&mut *reader).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(|e| unreadable(name, &e))? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        let wrong = |what: String| Err(format!("{name}:{}: {what}; {HELP}", stamps.len() + 1));
        let too_long = line.len() as u64 == LONGEST_LINE && line.last() != Some(&b'\n');
        match text.parse::<u32>() {
            _ if too_long => return wrong(format!("`{text}...` is too long for a whole number")),
            _ if text.is_empty() => return wrong("the line is empty".into()),
            Err(_) if text.starts_with('-') => return wrong(format!("`{text}` is negative")),
            Err(_) if text.bytes().all(|b| b.is_ascii_digit()) => return wrong(format!("{text} ms is too large")),
            Err(_) => return wrong(format!("`{text}` is not a whole number")),
            Ok(stamp) if stamps.last().is_some_and(|last| stamp < *last) => {
                let cut = if line.last() == Some(&b'\n') { "" } else { " (is the file cut off?)" };
                return wrong(format!("{stamp} ms is before the line above{cut}"));
            }
            Ok(_) if stamps.len() == most => {
                let message = format!("{name}:{}: the file has more than {most} lines; shorten it", stamps.len() + 1);
                return Err(message);
            }
            Ok(stamp) => stamps.push(stamp),
        }
    }
    Trace::new(stamps).map_err(|what| format!("{name} {what}; {HELP}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    /// The trace in a file of this name and content.
    fn with_file(name: &str, content: &[u8]) -> Result<Trace, String> {
        let folder = std::env::temp_dir().join(format!("thalweg-trace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(name);
        File::create(&file).unwrap().write_all(content).unwrap();
        let trace = read(&file, 1000);
        std::fs::remove_file(&file).unwrap();
        trace
    }

    #[test]
    fn a_trace_may_have_either_line_ending_and_none_at_the_end() {
        let expected = Trace::new(vec![0, 3, 3, 10]).unwrap();
        assert_eq!(with_file("plain", b"0\n3\n3\n10\n"), Ok(expected.clone()));
        assert_eq!(with_file("windows", b"0\r\n3\r\n3\r\n10"), Ok(expected));
    }

    #[test]
    fn a_wrong_line_of_a_trace_is_named_with_its_file() {
        for (name, content, said) in [
            ("empty", &b""[..], "empty has no delivery opportunity"),
            ("unsorted", b"1\n5\n4\n9\n", "unsorted:3: 4 ms is before the line above"),
            ("cut-off", b"100\n200\n3", "cut-off:3: 3 ms is before the line above (is the file cut off?)"),
            ("negative", b"-1\n2\n", "negative:1: `-1` is negative"),
            ("words", b"1\ntwo\n", "words:2: `two` is not a whole number"),
            ("fractions", b"1\n2.5\n", "fractions:2: `2.5` is not a whole number"),
            ("huge", b"1\n99999999999\n", "huge:2: 99999999999 ms is too large"),
            ("zero", b"0\n0\n0\n", "zero has all its delivery opportunities at 0 ms"),
            ("gap", b"1\n\n2\n", "gap:2: the line is empty"),
            ("binary", b"1\n\xff\xfe\x00\n", "binary:2: `"),
            ("endless", &[b'1'; 100_000], "endless:1: `1111"),
        ] {
            let error = with_file(name, content).unwrap_err();
            assert!(error.contains(said), "{name}: {error}");
            assert!(error.ends_with(HELP), "{name}: {error}");
        }
        for (file, said) in
            [("/no/such", "cannot be read"), ("/dev/zero", "not a regular file"), ("/", "not a regular file")]
        {
            let error = read(Path::new(file), 1000).unwrap_err();
            assert!(error.contains(said) && error.contains(';'), "{error}");
        }
    }

    /// A file of 10 GB of zeros, and one with a line too many: both are read only as far as is needed to refuse them.
    #[test]
    fn a_file_of_any_size_is_refused_early() {
        let folder = std::env::temp_dir().join(format!("thalweg-large-trace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("sparse");
        let mut large = File::create(&file).unwrap();
        large.write_all(b"1\n2\n").unwrap();
        let sized = large.set_len(10_000_000_000);
        let error = read(&file, 1000).unwrap_err();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(sized.is_err() || error.contains(":3: "), "{error}");
        let lines = b"7\n".repeat(1001);
        let error = with_file("long", &lines).unwrap_err();
        assert!(error.contains(":1001: the file has more than 1000 lines"), "{error}");
    }
}
