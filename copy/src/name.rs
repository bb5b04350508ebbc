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

/// What the copy of a source is called, by the source's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyName<'a> {
    /// The last component of the path.
    Last(&'a [u8]),
    /// The path ends in `.`: the contents of the folder are copied, and not the folder.
    Contents,
    /// The path is empty: the folder has the name that the server tells.
    Folder,
    /// The path has no last component, as `/` and `..`.
    Unknown,
}

/// What the copy of the source with this path is called.
pub(crate) fn copy_name(path: &[u8]) -> CopyName<'_> {
    match path.split(|byte| *byte == b'/').rfind(|part| !part.is_empty()) {
        None if path.is_empty() => CopyName::Folder,
        None | Some(b"..") => CopyName::Unknown,
        Some(b".") => CopyName::Contents,
        Some(name) if is_component(name) => CopyName::Last(name),
        Some(_) => CopyName::Unknown,
    }
}

/// A server's name for the folder that it serves: one component, without a leading dot, as the copy of a folder must
/// not be hidden or take the place of a folder with settings. `None` if it is anything else.
pub(crate) fn folder_name(name: &[u8]) -> Option<PathBuf> {
    (is_component(name) && !name.starts_with(b".")).then(|| PathBuf::from(OsStr::from_bytes(name)))
}

/// `text` with the characters escaped that act on the terminal or on the text around them: control characters, with
/// which a peer could command the terminal or forge a line of a log, and those that change the direction of the text or
/// show nothing, with which a name could look like another one.
pub fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() || is_invisible(char) {
            printable.extend(char.escape_default());
        } else {
            printable.push(char);
        }
    }
    printable
}

/// Whether a character is shown by nothing but its effect: line and paragraph separators, marks of direction, and
/// characters without width (Unicode's category Cf, as far as it is not used within words).
fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
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
        use CopyName::{Contents, Folder, Last, Unknown};
        for (path, name) in [
            ("a/b", Last(b"b")),
            ("a/b/", Last(b"b")),
            (".b", Last(b".b")),
            ("b\u{e9}", Last("b\u{e9}".as_bytes())),
            ("", Folder),
            (".", Contents),
            ("./", Contents),
            ("a/.", Contents),
            ("/", Unknown),
            ("..", Unknown),
            ("a/..", Unknown),
        ] {
            assert_eq!(copy_name(path.as_bytes()), name, "{path}");
        }
    }

    #[test]
    fn a_folders_name_is_one_component_that_is_not_hidden() {
        assert_eq!(folder_name(b"photos"), Some("photos".into()));
        for name in [&b""[..], b".", b"..", b".ssh", b"a/b", b"/", b"a\0", &[b'a'; 256]] {
            assert_eq!(folder_name(name), None);
        }
    }

    #[test]
    fn printed_names_contain_no_control_characters() {
        assert_eq!(printable("a\u{1b}[2Jb\n\u{9b}\u{e9}"), "a\\u{1b}[2Jb\\n\\u{9b}\u{e9}");
    }

    #[test]
    fn printed_names_show_what_changes_their_direction_or_shows_nothing() {
        assert_eq!(printable("invoice\u{202e}fdp.exe"), "invoice\\u{202e}fdp.exe");
        assert_eq!(printable("a\u{200b}\u{2028}\u{2066}\u{feff}b"), "a\\u{200b}\\u{2028}\\u{2066}\\u{feff}b");
        // Letters of all scripts, and the joiner within words and emoji, stay.
        assert_eq!(printable("\u{5d0}\u{627}\u{4e2d}\u{200d}"), "\u{5d0}\u{627}\u{4e2d}\u{200d}");
    }
}
