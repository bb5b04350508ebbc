//! File names as bytes: which names a peer may use, and how names are printed.

use crate::message::MAX_PATH;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The longest component of a path, in bytes.
const MAX_COMPONENT: usize = 255;

/// Whether `name` names an entry of a folder, and nothing else.
fn is_component(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..")
        && name.len() <= MAX_COMPONENT
        && !name.iter().any(|byte| matches!(byte, 0 | b'/'))
}

/// A peer's path below a folder. Empty means the folder itself. `None` if the path would lead out of the folder or is
/// malformed.
pub(crate) fn path_below(path: &[u8]) -> Option<PathBuf> {
    let valid = path.is_empty() || path.len() <= MAX_PATH && path.split(|byte| *byte == b'/').all(is_component);
    valid.then(|| PathBuf::from(OsStr::from_bytes(path)))
}

/// A peer's name for a source: one component, or empty if the source's contents are meant. `None` if it is neither.
pub(crate) fn source_name(name: &[u8]) -> Option<PathBuf> {
    (name.is_empty() || is_component(name)).then(|| PathBuf::from(OsStr::from_bytes(name)))
}

/// The name of a source's copy: the last component of the source's path. Empty if there is none, as in `.` and `/`.
pub(crate) fn last_component(path: &[u8]) -> &[u8] {
    let last = path.split(|byte| *byte == b'/').rfind(|part| !part.is_empty());
    last.filter(|name| is_component(name)).unwrap_or_default()
}

/// `text` with its control characters escaped, as a peer could command the terminal with them.
pub fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() { printable.extend(char.escape_default()) } else { printable.push(char) }
    }
    printable
}

/// A path for the terminal: control characters are escaped, and bytes that are not UTF-8 are replaced.
pub fn printable_path(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_can_name_paths_below_the_folder_only() {
        for path in ["..", "../x", "a/..", "a/../../b", "/etc/passwd", "a//b", "a/", "./a", "a/.", "\0", "a/\0b"] {
            assert_eq!(path_below(path.as_bytes()), None, "{path}");
        }
        assert_eq!(path_below(&[b'a'; 256]), None);
        assert_eq!(path_below(&b"a/".repeat(MAX_PATH)), None);
        for path in [&b""[..], b"a", b"a/b.c/...", b"\xff\xfe/x", b" ", b"-rf", b"a\\..\\b"] {
            assert_eq!(path_below(path), Some(PathBuf::from(OsStr::from_bytes(path))));
        }
        assert_eq!(source_name(b"a/b"), None);
        assert_eq!(source_name(b""), Some(PathBuf::new()));
    }

    #[test]
    fn a_copy_is_called_after_the_last_component_of_its_source() {
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
            assert_eq!(last_component(path.as_bytes()), name.as_bytes(), "{path}");
        }
    }

    #[test]
    fn printed_names_contain_no_control_characters() {
        assert_eq!(printable("a\u{1b}[2Jb\n\u{9b}é"), "a\\u{1b}[2Jb\\n\\u{9b}é");
    }
}
