//! Empties namespaces that are being deleted, and lets them go.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use planesmith_machinery::resource::{ResourceFacts, Scope};
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{At, Entry, ListQuery, WatchError, Watcher};
use serde_json::{Value, json};

use crate::loopback::{Loopback, LoopbackError};

/// The finalizer that stands for this controller.
const FINALIZER: &str = "kubernetes";

/// How often a namespace is looked at again whose content is held by finalizers.
const RETRY: Duration = Duration::from_secs(1);

/// Deletes everything in terminating namespaces, then removes its finalizer from them.
pub(super) struct NamespaceController {
    stores: Stores,
    namespaces: Arc<ResourceStore>,
    loopback: Loopback,
}

impl NamespaceController {
    /// `None` for a server without namespaces.
    pub(super) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        let namespaces = crate::namespaces::store(stores)?;
        Some(Self {
            stores: stores.clone(),
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
        let mut left = 0;
        for facts in self.namespaced() {
            let resource = self.stores.resource(facts);
            if self.is_empty(&resource, name) {
                continue;
            }
            self.loopback.send(Method::DELETE, &path(facts, name), None).await?;
            left += usize::from(!self.is_empty(&resource, name));
        }
        if left > 0 {
            return Ok(false);
        }
        self.let_go(name).await?;
        Ok(true)
    }

    /// Every namespaced kind, in its storage version.
    fn namespaced(&self) -> impl Iterator<Item = &'static ResourceFacts> {
        let kinds = self.stores.scheme().iter();
        kinds.filter(|facts| facts.scope == Scope::Namespaced && facts.conversion.is_none() && facts.served)
    }

    fn is_empty(&self, resource: &ResourceStore, namespace: &str) -> bool {
        let prefix = resource.prefix(namespace);
        let one = ListQuery {
            prefix: &prefix,
            after: None,
            limit: Some(1),
            at: At::Latest,
            filter: None,
        };
        resource
            .collection()
            .list(&one)
            .is_ok_and(|page| page.entries.is_empty())
    }

    async fn let_go(&self, name: &str) -> Result<(), LoopbackError> {
        let path = format!("/api/v1/namespaces/{name}");
        let mut namespace = match self.loopback.send(Method::GET, &path, None).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => return Ok(()),
            other => other?,
        };
        if let Some(Value::Array(finalizers)) = namespace.pointer_mut("/spec/finalizers") {
            finalizers.retain(|finalizer| *finalizer != json!(FINALIZER));
        }
        match self
            .loopback
            .send(Method::PUT, &format!("{path}/finalize"), Some(&namespace))
            .await
        {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(()),
            other => other.map(drop),
        }
    }
}

/// The collection of a kind in a namespace.
fn path(facts: &ResourceFacts, namespace: &str) -> String {
    let root = if facts.group.is_empty() { "/api" } else { "/apis" };
    format!("{root}/{}/namespaces/{namespace}/{}", facts.api_version, facts.plural)
}
