//! Errors of the operating system, worded for users.

use std::io;

/// The reason for an error of the operating system: what is wrong and, where that is known, what to do. The text has no
/// error number and no path.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".into(),
        io::ErrorKind::NotADirectory => {
            "there is a file where a folder is needed; name the folder that it is in".into()
        }
        // The wording is that of cap-std, which has no error kind of its own for this.
        io::ErrorKind::PermissionDenied if text.contains("outside") => {
            "it leads out of the folder that is served, and is not followed".into()
        }
        io::ErrorKind::PermissionDenied => "permission denied; check who may read or write it".into(),
        io::ErrorKind::StorageFull => {
            "no space left; make room, then repeat the command, which continues the copy".into()
        }
        _ => text.into(),
    }
}
