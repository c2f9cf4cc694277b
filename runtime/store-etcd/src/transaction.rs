//! Writes as transactions.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use planesmith_store::backend::{Lifetime, Refusal, StateWrite};
use planesmith_store::{Expect, Revision};

use crate::client::Client;
use crate::failure::{Failure, Refused};
use crate::keys::Keys;
use crate::leases::Leases;
use crate::load::revision;
use crate::protocol::kv::{Attribute, Compare, Comparison, DeleteRange, Operand, Put, Range, Request, TXN, Txn};

/// Bytes of a request that a member accepts unless it is configured differently.
const REQUEST_LIMIT: usize = 3 << 19;

/// Performs `write` if its condition is met. Returns its revision.
pub(crate) async fn write(
    client: &Client,
    keys: &Keys,
    leases: &Leases,
    write: StateWrite,
) -> Result<Revision, Refusal> {
    let mut txn = transaction(keys, &write);
    let Lifetime::Limited(ttl) = write.lifetime else {
        return commit(client, txn).await.map_err(refusal);
    };
    let lease = attach(client, leases, &mut txn, ttl).await?;
    match commit(client, txn.clone()).await {
        // The clocks disagree, or another client revoked the lease: nothing was written.
        Err(Uncommitted::Failed(Failure::Refused(Refused::LeaseNotFound))) => {
            leases.forget(lease).await;
            attach(client, leases, &mut txn, ttl).await?;
            commit(client, txn).await.map_err(refusal)
        }
        committed => committed.map_err(refusal),
    }
}

/// Writes all of `changes` with one revision, whatever the states of their keys; `None` deletes.
pub(crate) async fn write_all(
    client: &Client,
    keys: &Keys,
    changes: Vec<(Arc<str>, Option<Bytes>)>,
) -> Result<Revision, Refusal> {
    let operations = changes
        .into_iter()
        .map(|(key, value)| operation(keys.to_etcd(&key), value).into());
    let txn = Txn {
        success: operations.collect(),
        ..Txn::default()
    };
    commit(client, txn).await.map_err(refusal)
}

/// The reason that a transaction was not committed, as far as known.
enum Uncommitted {
    Conflict { at: Revision },
    Failed(Failure),
}

async fn commit(client: &Client, txn: Txn) -> Result<Revision, Uncommitted> {
    let answer = client.once(&TXN, txn).await.map_err(Uncommitted::Failed)?;
    let at = revision(answer.header.unwrap_or_default().revision);
    if answer.succeeded {
        return Ok(at);
    }
    // A feed has the write of an existing state, but it may never have a change as new as the answer.
    let at = answer.found().map_or(at, |current| revision(current.mod_revision));
    Err(Uncommitted::Conflict { at })
}

/// Attaches the written key to a lease.
async fn attach(client: &Client, leases: &Leases, txn: &mut Txn, ttl: Duration) -> Result<i64, Refusal> {
    let lease = leases.lease(client, ttl).await;
    // Only the lease may have been granted.
    let lease = lease.map_err(|failure| Refusal::Unavailable(failure.reason()))?;
    for operation in &mut txn.success {
        if let Some(Request::Put(put)) = &mut operation.request {
            put.lease = lease;
        }
    }
    Ok(lease)
}

/// Returns the transaction of `write`, which reads the state that contradicts its condition.
fn transaction(keys: &Keys, write: &StateWrite) -> Txn {
    let key = keys.to_etcd(&write.key);
    let compare = |comparison: Comparison, attribute: Attribute, operand: Operand| Compare {
        comparison: comparison.into(),
        attribute: attribute.into(),
        key: key.clone(),
        operand: Some(operand),
    };
    let is_at = |number| compare(Comparison::Equal, Attribute::ModRevision, Operand::ModRevision(number));
    let condition = match write.expect {
        Expect::Absent => Some(is_at(0)),
        Expect::Revision(revision) => Some(is_at(i64::try_from(revision.0).unwrap_or(i64::MAX))),
        Expect::Present => Some(compare(Comparison::Greater, Attribute::Version, Operand::Version(0))),
        Expect::Any => None,
    };
    let mut success = operation(key.clone(), write.value.clone());
    if let (Request::Put(put), Lifetime::Unchanged) = (&mut success, write.lifetime) {
        put.ignore_lease = true;
    }
    let read = Range {
        key,
        keys_only: true,
        ..Range::default()
    };
    Txn {
        compare: condition.into_iter().collect(),
        success: vec![success.into()],
        failure: vec![Request::Range(read).into()],
    }
}

fn operation(key: Vec<u8>, value: Option<Bytes>) -> Request {
    match value {
        Some(value) => Request::Put(Put {
            key,
            value,
            ..Put::default()
        }),
        None => Request::DeleteRange(DeleteRange {
            key,
            range_end: Vec::new(),
        }),
    }
}

fn refusal(uncommitted: Uncommitted) -> Refusal {
    let failure = match uncommitted {
        Uncommitted::Conflict { at } => return Refusal::Conflict { at },
        Uncommitted::Failed(failure) => failure,
    };
    match failure {
        Failure::Refused(Refused::Full) => Refusal::Full,
        Failure::Refused(Refused::TooLarge) => Refusal::TooLarge { limit: REQUEST_LIMIT },
        Failure::Refused(_) | Failure::MemberUnavailable(_) | Failure::Overloaded(_) => {
            Refusal::Unavailable(failure.reason())
        }
        Failure::Undecided(_) | Failure::Lost(_) => Refusal::OutcomeUnknown(failure.reason()),
    }
}
