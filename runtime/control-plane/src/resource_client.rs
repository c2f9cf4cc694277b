//! The objects of one kind, for controllers and hooks of the server itself.
//!
//! Reads are from the store and cost no request; writes are requests to the server.

use std::sync::Arc;

use http::{Method, StatusCode};
use planesmith_machinery::clock::Clock;
use planesmith_machinery::object::Resource;
use planesmith_machinery::resource::{ResourceFacts, Scope};
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{At, Entry, ListQuery, Watcher};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::loopback::{Loopback, LoopbackError};

/// The objects of one kind.
#[derive(Clone, Debug)]
pub struct ResourceClient {
    store: Arc<ResourceStore>,
    loopback: Loopback,
    /// The field manager of writes; `None` for the server itself.
    manager: Option<&'static str>,
}

impl ResourceClient {
    /// The objects of a resource in its storage version; `None` if the server does not have it.
    pub fn of(stores: &Stores, loopback: &Loopback, group: &str, version: &str, plural: &str) -> Option<Self> {
        let facts = stores.scheme().resource(group, version, plural)?;
        Some(Self {
            store: stores.resource(facts),
            loopback: loopback.clone(),
            manager: None,
        })
    }

    /// Returns the clock of the server.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        self.loopback.clock()
    }

    /// Sets the field manager of writes.
    pub fn managed_by(mut self, manager: &'static str) -> Self {
        self.manager = Some(manager);
        self
    }

    /// Returns the stored object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Value> {
        let key = self.store.key(namespace, name).ok()?;
        parse(&*self.store.collection().get(&key)?)
    }

    /// Returns the stored object decoded as a `T`, which may have a part of its fields; `None` if there is none.
    pub fn read<T: DeserializeOwned>(&self, namespace: &str, name: &str) -> Option<T> {
        let key = self.store.key(namespace, name).ok()?;
        serde_json::from_slice(&self.store.collection().get(&key)?.bytes()).ok()
    }

    /// Returns the value of a label of an object: empty if it has none, `None` if there is no such object.
    pub fn label(&self, namespace: &str, name: &str, label: &str) -> Option<String> {
        let key = self.store.key(namespace, name).ok()?;
        let entry = self.store.collection().get(&key)?;
        Some(entry.row().label(label).unwrap_or_default().to_owned())
    }

    /// Returns the value of an entry that field selectors compare under the name `field`.
    pub fn field<'e>(&self, entry: &'e Entry, field: &str) -> Option<&'e str> {
        let position = self.store.facts().selectable.iter().position(|own| *own == field)?;
        entry.row().field(position)
    }

    /// True if there is such an object.
    pub fn has(&self, namespace: &str, name: &str) -> bool {
        let key = self.store.key(namespace, name);
        key.is_ok_and(|key| self.store.collection().get(&key).is_some())
    }

    /// Returns all objects in `namespace`; in all namespaces if it is empty.
    pub fn all(&self, namespace: &str) -> Vec<Value> {
        self.entries(namespace)
            .iter()
            .filter_map(|entry| parse(entry))
            .collect()
    }

    /// Returns the names of all objects.
    pub fn names(&self) -> Vec<String> {
        let entries = self.entries("");
        let names = entries.iter().map(|entry| self.store.names(entry.key()).1.to_owned());
        names.collect()
    }

    /// As [`ResourceClient::all`], as the type of the storage version.
    pub fn all_typed<R: Resource>(&self, namespace: &str) -> Vec<R> {
        self.entries(namespace)
            .iter()
            .filter_map(|entry| self.typed(entry))
            .collect()
    }

    /// As [`ResourceClient::get`], as the type of the storage version.
    pub fn get_typed<R: Resource>(&self, namespace: &str, name: &str) -> Option<R> {
        let key = self.store.key(namespace, name).ok()?;
        self.typed(&*self.store.collection().get(&key)?)
    }

    /// Decodes the object of an entry, as the type of the storage version.
    pub fn typed<R: Resource>(&self, entry: &Entry) -> Option<R> {
        self.store.typed(entry)
    }

    /// Returns the keys of all objects, in the form of [`key`].
    pub fn keys(&self) -> Vec<String> {
        let entries = self.entries("");
        let keys = entries.iter().map(|entry| self.key_of(entry));
        keys.collect()
    }

    /// Returns the key of an entry, in the form of [`key`].
    pub fn key_of(&self, entry: &Entry) -> String {
        let (namespace, name) = self.names_of(entry);
        key(namespace, name)
    }

    /// Returns the objects in `namespace`, or in all if it is empty, whose field `field` has the value `value` for
    /// field selectors.
    pub fn selected_by(&self, namespace: &str, field: &str, value: &str) -> Vec<Value> {
        let entries = self.entries(namespace);
        let wanted = entries.iter().filter(|entry| self.field(entry, field) == Some(value));
        wanted.filter_map(|entry| parse(entry)).collect()
    }

    fn entries(&self, namespace: &str) -> Vec<Arc<Entry>> {
        let prefix = self.store.prefix(namespace);
        let query = ListQuery {
            prefix: &prefix,
            start: None,
            limit: None,
            at: At::Latest,
            filter: None,
        };
        // The newest state is never compacted.
        let page = self.store.collection().list(&query);
        page.map(|page| page.entries).unwrap_or_default()
    }

    /// Returns namespace and name of an entry.
    pub fn names_of<'e>(&self, entry: &'e Entry) -> (&'e str, &'e str) {
        self.store.names(entry.key())
    }

    /// Follows changes from now on.
    pub fn watch(&self) -> Watcher {
        self.store.watch()
    }

    /// Creates an object; an existing one is left as it is.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn create(&self, object: &Value) -> Result<(), LoopbackError> {
        let path = self.path(text(object, "/metadata/namespace"), None);
        match self.loopback.send(Method::POST, &path, Some(object)).await {
            Err(error) if error.status() == Some(StatusCode::CONFLICT) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Replaces an object by a changed copy of what [`ResourceClient::get`] returned; the change of another writer wins.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn replace(&self, object: &Value) -> Result<(), LoopbackError> {
        self.replace_part(object, "").await
    }

    /// As [`ResourceClient::replace`], for a subresource such as `/status`.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn replace_part(&self, object: &Value, part: &str) -> Result<(), LoopbackError> {
        ignore_conflict(self.try_replace_part(object, part).await)
    }

    /// As [`ResourceClient::replace_part`], but a deleted or changed object is an error.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn try_replace_part(&self, object: &Value, part: &str) -> Result<(), LoopbackError> {
        let name = format!("{}{part}", text(object, "/metadata/name"));
        let path = self.path(text(object, "/metadata/namespace"), Some(&name));
        self.loopback.send(Method::PUT, &path, Some(object)).await.map(drop)
    }

    /// Changes an object by a merge patch.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn merge(&self, namespace: &str, name: &str, change: &Value) -> Result<(), LoopbackError> {
        let path = self.path(namespace, Some(name));
        ignore_conflict(self.loopback.send(Method::PATCH, &path, Some(change)).await)
    }

    /// Applies fields of an object with force, in the name of the manager; `part` is empty or `/status`.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn apply(&self, object: &Value, part: &str) -> Result<(), LoopbackError> {
        let facts = self.store.facts();
        let path = collection_path(facts, text(object, "/metadata/namespace"));
        let path = format!("{path}/{}{part}", text(object, "/metadata/name"));
        let manager = self.manager.unwrap_or("kube-apiserver");
        ignore_conflict(self.loopback.apply(&path, manager, object).await)
    }

    /// Deletes an object, if it exists.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn delete(&self, namespace: &str, name: &str) -> Result<(), LoopbackError> {
        let path = self.path(namespace, Some(name));
        ignore_conflict(self.loopback.send(Method::DELETE, &path, None).await)
    }

    /// Deletes exactly this object, not a later one of its name. `propagation` is the treatment of its dependents.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn delete_exactly(&self, object: &Value, propagation: Option<&str>) -> Result<(), LoopbackError> {
        let name = Some(text(object, "/metadata/name"));
        let path = self.path(text(object, "/metadata/namespace"), name);
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": text(object, "/metadata/uid")},
            "propagationPolicy": propagation,
        });
        ignore_conflict(self.loopback.send(Method::DELETE, &path, Some(&options)).await)
    }

    fn path(&self, namespace: &str, name: Option<&str>) -> String {
        let mut path = collection_path(self.store.facts(), namespace);
        if let Some(name) = name {
            path.push('/');
            path.push_str(name);
        }
        if let Some(manager) = self.manager {
            path.push_str("?fieldManager=");
            path.push_str(manager);
        }
        path
    }
}

/// Counts an object that was deleted, or that another writer just changed, as done: the change is processed next.
fn ignore_conflict<T>(answer: Result<T, LoopbackError>) -> Result<(), LoopbackError> {
    match answer {
        Err(error) if matches!(error.status(), Some(StatusCode::CONFLICT | StatusCode::NOT_FOUND)) => Ok(()),
        other => other.map(drop),
    }
}

fn collection_path(facts: &ResourceFacts, namespace: &str) -> String {
    let root = if facts.group.is_empty() { "/api" } else { "/apis" };
    let plural = &facts.plural;
    match facts.scope {
        Scope::Namespaced => format!("{root}/{}/namespaces/{namespace}/{plural}", facts.api_version),
        Scope::Cluster => format!("{root}/{}/{plural}", facts.api_version),
    }
}

/// Returns namespace and name with a slash between; the name alone for objects without a namespace.
pub fn key(namespace: &str, name: &str) -> String {
    match namespace {
        "" => name.to_owned(),
        namespace => format!("{namespace}/{name}"),
    }
}

/// Parses the stored object of an entry.
pub fn parse(entry: &Entry) -> Option<Value> {
    serde_json::from_slice(&entry.bytes()).ok()
}

/// Returns a text in a document; empty if it is missing.
pub fn text<'d>(document: &'d Value, pointer: &str) -> &'d str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
