//! The newest states of a store that is not running.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Source, TransferError};
use crate::log::{Batch, Change, Loader, Log, Record};
use crate::{BackupHeader, Revision};

/// The content of a log, loaded into memory.
#[derive(Debug)]
pub struct LogSource {
    header: BackupHeader,
    /// In the order of the revisions.
    records: std::vec::IntoIter<Record>,
}

impl LogSource {
    /// Loads the newest states from `log`, the store of `program`, at the time `now`, in milliseconds since 1970.
    /// `progress` receives each loaded record, superseded ones included.
    ///
    /// # Errors
    ///
    /// The log cannot be loaded.
    pub fn load(
        log: &dyn Log,
        program: &str,
        now: u64,
        progress: &mut dyn FnMut(&Record),
    ) -> Result<Self, TransferError> {
        let mut newest = Newest {
            keys: HashMap::new(),
            progress,
        };
        let opened = log.load(&mut newest)?;
        let mut records: Vec<Record> = newest.keys.into_values().collect();
        records.sort_unstable_by_key(|record| record.revision);
        let header = BackupHeader {
            revision: opened.last,
            at: now,
            program: program.to_owned(),
            objects: records.len() as u64,
            bytes: records.iter().map(Record::size).sum(),
        };
        Ok(Self {
            header,
            records: records.into_iter(),
        })
    }

    /// The newest revision of the store.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.header.revision
    }
}

impl Source for LogSource {
    fn header(&self) -> &BackupHeader {
        &self.header
    }

    fn next(&mut self) -> Result<Option<Record>, TransferError> {
        Ok(self.records.next())
    }
}

struct Newest<'a> {
    keys: HashMap<Arc<str>, Record>,
    progress: &'a mut dyn FnMut(&Record),
}

impl Newest<'_> {
    fn apply(&mut self, record: Record) {
        (self.progress)(&record);
        match record.change {
            Change::Put { .. } => self.keys.insert(Arc::clone(&record.key), record),
            Change::Delete => self.keys.remove(&record.key),
        };
    }
}

impl Loader for Newest<'_> {
    fn state(&mut self, record: Record) {
        self.apply(record);
    }

    fn batch(&mut self, batch: Batch) {
        batch.records.into_iter().for_each(|record| self.apply(record));
    }
}
