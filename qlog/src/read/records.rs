//! The records of a file: JSON text sequences (RFC 7464), JSON after JSON as in NDJSON, or a single JSON value.

use super::mistake::Mistake;
use crate::write::SEPARATOR;
use serde_json::{Deserializer, Value};

/// Iterates over the records of a file, each with its name.
pub enum Records<'b> {
    /// Between separators, and how many there were so far.
    Separated(Box<dyn Iterator<Item = &'b [u8]> + 'b>, usize),
    /// One after the other.
    Joined(Box<serde_json::StreamDeserializer<'b, serde_json::de::SliceRead<'b>, Value>>, usize),
}

impl<'b> Records<'b> {
    /// The records of `bytes`.
    pub fn of(bytes: &'b [u8]) -> Result<Records<'b>, Mistake> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.starts_with(b"\x1f\x8b") || bytes.starts_with(b"\x28\xb5\x2f\xfd") {
            let wrong = "the file is compressed; unpack it first".into();
            return Err(Mistake::new("record 1".into(), wrong));
        }
        let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
        Ok(if bytes.get(start) == Some(&SEPARATOR) {
            // Separators one after the other are no records (RFC 7464, section 2.1).
            let records = bytes.split(|&byte| byte == SEPARATOR).filter(|record| !record.trim_ascii().is_empty());
            Records::Separated(Box::new(records), 0)
        } else {
            Records::Joined(Box::new(Deserializer::from_slice(bytes).into_iter()), 0)
        })
    }
}

impl Iterator for Records<'_> {
    type Item = Result<(String, Value), Mistake>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, value) = match self {
            Records::Separated(records, number) => (number, serde_json::from_slice(records.next()?)),
            Records::Joined(values, number) => (number, values.next()?),
        };
        *number += 1;
        let record = format!("record {number}");
        Some(match value {
            Ok(value) => Ok((record, value)),
            Err(e) => Err(Mistake { record, wrong: format!("is no JSON ({e})"), truncated: e.is_eof() }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(bytes: &[u8]) -> Vec<Result<String, String>> {
        let records = Records::of(bytes).unwrap();
        records.map(|it| it.map(|(_, value)| value.to_string()).map_err(|e| e.to_string())).collect()
    }

    #[test]
    fn records_are_found_in_each_form() {
        let both = [Ok("{}".to_string()), Ok("1".to_string())];
        assert_eq!(values(b"\x1e{}\n\x1e1\n"), both);
        assert_eq!(values(b"\x1e\x1e{\n}\n\x1e \n\x1e1\n"), both, "empty records are none");
        assert_eq!(values(b"{}\n1\n"), both, "NDJSON");
        assert_eq!(values(b"\xef\xbb\xbf{}\r\n1"), both, "a byte order mark");
    }

    #[test]
    fn a_mistake_names_its_record() {
        let all = values(b"\x1e{}\n\x1e{\"time\":\n\x1e1\n");
        assert!(all[1].as_ref().unwrap_err().starts_with("record 2: is no JSON (EOF"), "{all:?}");
        assert!(all[2].is_ok(), "the next one is found again");
        assert!(values(b"{} x")[1].as_ref().unwrap_err().starts_with("record 2: "));
        assert!(Records::of(b"\x1f\x8b\x08").is_err());
    }

    #[test]
    fn deep_nesting_is_a_mistake_and_not_a_crash() {
        let deep = "[".repeat(100_000);
        assert!(values(deep.as_bytes())[0].as_ref().unwrap_err().contains("recursion limit"));
    }
}
