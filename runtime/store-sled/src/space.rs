//! Space that is kept free, so that a full disk can become less full by itself.

use std::path::{Path, PathBuf};

use planesmith_store::log::LogError;

use crate::folder::failed;

/// Bytes that writes leave free: a sixteenth of the file system, within these bounds.
const RESERVE: std::ops::RangeInclusive<u64> = (2 << 20)..=(16 << 20);

/// The part of the reserve that settling leaves free. sled can hang when a write of its own fails,
/// so it must not come to that.
const SETTLING_SHARE: u64 = 4;

/// How full the file system of a folder is.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    path: PathBuf,
    reserve: u64,
}

impl Space {
    pub(crate) fn of(path: &Path) -> Result<Self, LogError> {
        let total = fs2::total_space(path).map_err(failed("measure", path))?;
        let reserve = (total / 16).clamp(*RESERVE.start(), *RESERVE.end());
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

    /// Whether one step of settling may be done.
    pub(crate) fn check_for_settling(&self) -> Result<(), LogError> {
        self.check(self.reserve / SETTLING_SHARE)
    }

    fn check(&self, needed: u64) -> Result<(), LogError> {
        let available = fs2::available_space(&self.path).map_err(failed("measure", &self.path))?;
        if available < needed {
            Err(LogError::Full)
        } else {
            Ok(())
        }
    }
}
