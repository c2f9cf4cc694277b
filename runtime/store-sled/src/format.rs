//! The version of a store's folder.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// The version of one folder, shared by all that raise it.
#[derive(Clone, Debug)]
pub(crate) struct FolderFormat {
    folder: PathBuf,
    disk: Disk,
    /// Locked while the file is written: settling and writers may raise it at the same time, and neither may lower it.
    current: Arc<Mutex<Format>>,
}

impl FolderFormat {
    /// The version of `folder`; `None` if the folder is empty.
    pub(crate) fn of(folder: &Path, disk: &Disk) -> Result<Option<Self>, LogError> {
        Ok(read(folder)?.map(|found| Self::new(folder, disk, found)))
    }

    /// Makes `folder`, which is empty, a store of the version without encrypted objects.
    pub(crate) fn create(folder: &Path, disk: &Disk) -> Result<Self, LogError> {
        let created = Self::new(folder, disk, Format::Three);
        created.write(Format::Three)?;
        Ok(created)
    }

    fn new(folder: &Path, disk: &Disk, current: Format) -> Self {
        Self {
            folder: folder.to_owned(),
            disk: disk.clone(),
            current: Arc::new(Mutex::new(current)),
        }
    }

    /// The version now.
    pub(crate) fn current(&self) -> Format {
        *self.lock()
    }

    /// Raises the folder to the version `format`, unless it has that or a later one; durable when this returns.
    pub(crate) fn raise(&self, format: Format) -> Result<(), LogError> {
        let mut current = self.lock();
        if *current < format {
            self.write(format)?;
            *current = format;
        }
        Ok(())
    }

    /// The complete file is renamed into place, so that a crash cannot leave half of it.
    fn write(&self, format: Format) -> Result<(), LogError> {
        let new = self.folder.join("format.new");
        let mut file = create_file(&new)?;
        let written = writeln!(file, "{FORMAT}{}", format.number()).and_then(|()| self.disk.sync_all(&file, &new));
        written.map_err(failed("write", &new))?;
        std::fs::rename(&new, self.folder.join(NAME)).map_err(failed("rename", &new))?;
        self.disk.sync_folder(&self.folder)
    }

    fn lock(&self) -> MutexGuard<'_, Format> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_raised_and_never_lowered_whoever_holds_its_format() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::default();
        assert!(FolderFormat::of(folder.path(), &disk).unwrap().is_none());
        let created = FolderFormat::create(folder.path(), &disk).unwrap();
        let other = created.clone();
        let written = || read(folder.path()).unwrap();
        assert_eq!((created.current(), written()), (Format::Three, Some(Format::Three)));
        other.raise(Format::Four).unwrap();
        created.raise(Format::Three).unwrap();
        assert_eq!((created.current(), written()), (Format::Four, Some(Format::Four)));
        let found = FolderFormat::of(folder.path(), &disk).unwrap().unwrap();
        assert_eq!(found.current(), Format::Four);
    }
}
