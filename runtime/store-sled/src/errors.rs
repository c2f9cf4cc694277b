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

/// The words around the damage in the error of [`damaged`].
const DAMAGED: &str = " is damaged: ";
const NEXT_STEP: &str = "; restore the store's folder from a backup, or move it away to start empty";

/// The error for damaged content of `path`, with the next step.
pub(crate) fn damaged(path: &Path, what: &str) -> LogError {
    LogError::Unreadable(format!("{}{DAMAGED}{what}{NEXT_STEP}", path.display()))
}

/// The end of the error for data of another version of this program.
const OTHER_VERSION: &str = "run the version of the program that wrote it, or choose another folder";

/// The error for data of another version of this program.
pub(crate) fn unknown_format(path: &Path, found: &str, known: &str) -> LogError {
    LogError::Unreadable(format!(
        "{} has the store format {found}, this program knows {known}; {OTHER_VERSION}",
        path.display()
    ))
}

/// True for the error that [`unknown_format`] returns: the data may be whole.
pub(crate) fn is_of_another_version(error: &LogError) -> bool {
    matches!(error, LogError::Unreadable(text) if text.ends_with(OTHER_VERSION))
}

/// The damage that an error of [`damaged`] names, without the path and the next step.
pub(crate) fn reason_of(error: &LogError) -> String {
    let text = error.to_string();
    let reason = text.split_once(DAMAGED).map_or(&*text, |(_, reason)| reason);
    reason
        .split_once(NEXT_STEP)
        .map_or(reason, |(reason, _)| reason)
        .to_owned()
}
