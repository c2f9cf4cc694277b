//! The namespaces that always exist.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use http::{Method, StatusCode};
use planesmith_server::hooks::{Hook, HookError};
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{EventKind, WatchFrom, Watcher};
use serde_json::json;

use crate::loopback::{Loopback, LoopbackError};
use planesmith_server::task;

const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];

/// The delay before a failed attempt is repeated.
const RETRY: Duration = Duration::from_secs(5);

/// The hook; those that create objects in the namespaces come after it.
pub const HOOK: &str = "start-system-namespaces-controller";

/// Creates the namespaces, and creates them again when they are deleted; `None` for a server without namespaces.
pub(super) fn hook(stores: &Stores, loopback: &Loopback) -> Option<Hook> {
    let namespaces = crate::namespaces::store(stores)?;
    let loopback = loopback.clone();
    Some(Hook::new(HOOK, move |shutdown| async move {
        let refused = |error: &dyn std::fmt::Display| HookError(error.to_string());
        // Followed before they are created, so that no deletion is missed.
        let collection = namespaces.collection();
        let watcher = collection.watch(collection.prefix(), WatchFrom::Now);
        let watcher = watcher.map_err(|error| refused(&error))?;
        let made = make_all(&namespaces, &loopback).await;
        made.map_err(|error| refused(&error))?;
        task::spawn(keep(namespaces, watcher, loopback, shutdown));
        Ok(())
    }))
}

async fn make_all(namespaces: &ResourceStore, loopback: &Loopback) -> Result<(), LoopbackError> {
    let is_missing = |name: &&str| {
        let key = namespaces.key("", name);
        key.is_ok_and(|key| namespaces.collection().get(&key).is_none())
    };
    let each = NAMESPACES.into_iter().filter(is_missing).map(|name| async move {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let path = "/api/v1/namespaces";
        match loopback.send(Method::POST, path, Some(&namespace)).await {
            Err(error) if error.status() == Some(StatusCode::CONFLICT) => Ok(()),
            other => other.map(drop),
        }
    });
    try_join_all(each).await.map(drop)
}

async fn keep(namespaces: Arc<ResourceStore>, mut watcher: Watcher, loopback: Loopback, mut shutdown: Shutdown) {
    let collection = namespaces.collection();
    loop {
        let missing = tokio::select! {
            () = shutdown.requested() => return,
            events = watcher.next() => match events {
                Ok(events) => events.iter().any(|event| event.kind() == EventKind::Delete),
                Err(_) => match collection.watch(collection.prefix(), WatchFrom::Now) {
                    Ok(fresh) => {
                        watcher = fresh;
                        true
                    }
                    // The store is closed.
                    Err(_) => return,
                },
            },
        };
        if !missing {
            continue;
        }
        while let Err(error) = make_all(&namespaces, &loopback).await {
            tracing::warn!(%error, "system namespaces cannot be created");
            tokio::select! {
                () = shutdown.requested() => return,
                () = tokio::time::sleep(RETRY) => {}
            }
        }
    }
}
