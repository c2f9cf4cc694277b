//! The version of a store's folder.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use planesmith_store::log::LogError;

use crate::disk::Disk;
use crate::errors::{damaged, failed, unknown_format};
use crate::file_system::create_file;

/// The name of the file with the version.
pub(crate) const NAME: &str = "format";

/// The content of the file up to the version.
const FORMAT: &str = "planesmith-store ";

/// The newest version that this crate knows.
const NEWEST: &str = "4";

/// The version of a folder, which determines its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Format {
    /// Without a mark, with journal files of version 1 only, and with a state that is not split into slots.
    One,
    /// With a state that is not split into slots.
    Two,
    Three,
    /// With encrypted objects, which earlier programs would take for damaged ones.
    Four,
}

impl Format {
    /// The version in the file.
    fn number(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Two => "2",
            Self::Three => "3",
            Self::Four => NEWEST,
        }
    }
}

/// Reads the version of the folder; `None` if the folder is empty.
pub(crate) fn read(path: &Path) -> Result<Option<Format>, LogError> {
    let file = path.join(NAME);
    match std::fs::read_to_string(&file) {
        Ok(text) => match text.trim_end().strip_prefix(FORMAT) {
            Some(NEWEST) => Ok(Some(Format::Four)),
            Some("3") => Ok(Some(Format::Three)),
            Some("2") => Ok(Some(Format::Two)),
            Some("1") => Ok(Some(Format::One)),
            Some(found) => Err(unknown_format(path, found, NEWEST)),
            None => Err(damaged(&file, "it does not name a format")),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if path.join("journal").exists() || path.join("state").exists() {
                return Err(damaged(path, "it has data, but no file `format`"));
            }
            Ok(None)
        }
        Err(error) if error.kind() == ErrorKind::InvalidData => Err(damaged(&file, "it does not name a format")),
        Err(error) => Err(failed("read", &file)(error)),
    }
}

/// Raises the folder to the version `format`, unless it has a later one.
///
/// The complete file is renamed into place, so that a crash cannot leave half of it.
pub(crate) fn raise(path: &Path, format: Format, disk: &Disk) -> Result<(), LogError> {
    // Settling and writers may raise it at the same time; neither may lower it.
    static RAISING: Mutex<()> = Mutex::new(());
    let _raising = RAISING.lock().unwrap_or_else(PoisonError::into_inner);
    let has_file = path.join(NAME).exists();
    if has_file && read(path)?.is_some_and(|found| found >= format) {
        return Ok(());
    }
    let new = path.join("format.new");
    let mut file = create_file(&new)?;
    let written = writeln!(file, "{FORMAT}{}", format.number()).and_then(|()| disk.sync_all(&file, &new));
    written.map_err(failed("write", &new))?;
    std::fs::rename(&new, path.join(NAME)).map_err(failed("rename", &new))?;
    disk.sync_folder(path)
}
