//! The positions of frames in a journal file, for reading single writes again.

use std::os::unix::fs::FileExt;
use std::path::Path;

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{LogError, Record};

use super::Sealed;
use super::content::{Content, Extent, Tail, read_bytes};
use super::files::path_of;
use crate::errors::{damaged, failed};
use crate::frame::{self, FileHeader, Frame};

/// Bytes of frames with one position.
const STEP: u64 = 16 << 10;

/// The positions of frames in one file: one for every 16 KB, so that all files of a large history take little memory.
#[derive(Debug)]
pub(crate) struct FrameIndex {
    number: u64,
    header: FileHeader,
    /// The last revision before a frame, and its position.
    places: Vec<(Revision, u64)>,
    /// The last revision with a position, and the end of its frame.
    last: Revision,
    end: u64,
}

impl FrameIndex {
    /// Reads the file `file` of the journal in `folder`, up to the end that it has there.
    pub(crate) fn of(folder: &Path, file: Sealed) -> Result<Self, LogError> {
        let path = path_of(folder, file.number);
        let bytes = read_bytes(&path)?;
        let header = FileHeader::decode(&bytes).map_err(|_| damaged(&path, "it does not start like a journal"))?;
        let content = Content::parse(&path, &bytes, &header, Extent::Exactly(file.bytes));
        if let Tail::Damaged(damage) = content.tail {
            return Err(damaged(&path, &damage.what));
        }
        let mut places: Vec<(Revision, u64)> = Vec::new();
        for frame in content.frames {
            if places.last().is_none_or(|(_, start)| frame.start >= start + STEP) {
                places.push((frame.previous, frame.start));
            }
        }
        places.shrink_to_fit();
        Ok(Self {
            number: file.number,
            header,
            places,
            last: file.last,
            end: content.end,
        })
    }

    /// The last revision that it can find.
    pub(crate) fn last(&self) -> Revision {
        self.last
    }

    /// Passes on those of the writes `revisions`, which are in order, that are in the file.
    pub(crate) fn read(
        &self,
        folder: &Path,
        revisions: &[Revision],
        mut visit: impl FnMut(Record),
    ) -> Result<(), LogError> {
        let path = path_of(folder, self.number);
        let file = std::fs::File::open(&path).map_err(failed("open", &path))?;
        let place_of = |revision: &Revision| self.places.partition_point(|(before, _)| before < revision);
        for wanted in revisions.chunk_by(|one, next| place_of(one) == place_of(next)) {
            let place = wanted.first().map_or(0, place_of);
            let Some((_, start)) = place.checked_sub(1).and_then(|place| self.places.get(place)) else {
                continue;
            };
            let end = self.places.get(place).map_or(self.end, |(_, next)| *next);
            let mut bytes = vec![0; usize::try_from(end - start).unwrap_or_default()];
            file.read_exact_at(&mut bytes, *start).map_err(failed("read", &path))?;
            let mut rest = Bytes::from(bytes);
            while !rest.is_empty() {
                let Frame::Whole(whole) = frame::decode(&rest, &self.header) else {
                    return Err(damaged(&path, "it changed since it was read"));
                };
                rest = rest.slice(whole.length..);
                let records = whole.batch.records.into_iter();
                records
                    .filter(|record| wanted.binary_search(&record.revision).is_ok())
                    .for_each(&mut visit);
            }
        }
        Ok(())
    }
}
