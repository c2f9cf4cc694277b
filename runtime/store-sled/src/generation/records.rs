//! The records of a generation, out of the blocks that their bytes are cut into.

use std::path::Path;

use planesmith_store::log::{LogError, Record};

use super::summary::{Sum, Summary};
use crate::errors::damaged;
use crate::frame;

/// Reads the records of one block after the other, and computes their summary.
pub(super) struct RecordReader<'a> {
    path: &'a Path,
    sum: Sum,
    /// The start of a record that the next block continues.
    rest: Vec<u8>,
}

impl<'a> RecordReader<'a> {
    /// Returns a reader whose errors name the database or the generation at `path`.
    pub(super) fn new(path: &'a Path) -> Self {
        Self {
            path,
            sum: Sum::default(),
            rest: Vec::new(),
        }
    }

    /// Passes on the records that end in the next block.
    pub(super) fn push(
        &mut self,
        block: &[u8],
        mut visit: impl FnMut(Record) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        self.rest.extend_from_slice(block);
        let mut start = 0;
        while let Some(length) = frame::record_length(&self.rest[start..])
            && let Some(bytes) = self.rest[start..].get(..length)
        {
            self.sum.add(bytes);
            let record = frame::decode_record_detached(bytes);
            visit(record.ok_or_else(|| damaged(self.path, "a record cannot be read"))?)?;
            start += length;
        }
        self.rest.drain(..start);
        Ok(())
    }

    /// The summary of all records; `None` if the last one is cut off.
    pub(super) fn finish(self) -> Option<Summary> {
        self.rest.is_empty().then(|| self.sum.summary())
    }
}
