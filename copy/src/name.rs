//! Names as bytes: what a peer may call a file, and how it is shown.

use crate::message::LONGEST_PATH;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether this names something inside of a folder, and nothing else.
fn is_component(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && name.len() <= 255 && !name.iter().any(|byte| matches!(byte, 0 | b'/'))
}

/// The path below a folder that a peer means; none if it would lead out, or nowhere. Empty is the folder itself.
pub(crate) fn below(path: &[u8]) -> Option<PathBuf> {
    let fine = path.is_empty() || path.len() <= LONGEST_PATH && path.split(|byte| *byte == b'/').all(is_component);
    fine.then(|| PathBuf::from(OsStr::from_bytes(path)))
}

/// What a source that a peer sends is to be called: one component, or empty if its contents are meant.
pub(crate) fn single(name: &[u8]) -> Option<PathBuf> {
    (name.is_empty() || is_component(name)).then(|| PathBuf::from(OsStr::from_bytes(name)))
}

/// What a source is called at the destination: its last component. Empty for those that have none, as `.` and `/`.
pub(crate) fn of_source(path: &[u8]) -> &[u8] {
    let last = path.split(|byte| *byte == b'/').rfind(|part| !part.is_empty());
    last.filter(|name| is_component(name)).unwrap_or_default()
}

/// For the terminal: without control characters, which a peer might have put there.
pub fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() { shown.extend(char.escape_default()) } else { shown.push(char) }
    }
    shown
}

/// A path for the terminal.
pub fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_can_name_what_is_below_and_nothing_else() {
        for path in ["..", "../x", "a/..", "a/../../b", "/etc/passwd", "a//b", "a/", "./a", "a/.", "\0", "a/\0b"] {
            assert_eq!(below(path.as_bytes()), None, "{path}");
        }
        assert_eq!(below(&[b'a'; 256]), None);
        assert_eq!(below(&b"a/".repeat(LONGEST_PATH)), None);
        for path in [&b""[..], b"a", b"a/b.c/...", b"\xff\xfe/x", b" ", b"-rf", b"a\\..\\b"] {
            assert_eq!(below(path), Some(PathBuf::from(OsStr::from_bytes(path))));
        }
        assert_eq!(single(b"a/b"), None);
        assert_eq!(single(b""), Some(PathBuf::new()));
    }

    #[test]
    fn a_source_is_called_as_its_last_component() {
        for (path, name) in [
            ("a/b", "b"),
            ("a/b/", "b"),
            ("/", ""),
            ("", ""),
            (".", ""),
            ("a/.", ""),
            ("..", ""),
            ("b\u{e9}", "b\u{e9}"),
        ] {
            assert_eq!(of_source(path.as_bytes()), name.as_bytes(), "{path}");
        }
    }

    #[test]
    fn nothing_that_is_shown_commands_the_terminal() {
        assert_eq!(shown("a\u{1b}[2Jb\n\u{9b}é"), "a\\u{1b}[2Jb\\n\\u{9b}é");
    }
}
