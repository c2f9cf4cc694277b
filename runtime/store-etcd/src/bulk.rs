//! Reading and replacing the whole content of a prefix, for copies of a store.
//!
//! A copy writes each object by itself, so others can see an incomplete one. A key beside the prefix, the transfer mark,
//! exists meanwhile: servers do not start, and the next copy removes what an interrupted one has left.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use planesmith_store::backend::{Backend as _, BackendError, Refusal, State, StateWrite};
use planesmith_store::{Expect, Revision};

use crate::client::PAGE;
use crate::compactor;
use crate::etcd::Etcd;
use crate::failure::Failure;
use crate::keys::range_end;
use crate::load;
use crate::protocol::kv::{DeleteRange, Put, RANGE, Range, Request, TXN, Txn};
use crate::protocol::lease::{TIME_TO_LIVE, TimeToLive};

/// Requests that are under way at the same time.
const CONCURRENT: usize = 128;

/// The transfer mark, followed by the prefix.
const MARK: &str = "planesmith/transfer";

/// The reason that a content is not read or replaced.
#[derive(Debug, thiserror::Error)]
pub enum BulkError {
    /// etcd does not answer, or the connection was lost.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A write was not performed.
    #[error("{key} cannot be written")]
    Write {
        /// The key.
        key: String,
        /// The reason.
        source: Refusal,
    },
}

impl From<Failure> for BulkError {
    fn from(failure: Failure) -> Self {
        Self::Backend(failure.into())
    }
}

/// The content of a prefix at one revision.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The states, in the order of their keys.
    pub states: Vec<SnapshotState>,
    /// The revision whose state this is.
    pub revision: Revision,
}

/// The state of a key.
#[derive(Debug)]
pub struct SnapshotState {
    /// Key, revision and bytes.
    pub state: State,
    /// The time after which etcd deletes the key; `None` means never.
    pub ttl: Option<Duration>,
}

impl Etcd {
    /// Reads all keys under `prefix`, at one revision, with the time that those with a lease have left. `progress` receives
    /// the number and the bytes of each page.
    ///
    /// # Errors
    ///
    /// etcd does not answer.
    pub async fn snapshot(
        &self,
        prefix: &str,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Snapshot, BulkError> {
        let mut found = Vec::new();
        let revision = load::read_pages(&self.client, &self.keys, prefix, &mut |answer| {
            let bytes = answer.kvs.iter().map(|kv| (kv.key.len() + kv.value.len()) as u64).sum();
            progress(answer.kvs.len() as u64, bytes);
            let states = answer.kvs.into_iter();
            found.extend(states.filter_map(|kv| Some((kv.lease, load::state(&self.keys, kv)?))));
        })
        .await?;
        let mut leases: Vec<i64> = found
            .iter()
            .map(|(lease, _)| *lease)
            .filter(|lease| *lease != 0)
            .collect();
        leases.sort_unstable();
        leases.dedup();
        let times = stream::iter(leases).map(|id| async move {
            let answer = self.client.repeat(&TIME_TO_LIVE, TimeToLive { id }, PAGE).await?;
            Ok::<_, Failure>((id, Duration::from_secs(answer.ttl.max(1).unsigned_abs())))
        });
        let times: Vec<_> = times.buffer_unordered(CONCURRENT).collect().await;
        let times: HashMap<i64, Duration> = times.into_iter().collect::<Result<_, _>>()?;
        let states = found.into_iter().map(|(lease, state)| SnapshotState {
            state,
            ttl: times.get(&lease).copied(),
        });
        Ok(Snapshot {
            states: states.collect(),
            revision,
        })
    }

    /// Returns true if there is a key under `prefix`.
    ///
    /// # Errors
    ///
    /// etcd does not answer.
    pub async fn has_content(&self, prefix: &str) -> Result<bool, BulkError> {
        let key = self.keys.to_etcd(prefix);
        let range = Range {
            range_end: range_end(&key),
            key,
            limit: 1,
            revision: 0,
            keys_only: true,
        };
        let answer = self.client.repeat(&RANGE, range, PAGE).await?;
        Ok(!answer.kvs.is_empty())
    }

    /// Creates the keys of `writes`, none of which exists; many at the same time.
    ///
    /// # Errors
    ///
    /// The first write that failed; others may have been performed.
    pub async fn create_all(&self, writes: Vec<StateWrite>) -> Result<(), BulkError> {
        let written = stream::iter(writes).map(|write| async move {
            let key = write.key.to_string();
            let create = StateWrite {
                expect: Expect::Absent,
                ..write
            };
            self.write(create)
                .await
                .map_err(|source| BulkError::Write { key, source })
        });
        let mut written = written.buffer_unordered(CONCURRENT);
        while let Some(result) = written.next().await {
            result?;
        }
        Ok(())
    }

    /// Deletes all keys under `prefix`.
    ///
    /// # Errors
    ///
    /// etcd does not answer.
    pub async fn delete_all(&self, prefix: &str) -> Result<(), BulkError> {
        let key = self.keys.to_etcd(prefix);
        let delete = DeleteRange {
            range_end: range_end(&key),
            key,
        };
        self.perform(Request::DeleteRange(delete)).await
    }

    /// Writes the transfer mark `count` times, which increases the revision by as much.
    ///
    /// # Errors
    ///
    /// etcd does not answer.
    pub async fn advance(&self, count: u64) -> Result<(), BulkError> {
        let writes = stream::iter(0..count).map(|_| self.mark_transfer());
        let mut writes = writes.buffer_unordered(CONCURRENT);
        while let Some(result) = writes.next().await {
            result?;
        }
        Ok(())
    }

    /// Writes the transfer mark.
    ///
    /// # Errors
    ///
    /// etcd does not answer.
    pub async fn mark_transfer(&self) -> Result<(), BulkError> {
        let put = Put {
            key: self.mark(),
            value: "a copy of a store is being written".into(),
            ..Put::default()
        };
        self.perform(Request::Put(put)).await
    }

    /// Removes the transfer mark.
    ///
    /// # Errors
    ///
    /// etcd does not answer.
    pub async fn unmark_transfer(&self) -> Result<(), BulkError> {
        let delete = DeleteRange {
            key: self.mark(),
            range_end: Vec::new(),
        };
        self.perform(Request::DeleteRange(delete)).await
    }

    /// Returns true if a copy is being written, or was interrupted.
    ///
    /// # Errors
    ///
    /// etcd does not answer.
    pub async fn has_transfer_mark(&self) -> Result<bool, BulkError> {
        let range = Range {
            key: self.mark(),
            keys_only: true,
            ..Range::default()
        };
        let answer = self.client.repeat(&RANGE, range, PAGE).await?;
        Ok(!answer.kvs.is_empty())
    }

    /// Lets etcd forget its history up to `revision`: watches from before are refused.
    ///
    /// # Errors
    ///
    /// etcd does not answer.
    pub async fn forget_history(&self, revision: Revision) -> Result<(), BulkError> {
        let revision = i64::try_from(revision.0).unwrap_or(i64::MAX);
        Ok(compactor::compact(&self.client, revision).await?)
    }

    /// Performs one operation, again if its answer is lost.
    async fn perform(&self, operation: Request) -> Result<(), BulkError> {
        let txn = Txn {
            success: vec![operation.into()],
            ..Txn::default()
        };
        self.client.repeat(&TXN, txn, PAGE).await?;
        Ok(())
    }

    fn mark(&self) -> Vec<u8> {
        [MARK.as_bytes(), &self.keys.to_etcd("/registry")].concat()
    }
}
