//! Compaction by one of several servers, in kube-apiserver's protocol.
//!
//! A key counts the compactions. At every interval each server tries to increment it: the one that succeeds compacts up to
//! the revision of the interval before, and the others learn the number. So servers of both programs take turns.

use std::sync::Arc;
use std::time::Duration;

use crate::client::{Client, QUICK};
use crate::failure::{Failure, Refused};
use crate::protocol::kv::{Attribute, COMPACT, Compact, Compare, Comparison, Operand, Put, Range, Request, TXN, Txn};

/// The key, outside of all prefixes; its version is the number of compactions and its value the last one's revision.
const KEY: &[u8] = b"compact_rev_key";

/// The knowledge of one server about compactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The version of the key when this server last saw it.
    version: i64,
    /// The revision of the store at that time.
    revision: i64,
}

/// Takes part in compactions for as long as the task lives.
pub(crate) async fn run(client: Arc<Client>, interval: Duration) {
    let mut turn = Turn::default();
    loop {
        tokio::time::sleep(interval).await;
        match take(&client, turn).await {
            Ok(next) => turn = next,
            Err(failure) => tracing::warn!(error = %failure.reason(), "etcd cannot be compacted"),
        }
    }
}

/// Compacts if no other server did since `turn`. Returns the next one.
pub(crate) async fn take(client: &Client, turn: Turn) -> Result<Turn, Failure> {
    let unchanged = Compare {
        comparison: Comparison::Equal.into(),
        attribute: Attribute::Version.into(),
        key: KEY.to_vec(),
        operand: Some(Operand::Version(turn.version)),
    };
    let count = Put {
        key: KEY.to_vec(),
        value: turn.revision.to_string().into(),
        ..Put::default()
    };
    let read = Range {
        key: KEY.to_vec(),
        ..Range::default()
    };
    let txn = Txn {
        compare: vec![unchanged],
        success: vec![Request::Put(count).into()],
        failure: vec![Request::Range(read).into()],
    };
    let answer = client.once(&TXN, txn).await?;
    let revision = answer.header.unwrap_or_default().revision;
    if !answer.succeeded {
        let version = answer.found().map_or(0, |key| key.version);
        return Ok(Turn { version, revision });
    }
    // The first turn only notes the revision.
    if turn.revision > 0 {
        compact(client, turn.revision).await?;
        tracing::debug!(revision = turn.revision, "compacted etcd");
    }
    Ok(Turn {
        version: turn.version + 1,
        revision,
    })
}

/// Forgets history before `revision`.
pub(crate) async fn compact(client: &Client, revision: i64) -> Result<(), Failure> {
    match client.repeat(&COMPACT, Compact { revision }, QUICK).await {
        Ok(_) | Err(Failure::Refused(Refused::Compacted)) => Ok(()),
        Err(failure) => Err(failure),
    }
}
