//! The content of one journal file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Batch, LogError};

use super::loss::{Damage, writes_behind};
use super::tail::is_torn;
use crate::errors::failed;
use crate::frame::{self, FileHeader, Frame};

/// The required end of the frames of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    /// At this byte, as the next file requires; bytes behind it do not count.
    Exactly(u64),
    /// At the zeros at the end of the file.
    Whole,
    /// Unknown, because the next file is missing or damaged.
    Unknown,
    /// At this byte or later, in the last file. An incomplete frame may follow, unless the store was closed.
    AtLeast { durable: u64, closed: bool },
}

/// The frames of a file, and the bytes behind them.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) frames: Vec<PlacedFrame>,
    /// The end of the last frame.
    pub(super) end: u64,
    pub(super) tail: Tail,
}

/// A frame with its position.
#[derive(Debug)]
pub(super) struct PlacedFrame {
    pub(super) batch: Batch,
    pub(super) previous: Revision,
    pub(super) start: u64,
    /// The end of the frame.
    pub(super) end: u64,
}

impl PlacedFrame {
    /// The last revision in it.
    pub(super) fn last(&self) -> Revision {
        self.batch
            .records
            .last()
            .map_or(self.previous, |record| record.revision)
    }
}

/// The bytes behind the last frame of a file.
#[derive(Debug)]
pub(super) enum Tail {
    /// Nothing that counts.
    Clean,
    /// A frame that a crash left incomplete.
    Torn,
    /// Bytes that were durable, and cannot be read.
    Damaged(Damage),
}

/// Reads the bytes of a file.
pub(super) fn read_bytes(path: &Path) -> Result<Bytes, LogError> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(failed("open", path))?;
    file.read_to_end(&mut bytes).map_err(failed("read", path))?;
    Ok(bytes.into())
}

impl Content {
    /// Reads the frames in `bytes`, which are the file `path` with the header `header`.
    pub(super) fn parse(path: &Path, bytes: &Bytes, header: &FileHeader, extent: Extent) -> Self {
        let mut content = Self {
            frames: Vec::new(),
            end: header.length() as u64,
            tail: Tail::Clean,
        };
        // The bytes that the frames themselves report as durable.
        let mut durable = 0;
        loop {
            if matches!(extent, Extent::Exactly(end) if end == content.end) {
                return content;
            }
            let rest = bytes.slice(usize::try_from(content.end).unwrap_or(usize::MAX).min(bytes.len())..);
            let frame = frame::decode(&rest, header);
            let Frame::Whole(whole) = frame else {
                let ending = Ending {
                    path,
                    length: bytes.len() as u64,
                    at: content.end,
                    durable,
                    is_zero: matches!(frame, Frame::End),
                };
                content.tail = ending.classify(&rest, header, extent);
                return content;
            };
            durable = whole.durable.max(durable);
            let start = content.end;
            content.end += whole.length as u64;
            content.frames.push(PlacedFrame {
                batch: whole.batch,
                previous: whole.previous,
                start,
                end: content.end,
            });
        }
    }
}

/// The position behind the last whole frame of a file.
struct Ending<'a> {
    path: &'a Path,
    /// Bytes of the file.
    length: u64,
    at: u64,
    /// Bytes of the file that were on the disk, as its frames report.
    durable: u64,
    /// True if only zeros follow, or nothing.
    is_zero: bool,
}

impl Ending<'_> {
    /// Distinguishes an orderly end from a torn one and from damage. `rest` is the rest of the file.
    fn classify(&self, rest: &Bytes, header: &FileHeader, extent: Extent) -> Tail {
        let what = match extent {
            Extent::Exactly(end) => self.describe(end),
            Extent::AtLeast { durable, .. } if self.at < durable => self.describe(durable),
            Extent::AtLeast { .. } if self.length < self.durable => {
                format!("it has {} bytes, of at least {}", self.length, self.durable)
            }
            Extent::Unknown => return Tail::Clean,
            _ if self.is_zero => return Tail::Clean,
            Extent::AtLeast { closed: false, .. } if is_torn(rest, self.at, header) => return Tail::Torn,
            Extent::AtLeast { .. } | Extent::Whole => self.describe(self.length),
        };
        Tail::Damaged(Damage {
            path: self.path.to_owned(),
            what,
            writes: writes_behind(rest, header),
        })
    }

    fn describe(&self, expected: u64) -> String {
        let Self { at, length, .. } = self;
        if !self.is_zero {
            format!("the frame at byte {at} is broken")
        } else if at == length {
            format!("it ends at byte {at}, of at least {expected}")
        } else {
            format!("it has zeros from byte {at} on, where frames went on up to byte {expected}")
        }
    }
}
