//! Deletes the contents of terminating namespaces, and then their finalizer.

mod conditions;
mod contents;
mod drain;
mod remote;

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use planesmith_machinery::time::Time;
use planesmith_server::chain::SharedTable;
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::metrics::QueueMeter;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{Entry, Event, ListQuery, WatchError};
use serde_json::{Value, json};

use self::contents::Contents;
use self::drain::DrainSender;
use super::MANAGER;
use super::served_kinds::ServedKinds;
use crate::delaying_queue::Delays;
use crate::loopback::{Loopback, LoopbackError};
use crate::work_queue::{Outcome, WorkQueue};

/// The finalizer of this controller.
const FINALIZER: &str = "kubernetes";

/// The number of namespaces that are processed at the same time.
const WORKERS: usize = 10;

/// The delays after which a namespace is processed again whose objects have finalizers or a grace period, and are not
/// deleted meanwhile.
const DELAYS: Delays = Delays {
    first: Duration::from_millis(500),
    longest: Duration::from_secs(8),
};

/// Deletes everything in terminating namespaces, then removes its finalizer from them.
pub(super) struct NamespaceController {
    kinds: ServedKinds,
    directory: GroupDirectory,
    namespaces: Arc<ResourceStore>,
    loopback: Loopback,
    meter: Arc<QueueMeter>,
}

impl NamespaceController {
    /// Deletes the objects in namespaces that are stored by `server` and by those that it delegates to, and those of
    /// the servers in `directory`. `None` without namespaces.
    pub(super) fn new(
        tables: &[SharedTable],
        stores: &Stores,
        loopback: &Loopback,
        directory: &GroupDirectory,
    ) -> Option<Self> {
        let namespaces = crate::namespaces::store(stores)?;
        Some(Self {
            kinds: ServedKinds::from_tables(tables),
            directory: directory.clone(),
            namespaces,
            loopback: loopback.clone(),
            meter: stores.options().metrics.queue("namespace"),
        })
    }

    /// Runs until the server stops.
    pub(super) async fn run(self, mut shutdown: Shutdown) {
        let queue = WorkQueue::new(DELAYS, Arc::clone(&self.meter));
        let (drain, left) = DrainSender::new();
        tokio::select! {
            () = shutdown.requested() => {}
            () = queue.work(WORKERS, |name| self.reconcile(name, &drain)) => {}
            () = self.follow(&queue) => {}
            () = left.requeue_drained(&queue) => {}
        }
    }

    /// Adds terminating namespaces to the queue, until the store is closed.
    async fn follow(&self, queue: &WorkQueue<String>) {
        let collection = self.namespaces.collection();
        loop {
            let (page, mut watcher) = collection.list_and_watch(&ListQuery::all(collection.prefix()));
            queue.add(page.entries.iter().filter_map(|entry| self.terminating(entry)));
            drop(page);
            loop {
                match watcher.next().await {
                    Ok(events) => queue.add(events.iter().filter_map(|event| self.starts_to_end(event))),
                    Err(WatchError::Closed) => return,
                    // Changes were missed.
                    Err(_) => break,
                }
            }
        }
    }

    async fn reconcile(&self, name: String, drain: &DrainSender) -> Outcome {
        match self.finish(&name, drain).await {
            Ok(true) => Outcome::Done,
            Ok(false) => Outcome::Requeue,
            // Another writer changed it meanwhile.
            Err(error) if error.status() == Some(StatusCode::CONFLICT) => Outcome::Requeue,
            Err(error) => {
                tracing::warn!(namespace = name, %error, "a namespace cannot be emptied yet");
                Outcome::Requeue
            }
        }
    }

    /// Returns the name if the event is the first that shows the namespace terminating: later ones are mostly reports
    /// of this controller.
    fn starts_to_end(&self, event: &Event) -> Option<String> {
        let was = event.previous().and_then(|previous| self.terminating(previous));
        self.terminating(event.entry()).filter(|_| was.is_none())
    }

    /// Returns the name if the namespace is terminating.
    fn terminating(&self, entry: &Entry) -> Option<String> {
        let position = self
            .namespaces
            .facts()
            .selectable
            .iter()
            .position(|field| *field == "status.phase")?;
        let (_, name) = self.namespaces.names(entry.key());
        (entry.row().field(position) == Some("Terminating")).then(|| name.to_owned())
    }

    /// Deletes the contents of the namespace, and its finalizer when nothing is left. Returns true if it was
    /// released. Otherwise it is processed again as soon as the remaining objects are deleted.
    async fn finish(&self, name: &str, drain: &DrainSender) -> Result<bool, LoopbackError> {
        let path = format!("/api/v1/namespaces/{name}");
        let namespace = match self.loopback.send(Method::GET, &path, None).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => return Ok(true),
            other => other?,
        };
        let held = namespace.pointer("/spec/finalizers").and_then(Value::as_array);
        if !held.is_some_and(|held| held.contains(&json!(FINALIZER))) {
            return Ok(true);
        }
        let others = self.directory.load();
        let kinds = self.kinds.now();
        let contents = Contents::delete(&self.loopback, &kinds, &others.remote, name).await;
        let namespace = self.report(&path, namespace, &contents).await?;
        if !contents.is_empty() {
            drain.await_all(name, contents.left(&kinds));
            return Ok(false);
        }
        self.let_go(&path, namespace).await?;
        Ok(true)
    }

    /// Reports the remaining contents in the conditions. Returns the namespace with these.
    async fn report(&self, path: &str, mut namespace: Value, contents: &Contents) -> Result<Value, LoopbackError> {
        let conditions = namespace.pointer("/status/conditions").and_then(Value::as_array);
        let before = conditions.cloned().unwrap_or_default();
        let after = conditions::updated(&before, contents, &Time::from(self.loopback.clock().now()).to_string());
        if after == before {
            return Ok(namespace);
        }
        namespace["status"]["conditions"] = Value::Array(after);
        let path = format!("{path}/status?fieldManager={MANAGER}");
        self.loopback.send(Method::PUT, &path, Some(&namespace)).await
    }

    async fn let_go(&self, path: &str, mut namespace: Value) -> Result<(), LoopbackError> {
        if let Some(Value::Array(finalizers)) = namespace.pointer_mut("/spec/finalizers") {
            finalizers.retain(|finalizer| *finalizer != json!(FINALIZER));
        }
        let path = format!("{path}/finalize?fieldManager={MANAGER}");
        match self.loopback.send(Method::PUT, &path, Some(&namespace)).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(()),
            other => other.map(drop),
        }
    }
}
