//! A file that keeps space for when nothing else is left.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use planesmith_store::log::LogError;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use crate::folder::failed;

const NAME: &str = "reserve";

/// Bytes of the blocks that the operating system counts.
const BLOCK: u64 = 512;

/// Space that is taken by a file without content. What is taken from it is free for others, too, so it is taken only when it is
/// needed at once.
#[derive(Debug)]
pub(super) struct Reserve {
    file: File,
    size: u64,
}

impl Reserve {
    /// The reserve in `folder`; empty when there is none.
    pub(super) fn open(folder: &Path) -> Result<Self, LogError> {
        let path = folder.join(NAME);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(failed("open", &path))?;
        let found = file.metadata().map_err(failed("read", &path))?;
        // What a crash left may have a length without the space.
        let size = found.len().min(found.blocks() * BLOCK);
        file.set_len(size).map_err(failed("cut", &path))?;
        Ok(Self { file, size })
    }

    /// Bytes that are kept.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Keeps so many bytes, or fewer when there are none left.
    pub(super) fn resize(&mut self, size: u64) {
        let resized = if size > self.size {
            self.grow(size)
        } else {
            self.file.set_len(size)
        };
        // A reserve that cannot be had is one that does not help; nothing else depends on it.
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
            // Not every file system can.
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
