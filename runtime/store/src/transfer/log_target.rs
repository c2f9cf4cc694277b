//! An empty embedded store that receives a content.

use bytes::Bytes;

use super::{Target, TransferError};
use crate::Revision;
use crate::log::{Batch, Change, Loader, Log, LogError, Record};

/// Bytes of objects that become durable together.
const BATCH: u64 = 512 << 10;

/// The key of the last write of a transfer, which deletes nothing: it gives the store its revision.
const MARKER: &str = "/planesmith/transferred";

/// Writes into an embedded backend that has no content yet.
pub struct LogTarget<'a> {
    log: &'a dyn Log,
    records: Vec<Record>,
    pending: u64,
    live: u64,
}

/// Discards the loaded content, and notices if there is any.
#[derive(Default)]
struct Emptiness {
    has_content: bool,
}

impl Loader for Emptiness {
    fn state(&mut self, _record: Record) {
        self.has_content = true;
    }

    fn batch(&mut self, _batch: Batch) {
        self.has_content = true;
    }
}

impl<'a> LogTarget<'a> {
    /// Loads `log`, which has to be empty.
    ///
    /// # Errors
    ///
    /// The log cannot be loaded, or has content.
    pub fn new(log: &'a dyn Log) -> Result<Self, TransferError> {
        let mut found = Emptiness::default();
        let opened = log.load(&mut found)?;
        if found.has_content || opened.last > Revision::ZERO {
            return Err(TransferError::Target(
                "the target has content; choose a new folder".to_owned(),
            ));
        }
        Ok(Self {
            log,
            records: Vec::new(),
            pending: 0,
            live: 0,
        })
    }

    fn append(&mut self) -> Result<(), LogError> {
        let records = std::mem::take(&mut self.records);
        let Some(last) = records.last().map(|record| record.revision) else {
            return Ok(());
        };
        self.pending = 0;
        // Written at the beginning of time: these writes are older than any history that a store keeps, so its history
        // starts after them.
        self.log.append(&Batch { at: 0, records })?;
        self.log.note_live(self.live);
        while self.log.compact(last)? {}
        Ok(())
    }
}

impl Target for LogTarget<'_> {
    fn put(&mut self, record: Record) -> Result<(), TransferError> {
        self.pending += record.size();
        self.live += Record::stored_size(&record.key, record.bytes.len());
        self.records.push(record);
        if self.pending >= BATCH {
            self.append()?;
        }
        Ok(())
    }

    fn finish(&mut self, revision: Revision) -> Result<(), TransferError> {
        if self.records.last().is_none_or(|record| record.revision < revision) {
            self.records.push(Record {
                revision,
                key: MARKER.into(),
                change: Change::Delete,
                bytes: Bytes::new(),
                gap: None,
            });
        }
        Ok(self.append()?)
    }
}

impl std::fmt::Debug for LogTarget<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("LogTarget")
            .field("live", &self.live)
            .finish_non_exhaustive()
    }
}
