//! The contents of a terminating namespace.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::{Method, StatusCode};
use planesmith_server::discovery::RemoteVersion;
use planesmith_server::request::Verb;
use planesmith_store::Entry;
use serde_json::{Value, json};

use super::remote;
use crate::controllers::metadata::Metadata;
use crate::controllers::served_kinds::{Kinds, ServedKind};
use crate::loopback::{Loopback, LoopbackError};

/// The number of objects that one request deletes.
const PAGE: usize = 500;

/// The contents of a namespace that remain after everything was deleted that could be.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// The number of objects of each resource, by `plural.group`.
    pub(super) remaining: BTreeMap<String, usize>,
    /// The number of objects that have each finalizer.
    pub(super) finalizers: BTreeMap<String, usize>,
    /// The failures: each names the objects that could not be deleted, and the reason.
    pub(super) failures: Vec<String>,
    /// Group versions of other servers that could not be reached.
    pub(super) undiscovered: Vec<String>,
}

impl Contents {
    /// Deletes the contents of `namespace`: kinds that are deleted first, such as pods, and the rest once their objects are deleted,
    /// since they may need it to terminate. Objects of `others` are deleted at the same time, as either may wait for the other.
    pub(super) async fn delete(loopback: &Loopback, kinds: &Kinds, others: &[RemoteVersion], namespace: &str) -> Self {
        let mut contents = Self {
            undiscovered: remote::undiscovered(others),
            ..Self::default()
        };
        let deletable = |kind: &&Arc<ServedKind>| kind.is_namespaced() && kind.allows(&[Verb::Delete, Verb::List]);
        let is_first = |kind: &&Arc<ServedKind>| kind.store.facts().behavior.deleted_first;
        for kind in kinds.iter().filter(deletable).filter(is_first) {
            contents.delete_kind(loopback, kind, namespace).await;
        }
        if !contents.remaining.is_empty() {
            return contents;
        }
        for kind in kinds.iter().filter(deletable).filter(|kind| !is_first(kind)) {
            contents.delete_kind(loopback, kind, namespace).await;
        }
        remote::delete(&mut contents, loopback, others, namespace).await;
        contents
    }

    /// True if nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.remaining.is_empty() && self.failures.is_empty()
    }

    /// Returns the stored kinds that have objects left.
    pub(super) fn left(&self, kinds: &Kinds) -> Vec<Arc<ServedKind>> {
        let left = kinds
            .iter()
            .filter(|kind| kind.is_namespaced() && self.remaining.contains_key(&name_of(kind)));
        left.map(Arc::clone).collect()
    }

    /// Counts the remaining objects of a kind of another server.
    pub(super) fn add(&mut self, resource: String, left: &[Metadata]) {
        self.remaining.insert(resource, left.len());
        for finalizer in left.iter().flat_map(|metadata| &metadata.finalizers) {
            *self.finalizers.entry(finalizer.clone()).or_default() += 1;
        }
    }

    async fn delete_kind(&mut self, loopback: &Loopback, kind: &ServedKind, namespace: &str) {
        if kind.is_empty_in(namespace) {
            return;
        }
        let is_ending = |entry: &Arc<Entry>| Metadata::read(&entry.bytes()).deleted;
        // An object that is being deleted is not deleted again.
        if !kind.entries_in(namespace).iter().all(is_ending)
            && let Err(error) = delete_all(loopback, kind, namespace).await
        {
            tracing::warn!(namespace, resource = %kind.resource.plural, %error, "objects cannot be deleted");
            self.failures.push(error.client_message());
        }
        let left = kind.entries_in(namespace);
        if left.is_empty() {
            return;
        }
        self.remaining.insert(name_of(kind), left.len());
        let mut held = false;
        let mut ending = false;
        for entry in &left {
            let metadata = Metadata::read(&entry.bytes());
            held |= !metadata.finalizers.is_empty();
            ending |= metadata.deleted;
            for finalizer in metadata.finalizers {
                *self.finalizers.entry(finalizer).or_default() += 1;
            }
        }
        if !held && !ending && self.failures.is_empty() {
            self.failures.push(format!(
                "unexpected items still remain in namespace: {namespace} for gvr: {}/{}, Resource={}",
                kind.resource.group, kind.resource.version, kind.resource.plural
            ));
        }
    }
}

/// E.g. `deployments.apps`.
fn name_of(kind: &ServedKind) -> String {
    format!("{}.{}", kind.resource.plural, kind.resource.group)
}

async fn delete_all(loopback: &Loopback, kind: &ServedKind, namespace: &str) -> Result<(), LoopbackError> {
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
    let collection = kind.path(namespace);
    if !kind.allows(&[Verb::DeleteCollection]) {
        for entry in kind.entries_in(namespace) {
            let (_, name) = kind.store.names(entry.key());
            delete(loopback, &format!("{collection}/{name}"), &options).await?;
        }
        return Ok(());
    }
    let mut left = kind.entries_in(namespace).len();
    loop {
        // Terminating objects would fill every page.
        let limit = match left {
            left if left > PAGE => format!("?limit={PAGE}"),
            _ => String::new(),
        };
        delete(loopback, &format!("{collection}{limit}"), &options).await?;
        let now = kind.entries_in(namespace).len();
        if now == 0 || now >= left {
            break;
        }
        left = now;
    }
    Ok(())
}

async fn delete(loopback: &Loopback, path: &str, options: &Value) -> Result<(), LoopbackError> {
    match loopback.call(Method::DELETE, path, Some(options)).await {
        Err(error)
            if matches!(
                error.status(),
                Some(StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED)
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}
