//! One journal file.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Batch, LogError};

use crate::disk::Disk;
use crate::folder::{create_file, damaged, failed, unknown_format};
use crate::frame::{self, BadHeader, FileHeader, Frame, HEADER};

/// Bytes that are written ahead of the frames. Overwriting what the file already has makes an
/// `fdatasync` cheaper by a third: the file system has nothing to note.
const AHEAD: u64 = 512 << 10;

/// The file that frames are appended to.
#[derive(Debug)]
pub(super) struct Segment {
    file: File,
    path: PathBuf,
    disk: Disk,
    header: FileHeader,
    /// Behind the last frame.
    end: u64,
    /// Bytes that the file has.
    allocated: u64,
    /// The bytes behind `end` may look like a frame that was refused.
    tainted: bool,
}

pub(super) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}.journal"))
}

impl Segment {
    /// Makes the file `number`; durable, with its name, when this returns.
    pub(super) fn create(folder: &Path, number: u64, salt: u64, disk: &Disk) -> Result<Self, LogError> {
        let path = path(folder, number);
        let header = FileHeader { number, salt };
        let file = create_file(&path)?;
        let end = HEADER as u64;
        let mut segment = Self {
            file,
            path,
            disk: disk.clone(),
            header,
            end,
            allocated: 0,
            tainted: false,
        };
        let written = segment.start(folder);
        if written.is_err() {
            // Without its header the file would be taken for an unfinished one anyway.
            let _ = std::fs::remove_file(&segment.path);
        }
        written.map(|()| segment)
    }

    fn start(&mut self, folder: &Path) -> Result<(), LogError> {
        self.file
            .write_all_at(&self.header.encode(), 0)
            .map_err(failed("write", &self.path))?;
        self.allocated = self.end;
        let synced = self.disk.sync_all(&self.file, &self.path);
        synced.map_err(failed("sync", &self.path))?;
        self.disk.sync_folder(folder)
    }

    /// Goes on with a file that has frames up to `end`.
    pub(super) fn reopen(path: &Path, header: FileHeader, end: u64, disk: &Disk) -> Result<Self, LogError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(failed("open", path))?;
        let allocated = file.metadata().map_err(failed("read", path))?.len();
        // What is behind the end may be a frame that was cut off by a crash.
        Ok(Self {
            file,
            path: path.to_owned(),
            disk: disk.clone(),
            header,
            end,
            allocated,
            tainted: true,
        })
    }

    pub(super) fn header(&self) -> FileHeader {
        self.header
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes by which the file grows when a frame of `length` bytes is appended.
    pub(super) fn growth(&self, length: usize) -> u64 {
        let allocated = if self.tainted { self.end } else { self.allocated };
        let end = self.end + length as u64;
        if end > allocated { end + AHEAD - allocated } else { 0 }
    }

    /// Writes `frame` and makes it durable. On an error, what was there stays as it is, and the
    /// frame is removed as well as the disk allows.
    pub(super) fn append(&mut self, frame: &[u8]) -> Result<(), LogError> {
        self.clean()?;
        let result = self.write(frame);
        match result {
            Ok(()) => {
                self.end += frame.len() as u64;
                Ok(())
            }
            Err(error) => {
                self.tainted = true;
                // Tried again before the next append.
                let _ = self.clean();
                Err(failed("write", &self.path)(error))
            }
        }
    }

    fn write(&mut self, frame: &[u8]) -> std::io::Result<()> {
        let end = self.end + frame.len() as u64;
        if end > self.allocated {
            self.extend(end - self.allocated + AHEAD)?;
        }
        self.file.write_all_at(frame, self.end)?;
        self.allocated = self.allocated.max(end);
        self.disk.sync_data(&self.file, &self.path)
    }

    /// Writes zeros ahead, if there is space for them.
    fn extend(&mut self, bytes: u64) -> std::io::Result<()> {
        let zeros = vec![0; usize::try_from(bytes).unwrap_or_default()];
        match self.file.write_all_at(&zeros, self.allocated) {
            Ok(()) => {
                self.allocated += bytes;
                Ok(())
            }
            // The frame itself may still fit.
            Err(error) if error.kind() == ErrorKind::StorageFull => self.file.set_len(self.allocated),
            Err(error) => Err(error),
        }
    }

    /// Removes what is behind the last frame, so that it cannot be read as one.
    fn clean(&mut self) -> Result<(), LogError> {
        if !self.tainted {
            return Ok(());
        }
        let cut = self.file.set_len(self.end);
        let cleaned = cut.and_then(|()| self.disk.sync_data(&self.file, &self.path));
        cleaned.map_err(failed("repair", &self.path))?;
        self.allocated = self.end;
        self.tainted = false;
        Ok(())
    }

    /// Gives back what was written ahead.
    pub(super) fn seal(&mut self) -> Result<(), LogError> {
        self.tainted = true;
        self.clean()
    }
}

/// What a journal file holds.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) header: FileHeader,
    pub(super) frames: Vec<(Batch, Revision)>,
    /// Behind the last frame.
    pub(super) end: u64,
}

/// Reads a whole file; `None` when it was being created and holds nothing.
///
/// `last` tells whether it is the last one: only there may a frame be unfinished.
pub(super) fn read(path: &Path, number: u64, last: bool) -> Result<Option<Content>, LogError> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(failed("open", path))?;
    file.read_to_end(&mut bytes).map_err(failed("read", path))?;
    let bytes = Bytes::from(bytes);
    let header = match FileHeader::decode(&bytes) {
        Ok(header) if header.number == number => header,
        Ok(header) => {
            return Err(damaged(path, &format!("it says that it is file {}", header.number)));
        }
        Err(BadHeader::Empty) if last => return Ok(None),
        Err(BadHeader::Version(version)) => return Err(unknown_format(path, &version.to_string(), "1")),
        Err(BadHeader::Empty | BadHeader::Damaged) => {
            return Err(damaged(path, "it does not start like a journal"));
        }
    };
    let mut content = Content {
        header,
        frames: Vec::new(),
        end: HEADER as u64,
    };
    let mut rest = bytes.slice(HEADER..);
    loop {
        match frame::decode(&rest, header.salt) {
            Frame::Whole {
                batch,
                previous,
                length,
            } => {
                content.frames.push((batch, previous));
                content.end += length as u64;
                rest = rest.slice(length..);
            }
            Frame::End => return Ok(Some(content)),
            Frame::Broken if last && !frame::whole_frame_follows(&rest, header.salt) => {
                return Ok(Some(content));
            }
            Frame::Broken => {
                return Err(damaged(path, &format!("the frame at byte {} is broken", content.end)));
            }
        }
    }
}
