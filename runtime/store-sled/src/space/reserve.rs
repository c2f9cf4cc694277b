//! A file that reserves space.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use planesmith_store::log::LogError;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use crate::errors::failed;

const NAME: &str = "reserve";

/// Size in bytes of the blocks that the operating system counts.
const BLOCK: u64 = 512;

/// Space that is occupied by a file without content. Freed parts are available to other programs, too, so they are only
/// freed right before they are needed.
#[derive(Debug)]
pub(super) struct Reserve {
    file: File,
    size: u64,
}

impl Reserve {
    /// Opens the reserve in `folder`, which is empty if it does not exist.
    pub(super) fn open(folder: &Path) -> Result<Self, LogError> {
        let path = folder.join(NAME);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(failed("open", &path))?;
        let found = file.metadata().map_err(failed("read", &path))?;
        // After a crash the file may have a length without the space.
        let size = found.len().min(found.blocks() * BLOCK);
        file.set_len(size).map_err(failed("cut", &path))?;
        Ok(Self { file, size })
    }

    /// Reserved bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Changes the reserve to `size` bytes, or fewer if the disk has less.
    pub(super) fn resize(&mut self, size: u64) {
        let resized = if size > self.size {
            self.grow(size)
        } else {
            self.file.set_len(size)
        };
        // A reserve that cannot be created does not help, and nothing else depends on it.
        match resized {
            Ok(()) => self.size = size,
            Err(_) => {
                let _ = self.file.set_len(self.size);
            }
        }
    }

    fn grow(&self, size: u64) -> io::Result<()> {
        let allocated = rustix::fs::fallocate(&self.file, FallocateFlags::empty(), self.size, size - self.size);
        match allocated {
            // Not every file system can allocate space.
            Err(Errno::OPNOTSUPP | Errno::INVAL) => self.write_zeros(size),
            other => Ok(other?),
        }
    }

    fn write_zeros(&self, size: u64) -> io::Result<()> {
        let zeros = vec![0; 64 << 10];
        let mut at = self.size;
        while at < size {
            let count = zeros.len().min(usize::try_from(size - at).unwrap_or(zeros.len()));
            self.file.write_all_at(&zeros[..count], at)?;
            at += count as u64;
        }
        Ok(())
    }
}
