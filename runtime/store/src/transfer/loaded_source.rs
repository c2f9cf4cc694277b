//! A content that is in memory.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Amount, OnAmount, Source, TransferError};
use crate::log::{Batch, Change, Loader, Log, Record};
use crate::transformer::is_encrypted;
use crate::{BackupHeader, Revision};

/// The content of a store, loaded into memory.
#[derive(Debug)]
pub struct LoadedSource {
    header: BackupHeader,
    /// In the order of the revisions.
    records: std::vec::IntoIter<Record>,
}

impl LoadedSource {
    /// Returns the content `records` of the store of `program` at `revision` and at the time `at`, in milliseconds since 1970.
    #[must_use]
    pub fn new(mut records: Vec<Record>, revision: Revision, program: &str, at: u64) -> Self {
        records.sort_unstable_by(|one, other| (one.revision, &one.key).cmp(&(other.revision, &other.key)));
        let header = BackupHeader {
            revision,
            at,
            program: program.to_owned(),
            objects: records.len() as u64,
            bytes: records.iter().map(Record::size).sum(),
            has_encrypted: records.iter().any(|record| is_encrypted(&record.bytes)),
        };
        Self {
            header,
            records: records.into_iter(),
        }
    }

    /// Loads the newest states from `log`, the store of `program`, at the time `now`, in milliseconds since 1970.
    /// `progress` receives all that is loaded, superseded states included, and the approximate bytes in all.
    ///
    /// # Errors
    ///
    /// The log cannot be loaded, or `progress` ends the work.
    pub fn of_log(
        log: &dyn Log,
        program: &str,
        now: u64,
        progress: &mut dyn FnMut(Amount, u64) -> Result<(), TransferError>,
    ) -> Result<Self, TransferError> {
        let mut newest = Newest {
            keys: HashMap::new(),
            amount: Amount::default(),
            total: 0,
            result: Ok(()),
            progress,
        };
        let opened = log.load(&mut newest)?;
        newest.result?;
        let records = newest.keys.into_values().collect();
        Ok(Self::new(records, opened.last, program, now))
    }

    /// The same content, as that of the store of `program`.
    #[must_use]
    pub fn of_program(mut self, program: &str) -> Self {
        program.clone_into(&mut self.header.program);
        self
    }

    /// The newest revision of the store.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.header.revision
    }

    /// The same content with each object translated by `translate`.
    ///
    /// # Errors
    ///
    /// The first error of `translate` or `progress`.
    pub fn translated(
        self,
        mut translate: impl FnMut(Record) -> Result<Record, TransferError>,
        progress: &mut OnAmount<'_>,
    ) -> Result<Self, TransferError> {
        let Self { header, records } = self;
        let mut amount = Amount::default();
        let mut translated = Vec::with_capacity(records.len());
        for record in records {
            amount.add(&record);
            translated.push(translate(record)?);
            progress(amount)?;
        }
        Ok(Self::new(translated, header.revision, &header.program, header.at))
    }
}

impl Source for LoadedSource {
    fn header(&self) -> &BackupHeader {
        &self.header
    }

    fn next(&mut self) -> Result<Option<Record>, TransferError> {
        Ok(self.records.next())
    }
}

struct Newest<'a> {
    keys: HashMap<Arc<str>, Record>,
    amount: Amount,
    total: u64,
    /// The result of the last call of `progress`: nothing is taken any more after an error.
    result: Result<(), TransferError>,
    progress: &'a mut dyn FnMut(Amount, u64) -> Result<(), TransferError>,
}

impl Newest<'_> {
    fn apply(&mut self, record: Record) {
        if self.result.is_err() {
            return;
        }
        self.amount.add(&record);
        self.result = (self.progress)(self.amount, self.total);
        match record.change {
            Change::Put { .. } => self.keys.insert(Arc::clone(&record.key), record),
            Change::Delete => self.keys.remove(&record.key),
        };
    }
}

impl Loader for Newest<'_> {
    fn expect(&mut self, bytes: u64) {
        self.total = bytes;
    }

    fn state(&mut self, record: Record) {
        self.apply(record);
    }

    fn batch(&mut self, batch: Batch) {
        batch.records.into_iter().for_each(|record| self.apply(record));
    }
}
