//! Errors that name the file and the next step.

use std::io::ErrorKind;
use std::path::Path;

use planesmith_store::log::LogError;

/// Returns a function that adds the failed action and the file to an error of the operating system.
pub(crate) fn failed(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> LogError {
    let context = format!("cannot {what} {}", path.display());
    move |source| match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => LogError::Full,
        _ => LogError::Io { context, source },
    }
}

/// The error for damaged content of `path`, with the next step.
pub(crate) fn damaged(path: &Path, what: &str) -> LogError {
    LogError::Unreadable(format!(
        "{} is damaged: {what}; restore the store's folder from a backup, or move it away to start empty",
        path.display()
    ))
}

/// The error for data of another version of this program.
pub(crate) fn unknown_format(path: &Path, found: &str, known: &str) -> LogError {
    LogError::Unreadable(format!(
        "{} has the store format {found}, this program knows {known}; run the version of the program that wrote it, or choose another folder",
        path.display()
    ))
}
