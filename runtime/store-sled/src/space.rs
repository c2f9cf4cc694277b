//! Space that is kept free, so that a full disk can become less full by itself.

use std::path::{Path, PathBuf};

use planesmith_store::log::LogError;

use crate::folder::failed;

/// Bytes that writes leave free: a sixteenth of the file system, within these bounds.
const RESERVE: std::ops::RangeInclusive<u64> = (2 << 20)..=(16 << 20);

/// How full the file system of a folder is.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    path: PathBuf,
    reserve: u64,
}

impl Space {
    pub(crate) fn of(path: &Path) -> Result<Self, LogError> {
        let disk = rustix::fs::statvfs(path).map_err(|error| failed("measure", path)(error.into()))?;
        let reserve = (disk.f_blocks * disk.f_frsize / 16).clamp(*RESERVE.start(), *RESERVE.end());
        Ok(Self {
            path: path.to_owned(),
            reserve,
        })
    }

    /// Whether `bytes` more may be written by clients. What they leave free is for settling, which
    /// gives the space of superseded states back.
    pub(crate) fn check_for_writing(&self, bytes: u64) -> Result<(), LogError> {
        self.check(self.reserve + bytes)
    }

    /// Whether a new state of `bytes` may be written.
    pub(crate) fn check_for_settling(&self, bytes: u64) -> Result<(), LogError> {
        self.check(bytes)
    }

    /// Bytes that are free; 0 when the operating system does not say.
    pub(crate) fn free(&self) -> u64 {
        self.measure().unwrap_or(0)
    }

    fn measure(&self) -> Result<u64, LogError> {
        let disk = rustix::fs::statvfs(&self.path);
        let disk = disk.map_err(|error| failed("measure", &self.path)(error.into()))?;
        Ok(disk.f_bavail * disk.f_frsize)
    }

    fn check(&self, needed: u64) -> Result<(), LogError> {
        if self.measure()? < needed {
            Err(LogError::Full)
        } else {
            Ok(())
        }
    }
}
