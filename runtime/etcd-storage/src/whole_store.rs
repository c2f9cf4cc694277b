//! The content of a prefix in etcd, read or replaced as a whole.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use planesmith_control_plane::store_scheme::{OnRead, OnRevision, OpenStore};
use planesmith_machinery::clock::{Clock, SystemClock};
use planesmith_store::backend::{Backend as _, StateWrite};
use planesmith_store::log::{Change, Record};
use planesmith_store::{Amount, Expect, Fidelity, LoadedSource, Revision, Target, TransferError};
use planesmith_store_etcd::{BulkError, Etcd, SnapshotState};
use tokio::runtime::Handle;

use crate::connection::REGISTRY;

/// Objects that are written together, within these bytes.
const BATCH: usize = 1024;
const BATCH_BYTES: u64 = 8 << 20;

/// Maximum number of writes for the sake of the revision alone. etcd takes some thousands a second.
const MAX_ADVANCES: u64 = 2_000_000;

/// Writes for the revision between two reports of progress: those of some tenths of a second.
const ADVANCES: u64 = 1000;

/// A prefix in etcd.
pub(crate) struct WholeStore {
    etcd: Arc<Etcd>,
    place: String,
    runtime: Handle,
    /// The least revision after the transfer.
    needed: Revision,
}

impl WholeStore {
    pub(crate) fn new(etcd: Etcd, place: String, runtime: &Handle) -> Self {
        Self {
            etcd: Arc::new(etcd),
            place,
            runtime: runtime.clone(),
            needed: Revision::ZERO,
        }
    }

    fn newest(&self) -> Result<Revision, TransferError> {
        self.runtime
            .block_on(self.etcd.newest())
            .map_err(|error| failed(&error))
    }

    fn perform<T>(&self, work: impl Future<Output = Result<T, BulkError>>) -> Result<T, TransferError> {
        self.runtime.block_on(work).map_err(|error| failed(&error))
    }

    /// The error for a cluster whose revision is too small.
    fn too_old(&self, newest: Revision) -> TransferError {
        let Revision(needed) = self.needed;
        TransferError::Target(format!(
            "this etcd is at revision {newest}, but clients of the source may have seen {needed} and would not notice changes before \
             that. Begin with a cluster whose revision is higher: take a snapshot of an empty member (etcdctl snapshot save), and \
             restore it with etcdutl snapshot restore --bump-revision={needed} --mark-compacted (etcd 3.6). Or stop all clients \
             and add --accept-older-revisions"
        ))
    }
}

impl OpenStore for WholeStore {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn is_canonical(&self) -> bool {
        false
    }

    fn stored_key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        self.etcd.stored_key(key)
    }

    fn read(&mut self, program: &str, now: u64, progress: &mut OnRead<'_>) -> Result<LoadedSource, TransferError> {
        if self.perform(self.etcd.has_transfer_mark())? {
            return Err(TransferError::Target(
                "a copy or a restore of a store is being written, or was interrupted; repeat it".to_owned(),
            ));
        }
        self.reread(now, progress).map(|source| source.of_program(program))
    }

    fn known_revision(&mut self) -> Result<Revision, TransferError> {
        // A higher one follows anyway.
        Ok(Revision::ZERO)
    }

    fn begin(&mut self, revision: Revision) -> Result<(), TransferError> {
        self.needed = revision;
        if self.perform(self.etcd.has_transfer_mark())? {
            // An interrupted copy has written all that is there.
            self.abandon()?;
        }
        if self.perform(self.etcd.has_content(REGISTRY))? {
            return Err(TransferError::Target(
                "there are objects already; expected an empty prefix (etcdctl del --prefix deletes them)".to_owned(),
            ));
        }
        let newest = self.newest()?;
        if revision.0.saturating_sub(newest.0) > MAX_ADVANCES {
            return Err(self.too_old(newest));
        }
        self.perform(self.etcd.mark_transfer())
    }

    fn target(&mut self) -> Result<Box<dyn Target + '_>, TransferError> {
        Ok(Box::new(Writing {
            store: self,
            writes: Vec::new(),
            bytes: 0,
        }))
    }

    fn raise_revision(&mut self, progress: &mut OnRevision<'_>) -> Result<(), TransferError> {
        let begin = self.newest()?;
        let total = self.needed.0.saturating_sub(begin.0);
        loop {
            let newest = self.newest()?;
            let missing = self.needed.0.saturating_sub(newest.0);
            progress(total.saturating_sub(missing), total)?;
            if missing == 0 {
                return Ok(());
            }
            self.perform(self.etcd.advance(missing.min(ADVANCES)))?;
        }
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Content
    }

    fn reread(&mut self, now: u64, progress: &mut OnRead<'_>) -> Result<LoadedSource, TransferError> {
        let (sender, pages) = channel();
        let etcd = Arc::clone(&self.etcd);
        let reading = self.runtime.spawn(async move {
            let mut page = move |objects, bytes| {
                // The receiver may have given up.
                let _ = sender.send((objects, bytes));
            };
            etcd.snapshot(REGISTRY, &mut page).await
        });
        let mut amount = Amount::default();
        for (objects, bytes) in pages {
            amount.objects += objects;
            amount.bytes += bytes;
            progress(amount, 0).inspect_err(|_| reading.abort())?;
        }
        let snapshot = self.runtime.block_on(reading);
        let snapshot = snapshot
            .map_err(|error| failed(&error))?
            .map_err(|error| failed(&error))?;
        let records = snapshot.states.into_iter().map(|state| record(state, now));
        Ok(LoadedSource::new(records.collect(), snapshot.revision, "", now))
    }

    fn commit(&mut self) -> Result<Vec<String>, TransferError> {
        let newest = self.newest()?;
        self.perform(self.etcd.forget_history(newest))?;
        self.perform(self.etcd.unmark_transfer())?;
        Ok(Vec::new())
    }

    fn abandon(&mut self) -> Result<(), TransferError> {
        self.perform(self.etcd.delete_all(REGISTRY))?;
        self.perform(self.etcd.unmark_transfer())
    }
}

/// Receives the objects, and writes many at the same time.
struct Writing<'a> {
    store: &'a mut WholeStore,
    writes: Vec<StateWrite>,
    bytes: u64,
}

impl Writing<'_> {
    fn flush(&mut self) -> Result<(), TransferError> {
        self.bytes = 0;
        let writes = std::mem::take(&mut self.writes);
        self.store.perform(self.store.etcd.create_all(writes))
    }
}

impl Target for Writing<'_> {
    fn put(&mut self, record: Record) -> Result<(), TransferError> {
        let ttl = match record.change {
            Change::Put { expires: 0 } => None,
            Change::Put { expires } => match expires.saturating_sub(SystemClock.unix_millis()) {
                // It has expired meanwhile.
                0 => return Ok(()),
                // Leases have whole seconds; none ends early.
                left => Some(Duration::from_secs(left.div_ceil(1000))),
            },
            Change::Delete => return Ok(()),
        };
        self.bytes += record.size();
        self.writes.push(StateWrite {
            key: record.key,
            value: Some(record.bytes),
            expect: Expect::Absent,
            lifetime: ttl.into(),
        });
        match self.writes.len() >= BATCH || self.bytes >= BATCH_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn finish(&mut self, _revision: Revision) -> Result<(), TransferError> {
        self.flush()
    }
}

fn record(found: SnapshotState, now: u64) -> Record {
    let left = found.ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
    Record {
        revision: found.state.revision,
        key: found.state.key,
        change: Change::Put {
            expires: left.map_or(0, |left| now.saturating_add(left)),
        },
        bytes: found.state.value,
        gap: None,
    }
}

fn failed(error: &dyn std::error::Error) -> TransferError {
    let causes = std::iter::successors(error.source(), |error| error.source());
    let causes = causes.map(|cause| format!(": {cause}"));
    TransferError::Target(format!("{error}{}", causes.collect::<String>()))
}
