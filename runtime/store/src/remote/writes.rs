//! Writes as transactions of the backend.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Remote;
use crate::backend::{Lifetime, Refusal, StateWrite};
use crate::committer::KEY_LIMIT;
use crate::transformer::{Reason, TransformError};
use crate::write::{CLOSED_MEANWHILE, Expect, Op, WriteError, WriteResult, Written};
use crate::{Collection, Draft, Entry, Revision, Submission};

/// Maximum time that an answer waits until the cache shows the write.
const VISIBLE: Duration = Duration::from_secs(5);

impl Remote {
    /// Performs a write, and answers it.
    pub(super) async fn perform(self: &Arc<Self>, submission: Submission) {
        let Submission { collection, op, reply } = submission;
        let mut closed = self.closed.subscribe();
        let result = match self.is_closed() {
            true => Err(WriteError::Closed),
            false => tokio::select! {
                biased;
                result = self.write(&collection, op) => result,
                _ = closed.wait_for(|closed| *closed) => Err(WriteError::OutcomeUnknown(CLOSED_MEANWHILE.into())),
            },
        };
        // The caller may have been dropped.
        let _ = reply.send(result);
    }

    async fn write(self: &Arc<Self>, collection: &Arc<Collection>, op: Op) -> WriteResult {
        let size = op.size();
        let limit = self.write_limit;
        if size > limit || op.key().len() > KEY_LIMIT {
            return Err(WriteError::TooLarge { size, limit });
        }
        if let Op::Delete {
            key,
            expect: Expect::Absent,
            ..
        } = &op
        {
            // Never possible: a key without a state cannot be deleted, either.
            let _ = self.fresh(VISIBLE).await;
            let current = collection.get(key);
            return Err(WriteError::Conflict { current });
        }
        // History may be forgotten before the change can be read from it.
        let before = collection.get(op.key());
        let write = write_of(collection, &op).map_err(WriteError::Transform)?;
        let begin = Instant::now();
        let revision = match self.backend.write(write).await {
            Ok(revision) => revision,
            Err(refusal) => return Err(self.refused(collection, &op, refusal).await),
        };
        let synced = begin.elapsed();
        self.becomes_visible(revision).await;
        if let Some(event) = collection.change_at(op.key(), revision) {
            return Ok(Written {
                entry: Arc::clone(event.entry()),
                previous: event.previous().cloned(),
                synced,
            });
        }
        // The write counts, though the cache does not show it yet, or its history has forgotten it already.
        let key = Arc::clone(op.key());
        let entry = match (op, before) {
            (
                Op::Put { draft, row, .. }
                | Op::Rewrite { draft, row, .. }
                | Op::Delete {
                    last: Some((draft, row)),
                    ..
                },
                _,
            ) => Entry::written(&key, (draft, &row), revision, 0, None),
            (Op::Delete { last: None, .. }, Some(before)) => before.deleted_at(revision),
            (Op::Delete { last: None, .. }, None) => {
                let reason = format!("{key} was deleted at revision {revision}, and its last state is forgotten");
                return Err(WriteError::OutcomeUnknown(reason.into()));
            }
        };
        Ok(Written {
            entry: Arc::new(entry),
            previous: None,
            synced,
        })
    }

    async fn becomes_visible(&self, revision: Revision) {
        // An answer that comes too early is correct: readers that need the newest state wait for it.
        let _ = tokio::time::timeout(VISIBLE, self.reach(revision)).await;
    }

    async fn refused(&self, collection: &Collection, op: &Op, refusal: Refusal) -> WriteError {
        match refusal {
            Refusal::Conflict { at } => {
                // A caller that tries again reads the cache.
                self.becomes_visible(at).await;
                let current = collection.get(op.key());
                WriteError::Conflict { current }
            }
            Refusal::Full => WriteError::Full,
            Refusal::TooLarge { limit } => WriteError::TooLarge { size: op.size(), limit },
            Refusal::Unavailable(reason) => WriteError::Unavailable(reason),
            Refusal::OutcomeUnknown(reason) => WriteError::OutcomeUnknown(reason),
        }
    }
}

fn write_of(collection: &Collection, op: &Op) -> Result<StateWrite, TransformError> {
    let value = |key: &str, draft: &Draft| {
        let plain = collection.indexer().encode(key, draft);
        let sealed = collection.values().seal(key, &plain, Reason::Update)?;
        Ok(Some(sealed.unwrap_or(plain)))
    };
    Ok(match op {
        Op::Put {
            key,
            draft,
            expect,
            ttl,
            ..
        } => StateWrite {
            key: Arc::clone(key),
            value: value(key, draft)?,
            expect: *expect,
            lifetime: (*ttl).into(),
        },
        Op::Rewrite {
            key, draft, revision, ..
        } => StateWrite {
            key: Arc::clone(key),
            value: value(key, draft)?,
            expect: Expect::Revision(*revision),
            lifetime: Lifetime::Unchanged,
        },
        Op::Delete { key, expect, .. } => StateWrite {
            key: Arc::clone(key),
            value: None,
            expect: match expect {
                Expect::Any => Expect::Present,
                Expect::Absent | Expect::Present | Expect::Revision(_) => *expect,
            },
            lifetime: Lifetime::Unlimited,
        },
    })
}
