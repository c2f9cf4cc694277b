//! Empties namespaces that are being deleted, and lets them go.

mod conditions;
mod contents;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use planesmith_machinery::time::Time;
use planesmith_server::chain::ApiServer;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{At, Entry, ListQuery, WatchError, Watcher};
use serde_json::{Value, json};

use self::contents::Contents;
use super::served_kinds::ServedKinds;
use crate::loopback::{Loopback, LoopbackError};

/// The finalizer that stands for this controller.
const FINALIZER: &str = "kubernetes";

/// How often a namespace is looked at again whose content is held by finalizers.
const RETRY: Duration = Duration::from_secs(1);

/// Deletes everything in terminating namespaces, then removes its finalizer from them.
pub(super) struct NamespaceController {
    kinds: ServedKinds,
    namespaces: Arc<ResourceStore>,
    loopback: Loopback,
}

impl NamespaceController {
    /// Empties namespaces of what `server`, and those that it delegates to, store. `None` without namespaces.
    pub(super) fn new(server: &ApiServer, stores: &Stores, loopback: &Loopback) -> Option<Self> {
        let namespaces = crate::namespaces::store(stores)?;
        Some(Self {
            kinds: ServedKinds::of(server),
            namespaces,
            loopback: loopback.clone(),
        })
    }

    /// Works until the server stops.
    pub(super) async fn run(self, mut shutdown: Shutdown) {
        let (mut waiting, mut watcher) = self.look();
        loop {
            let mut remaining = BTreeSet::new();
            for name in &waiting {
                match self.finish(name).await {
                    Ok(true) => {}
                    Ok(false) => drop(remaining.insert(name.clone())),
                    // Somebody changed it meanwhile.
                    Err(error) if error.status() == Some(StatusCode::CONFLICT) => drop(remaining.insert(name.clone())),
                    Err(error) => {
                        tracing::warn!(namespace = name, %error, "a namespace cannot be emptied yet");
                        remaining.insert(name.clone());
                    }
                }
            }
            waiting = remaining;
            let retry = async {
                if waiting.is_empty() {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(RETRY).await;
            };
            tokio::select! {
                () = shutdown.requested() => return,
                () = retry => {}
                events = watcher.next() => match events {
                    Ok(events) => waiting.extend(events.iter().filter_map(|event| self.terminating(event.entry()))),
                    Err(WatchError::Closed) => return,
                    Err(_) => (waiting, watcher) = self.look(),
                },
            }
        }
    }

    /// The namespaces that are terminating now, and what happens from now on.
    fn look(&self) -> (BTreeSet<String>, Watcher) {
        let collection = self.namespaces.collection();
        let all = ListQuery {
            prefix: collection.prefix(),
            after: None,
            limit: None,
            at: At::Latest,
            filter: None,
        };
        let (page, watcher) = collection.list_and_watch(&all);
        (
            page.entries
                .iter()
                .filter_map(|entry| self.terminating(entry))
                .collect(),
            watcher,
        )
    }

    /// The name, if the namespace is terminating.
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

    /// Deletes what is in the namespace, and lets it go when nothing is left; whether it was let go.
    async fn finish(&self, name: &str) -> Result<bool, LoopbackError> {
        let path = format!("/api/v1/namespaces/{name}");
        let namespace = match self.loopback.send(Method::GET, &path, None).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => return Ok(true),
            other => other?,
        };
        let held = namespace.pointer("/spec/finalizers").and_then(Value::as_array);
        if !held.is_some_and(|held| held.contains(&json!(FINALIZER))) {
            return Ok(true);
        }
        let contents = Contents::delete(&self.loopback, &self.kinds.now(), name).await;
        let namespace = self.report(&path, namespace, &contents).await?;
        if !contents.is_gone() {
            return Ok(false);
        }
        self.let_go(&path, namespace).await?;
        Ok(true)
    }

    /// Says in the conditions what is left. Returns the namespace as it is then.
    async fn report(&self, path: &str, mut namespace: Value, contents: &Contents) -> Result<Value, LoopbackError> {
        let conditions = namespace.pointer("/status/conditions").and_then(Value::as_array);
        let before = conditions.cloned().unwrap_or_default();
        let after = conditions::updated(before.clone(), contents, &Time::now().to_string());
        if after == before {
            return Ok(namespace);
        }
        namespace["status"]["conditions"] = Value::Array(after);
        let path = format!("{path}/status");
        self.loopback.send(Method::PUT, &path, Some(&namespace)).await
    }

    async fn let_go(&self, path: &str, mut namespace: Value) -> Result<(), LoopbackError> {
        if let Some(Value::Array(finalizers)) = namespace.pointer_mut("/spec/finalizers") {
            finalizers.retain(|finalizer| *finalizer != json!(FINALIZER));
        }
        let path = format!("{path}/finalize");
        match self.loopback.send(Method::PUT, &path, Some(&namespace)).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(()),
            other => other.map(drop),
        }
    }
}
