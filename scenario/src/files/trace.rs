//! Traces of delivery opportunities, read from files: a whole number of milliseconds per line.

use path::Trace;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// So many opportunities at most: an hour at 33 Mbps, and 40 MB of memory.
const MOST: usize = 10_000_000;
/// Longer than any line with a number that fits.
const LONGEST_LINE: u64 = 40;
const HELP: &str = "write one whole number of milliseconds per line, none less than the one before";

/// The traces that the runs of a plan follow; each file is read once.
pub(super) struct Traces<'a> {
    /// The texts of some.
    beside: &'a dyn Fn(&str) -> Option<String>,
    /// Where the scenario lies.
    folder: PathBuf,
    read: RefCell<HashMap<String, Result<Arc<Trace>, String>>>,
}

impl Traces<'_> {
    /// For a scenario in `folder`; `beside` knows the texts of some.
    pub fn new<'a>(folder: &Path, beside: &'a dyn Fn(&str) -> Option<String>) -> Traces<'a> {
        Traces { beside, folder: folder.to_path_buf(), read: RefCell::default() }
    }

    /// The trace in the file that the scenario calls `name`; or the file, the line, what is wrong there and what to do.
    pub fn get(&self, name: &str) -> Result<Arc<Trace>, String> {
        let mut all = self.read.borrow_mut();
        let of_name = || match (self.beside)(name) {
            Some(text) => parse(name, &mut text.as_bytes(), MOST),
            None => read(&self.folder.join(name), MOST),
        };
        all.entry(name.to_string()).or_insert_with(|| of_name().map(Arc::new)).clone()
    }
}

/// Reads `file`, of at most so many lines.
fn read(file: &Path, most: usize) -> Result<Trace, String> {
    let name = file.display();
    let cannot =
        |e: std::io::Error| format!("{name} cannot be read ({}); check its name and permissions", crate::reason(&e));
    // Anything else might never end, or never begin.
    if !std::fs::metadata(file).map_err(cannot)?.is_file() {
        return Err(format!("{name} is no file; name a text file, in which you {HELP}"));
    }
    parse(&name.to_string(), &mut BufReader::new(File::open(file).map_err(cannot)?), most)
}

/// Reads the trace that is called `name`, of at most so many lines.
fn parse(name: &str, reader: &mut dyn BufRead, most: usize) -> Result<Trace, String> {
    let cannot =
        |e: std::io::Error| format!("{name} cannot be read ({}); check its name and permissions", crate::reason(&e));
    let mut stamps: Vec<u32> = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line is never read further than it can be right, however large the file.
        if (&mut *reader).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(cannot)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        let wrong = |what: String| Err(format!("{name}:{}: {what}; {HELP}", stamps.len() + 1));
        let too_long = line.len() as u64 == LONGEST_LINE && line.last() != Some(&b'\n');
        match text.parse::<u32>() {
            _ if too_long => return wrong(format!("`{text}...` is too long for a number")),
            _ if text.is_empty() => return wrong("the line is empty".into()),
            Err(_) if text.starts_with('-') => return wrong(format!("`{text}` is negative")),
            Err(_) if text.bytes().all(|b| b.is_ascii_digit()) => return wrong(format!("{text} ms is too large")),
            Err(_) => return wrong(format!("`{text}` is no whole number")),
            Ok(stamp) if stamps.last().is_some_and(|last| stamp < *last) => {
                let cut = if line.last() == Some(&b'\n') { "" } else { " (is the file cut off?)" };
                return wrong(format!("{stamp} ms is before the line above{cut}"));
            }
            Ok(_) if stamps.len() == most => {
                let message = format!("{name}:{}: is longer than {most} lines; shorten it", stamps.len() + 1);
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
    use std::io::Write;

    /// A file of its own for each text.
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
    fn traces_are_read_as_they_are_published() {
        let expected = Trace::new(vec![0, 3, 3, 10]).unwrap();
        assert_eq!(with_file("plain", b"0\n3\n3\n10\n"), Ok(expected.clone()));
        assert_eq!(with_file("windows", b"0\r\n3\r\n3\r\n10"), Ok(expected));
    }

    #[test]
    fn bad_traces_are_named_with_file_and_line() {
        for (name, content, said) in [
            ("empty", &b""[..], "empty has no delivery opportunity"),
            ("unsorted", b"1\n5\n4\n9\n", "unsorted:3: 4 ms is before the line above"),
            ("cut-off", b"100\n200\n3", "cut-off:3: 3 ms is before the line above (is the file cut off?)"),
            ("negative", b"-1\n2\n", "negative:1: `-1` is negative"),
            ("words", b"1\ntwo\n", "words:2: `two` is no whole number"),
            ("fractions", b"1\n2.5\n", "fractions:2: `2.5` is no whole number"),
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
        for (file, said) in [("/no/such", "cannot be read"), ("/dev/zero", "is no file"), ("/", "is no file")] {
            let error = read(Path::new(file), 1000).unwrap_err();
            assert!(error.contains(said) && error.contains(';'), "{error}");
        }
    }

    /// 10 GB of zeros, and of lines: neither is read further than it takes to refuse it.
    #[test]
    fn the_size_of_a_file_does_not_matter() {
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
        assert!(error.contains(":1001: is longer than 1000 lines"), "{error}");
    }
}
