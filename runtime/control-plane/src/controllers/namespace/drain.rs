//! Requeues namespaces once their remaining objects are deleted.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use planesmith_store::{WatchError, WatchFrom};
use tokio::sync::mpsc;

use crate::controllers::served_kinds::ServedKind;
use crate::work_queue::WorkQueue;

/// A pending wait: a namespace, and the kinds that have objects left in it.
type Wait = (String, Vec<Arc<ServedKind>>);

/// The sender of waits.
#[derive(Debug)]
pub(super) struct DrainSender(mpsc::UnboundedSender<Wait>);

/// The receiver of waits.
#[derive(Debug)]
pub(super) struct DrainReceiver(mpsc::UnboundedReceiver<Wait>);

impl DrainSender {
    pub(super) fn new() -> (Self, DrainReceiver) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), DrainReceiver(receiver))
    }

    /// Requeues a namespace when none of these kinds has objects left in it.
    pub(super) fn await_all(&self, namespace: &str, kinds: Vec<Arc<ServedKind>>) {
        if !kinds.is_empty() {
            // The receiver is dropped when the server stops.
            let _ = self.0.send((namespace.to_owned(), kinds));
        }
    }
}

impl DrainReceiver {
    /// Requeues the namespaces whose waits are over, for ever.
    pub(super) async fn requeue_drained(mut self, queue: &WorkQueue<String>) {
        let mut waits = FuturesUnordered::new();
        // A namespace that is waited for already is not added again: it is processed anew after the first wait.
        let mut names = HashSet::new();
        loop {
            tokio::select! {
                wait = self.0.recv() => match wait {
                    Some((name, kinds)) if names.insert(name.clone()) => waits.push(drained(name, kinds)),
                    Some(_) => {}
                    None => return std::future::pending().await,
                },
                Some(name) = waits.next() => {
                    names.remove(&name);
                    queue.add([name]);
                }
            }
        }
    }
}

/// Waits until none of the kinds has objects in the namespace. Returns its name.
async fn drained(namespace: String, kinds: Vec<Arc<ServedKind>>) -> String {
    for kind in kinds {
        let prefix = kind.store.prefix(&namespace);
        while !kind.is_empty_in(&namespace) {
            let watcher = kind.store.collection().watch(&prefix, WatchFrom::Now);
            let Ok(mut watcher) = watcher else {
                return std::future::pending().await;
            };
            // The last object may have been deleted before the watch began.
            while !kind.is_empty_in(&namespace) {
                match watcher.next().await {
                    Ok(_) => {}
                    Err(WatchError::Closed) => return std::future::pending().await,
                    // Changes were missed.
                    Err(_) => break,
                }
            }
        }
    }
    namespace
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::core::v1::ConfigMap;
    use planesmith_machinery::object::Resource as _;
    use planesmith_machinery::scheme::Scheme;
    use planesmith_server::metrics::Metrics;
    use planesmith_server::stores::ResourceStore;
    use planesmith_store::{Draft, Expect, MemoryLog, Op, Row, Storage, StorageOptions};

    use super::*;
    use crate::delaying_queue::Delays;
    use crate::work_queue::Outcome;

    fn kind(storage: &Storage) -> Arc<ServedKind> {
        let store = Arc::new(ResourceStore::with_versions(
            storage,
            ConfigMap::RESOURCE,
            &Scheme::new(),
        ));
        Arc::new(ServedKind::from_store(&store))
    }

    async fn write(kind: &ServedKind, name: &str, is_there: bool) {
        let key = kind.store.key("a", name).unwrap().as_str().into();
        let op = match is_there {
            true => Op::Put {
                key,
                draft: Draft::gapless(b"{}".to_vec()),
                row: Row::default(),
                expect: Expect::Any,
                ttl: None,
            },
            false => Op::Delete {
                key,
                expect: Expect::Any,
                last: None,
            },
        };
        kind.store.collection().write(op).await.unwrap();
    }

    #[tokio::test]
    async fn a_namespace_is_looked_at_when_nothing_is_left() {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let kind = kind(&storage);
        for name in ["one", "two"] {
            write(&kind, name, true).await;
        }
        let delays = Delays {
            first: std::time::Duration::from_secs(3600),
            longest: std::time::Duration::from_secs(3600),
        };
        let queue = WorkQueue::new(delays, Metrics::default().queue("test"));
        let (sender, receiver) = DrainSender::new();
        for _ in 0..2 {
            sender.await_all("a", vec![Arc::clone(&kind)]);
        }
        let (processed, mut namespaces) = mpsc::unbounded_channel();
        let process = |name: String| {
            processed.send((name, kind.is_empty_in("a"))).unwrap();
            std::future::ready(Outcome::Done)
        };
        let going = async {
            write(&kind, "one", false).await;
            write(&kind, "two", false).await;
            namespaces.recv().await
        };
        tokio::select! {
            () = queue.work(1, process) => {}
            () = receiver.requeue_drained(&queue) => {}
            answer = going => assert_eq!(answer, Some(("a".to_owned(), true))),
        }
    }
}
