//! The backend for tests: its content ends with the process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Revision;
use crate::log::{Batch, Change, Loader, Log, LogError, Opened, Record, WriteId};

/// A backend in memory. Clones share their content, so a store can be "restarted" by opening another one on a clone.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog {
    content: Arc<Mutex<Content>>,
    keeps_history: bool,
}

#[derive(Debug, Default)]
struct Content {
    /// States at the floor.
    settled: BTreeMap<Arc<str>, Record>,
    floor: Revision,
    last: Revision,
    /// The batches after the floor.
    batches: VecDeque<Batch>,
}

impl MemoryLog {
    /// Returns an empty backend.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same backend, from which the engine reads older changes back instead of keeping them. It needs as much memory, so
    /// this is for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn keeping_history(self) -> Self {
        Self {
            keeps_history: true,
            ..self
        }
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log for MemoryLog {
    fn load(&self, loader: &mut dyn Loader) -> Result<Opened, LogError> {
        let content = self.content();
        for record in content.settled.values() {
            loader.state(record.clone());
        }
        for batch in &content.batches {
            loader.batch(batch.clone());
        }
        Ok(Opened {
            floor: content.floor,
            last: content.last,
        })
    }

    fn append(&self, batch: &Batch) -> Result<(), LogError> {
        let mut content = self.content();
        if let Some(last) = batch.records.last() {
            content.last = last.revision;
        }
        content.batches.push_back(batch.clone());
        Ok(())
    }

    fn compact(&self, floor: Revision) -> Result<bool, LogError> {
        let mut content = self.content();
        let first = content.batches.front().and_then(|batch| batch.records.last());
        if first.is_none_or(|last| last.revision > floor) {
            return Ok(false);
        }
        let Some(batch) = content.batches.pop_front() else {
            return Ok(false);
        };
        for record in batch.records {
            content.floor = record.revision;
            match record.change {
                Change::Put { .. } => content.settled.insert(Arc::clone(&record.key), record),
                Change::Delete => content.settled.remove(&record.key),
            };
        }
        Ok(true)
    }

    fn keeps_history(&self) -> bool {
        self.keeps_history
    }

    fn read_back(&self, writes: &[WriteId]) -> Result<Vec<Option<Record>>, LogError> {
        let content = self.content();
        let find = |write: &WriteId| {
            let is_it = |record: &&Record| record.revision == write.revision;
            let last = |batch: &Batch| batch.records.last().is_some_and(|last| last.revision < write.revision);
            let batch = content.batches.get(content.batches.partition_point(last));
            let change = batch.and_then(|batch| batch.records.iter().find(is_it));
            change
                .or_else(|| content.settled.get(&write.key).filter(is_it))
                .cloned()
        };
        Ok(writes.iter().map(find).collect())
    }

    fn size(&self) -> u64 {
        let content = self.content();
        let states = content.settled.values();
        let changes = content.batches.iter().flat_map(|batch| &batch.records);
        states.chain(changes).map(|record| record.bytes.len() as u64).sum()
    }
}
