//! The objects of one kind, as the server's own work reads and writes them.
//!
//! Reads look into the store and cost no request; writes go through the whole server.

use std::sync::Arc;

use http::{Method, StatusCode};
use planesmith_machinery::object::Resource;
use planesmith_machinery::resource::{ResourceFacts, Scope};
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{At, Entry, ListQuery, Watcher};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::loopback::{Loopback, LoopbackError};

/// The objects of one kind.
#[derive(Clone, Debug)]
pub struct Objects {
    store: Arc<ResourceStore>,
    loopback: Loopback,
    /// The field manager of writes; `None` for the server itself.
    manager: Option<&'static str>,
}

impl Objects {
    /// Those of a resource in the version that is stored; `None` when the server does not have it.
    pub fn of(stores: &Stores, loopback: &Loopback, group: &str, version: &str, plural: &str) -> Option<Self> {
        let facts = stores.scheme().resource(group, version, plural)?;
        Some(Self {
            store: stores.resource(facts),
            loopback: loopback.clone(),
            manager: None,
        })
    }

    /// The same, written in the name of `manager`.
    pub fn managed_by(mut self, manager: &'static str) -> Self {
        self.manager = Some(manager);
        self
    }

    /// The object as it is stored.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Value> {
        let key = self.store.key(namespace, name).ok()?;
        parse(&*self.store.collection().get(&key)?)
    }

    /// Returns the stored object decoded as a `T`, which may have a part of its fields; `None` if there is none.
    pub fn read<T: DeserializeOwned>(&self, namespace: &str, name: &str) -> Option<T> {
        let key = self.store.key(namespace, name).ok()?;
        serde_json::from_slice(self.store.collection().get(&key)?.bytes()).ok()
    }

    /// The value of a label of an object; empty when it has none, `None` when there is no such object.
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

    /// All objects in `namespace`; everywhere when it is empty.
    pub fn all(&self, namespace: &str) -> Vec<Value> {
        self.entries(namespace)
            .iter()
            .filter_map(|entry| parse(entry))
            .collect()
    }

    /// The names of all objects.
    pub fn names(&self) -> Vec<String> {
        let entries = self.entries("");
        let names = entries.iter().map(|entry| self.store.names(entry.key()).1.to_owned());
        names.collect()
    }

    /// As [`Objects::all`], as the type of the storage version.
    pub fn all_typed<R: Resource>(&self, namespace: &str) -> Vec<R> {
        self.entries(namespace)
            .iter()
            .filter_map(|entry| self.typed(entry))
            .collect()
    }

    /// As [`Objects::get`], as the type of the storage version.
    pub fn get_typed<R: Resource>(&self, namespace: &str, name: &str) -> Option<R> {
        let key = self.store.key(namespace, name).ok()?;
        self.typed(&*self.store.collection().get(&key)?)
    }

    /// The object of an entry, as the type of the storage version.
    pub fn typed<R: Resource>(&self, entry: &Entry) -> Option<R> {
        self.store.typed(entry)
    }

    /// The keys of all objects, as [`key`] makes them.
    pub fn keys(&self) -> Vec<String> {
        let entries = self.entries("");
        let keys = entries.iter().map(|entry| self.key_of(entry));
        keys.collect()
    }

    /// The key of an entry, as [`key`] makes it.
    pub fn key_of(&self, entry: &Entry) -> String {
        let (namespace, name) = self.names_of(entry);
        key(namespace, name)
    }

    /// The objects in `namespace`, or everywhere when it is empty, of which selectors read `value` under the name `field`.
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

    /// Namespace and name of what an event is about.
    pub fn names_of<'e>(&self, entry: &'e Entry) -> (&'e str, &'e str) {
        self.store.names(entry.key())
    }

    /// Follows the changes from now on.
    pub fn watch(&self) -> Watcher {
        self.store.watch()
    }

    /// Makes an object; one that is there already is left as it is.
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

    /// Replaces an object by one that was made from what [`Objects::get`] gave; somebody else's change wins.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn replace(&self, object: &Value) -> Result<(), LoopbackError> {
        self.replace_part(object, "").await
    }

    /// As [`Objects::replace`], for a part with a path of its own such as `/status`.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn replace_part(&self, object: &Value, part: &str) -> Result<(), LoopbackError> {
        gone_or_changed(self.try_replace_part(object, part).await)
    }

    /// As [`Objects::replace_part`], where it matters that the object is gone or was changed.
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
        gone_or_changed(self.loopback.send(Method::PATCH, &path, Some(change)).await)
    }

    /// Sets fields of an object in the name of the manager, whoever has them; `part` is empty or `/status`.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn apply(&self, object: &Value, part: &str) -> Result<(), LoopbackError> {
        let facts = self.store.facts();
        let path = collection_path(facts, text(object, "/metadata/namespace"));
        let path = format!("{path}/{}{part}", text(object, "/metadata/name"));
        let manager = self.manager.unwrap_or("kube-apiserver");
        gone_or_changed(self.loopback.apply(&path, manager, object).await)
    }

    /// Removes an object, if it is there.
    ///
    /// # Errors
    ///
    /// The answer of a server that refuses.
    pub async fn delete(&self, namespace: &str, name: &str) -> Result<(), LoopbackError> {
        let path = self.path(namespace, Some(name));
        gone_or_changed(self.loopback.send(Method::DELETE, &path, None).await)
    }

    /// Removes exactly this object, not another one that has its name by now. `propagation` says what becomes of those that
    /// belong to it.
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
        gone_or_changed(self.loopback.send(Method::DELETE, &path, Some(&options)).await)
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

/// Takes an object that is gone, or that somebody else just changed, for done: the change is seen next.
fn gone_or_changed<T>(answer: Result<T, LoopbackError>) -> Result<(), LoopbackError> {
    match answer {
        Err(error) if matches!(error.status(), Some(StatusCode::CONFLICT | StatusCode::NOT_FOUND)) => Ok(()),
        other => other.map(drop),
    }
}

fn collection_path(facts: &ResourceFacts, namespace: &str) -> String {
    let root = if facts.group.is_empty() { "/api" } else { "/apis" };
    let plural = facts.plural;
    match facts.scope {
        Scope::Namespaced => format!("{root}/{}/namespaces/{namespace}/{plural}", facts.api_version),
        Scope::Cluster => format!("{root}/{}/{plural}", facts.api_version),
    }
}

/// Namespace and name with a slash between; the name alone for objects without a namespace.
pub fn key(namespace: &str, name: &str) -> String {
    match namespace {
        "" => name.to_owned(),
        namespace => format!("{namespace}/{name}"),
    }
}

/// The object of an entry, as it is stored.
pub fn parse(entry: &Entry) -> Option<Value> {
    serde_json::from_slice(entry.bytes()).ok()
}

/// A text in a document; empty when it is not there.
pub fn text<'d>(document: &'d Value, pointer: &str) -> &'d str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
