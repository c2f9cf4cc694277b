//! The stored objects that connections are about.

use std::sync::Arc;

use planesmith_machinery::object::Resource;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::stores::{ResourceStore, Stores};

/// Reads objects of the kinds that this module works with.
pub(super) struct Stored {
    stores: Vec<Arc<ResourceStore>>,
}

impl Stored {
    /// Opens the stores of a server, which may have only some of the kinds.
    pub(super) fn new(stores: &Stores) -> Self {
        let kinds = ["pods", "nodes", "services", "endpoints"];
        let facts = kinds
            .iter()
            .filter_map(|plural| stores.scheme().resource("", "v1", plural));
        Self {
            stores: facts.map(|facts| stores.resource(facts)).collect(),
        }
    }

    /// Returns the object; `namespace` is empty for kinds without namespaces.
    ///
    /// # Errors
    ///
    /// 404 if there is none.
    pub(super) fn get<R: Resource>(&self, namespace: &str, name: &str) -> ApiResult<R> {
        let facts = R::RESOURCE;
        let missing = || ApiError::not_found(&facts.group_resource(), name);
        let store = self.stores.iter().find(|store| store.facts().kind == facts.kind);
        let store = store.ok_or_else(missing)?;
        let entry = store
            .collection()
            .get(&store.key(namespace, name)?)
            .ok_or_else(missing)?;
        let object = store.decode(&entry)?;
        object.downcast_ref::<R>().cloned().ok_or_else(missing)
    }
}
