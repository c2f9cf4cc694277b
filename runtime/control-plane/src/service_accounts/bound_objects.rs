//! The objects that tokens are bound to, in the store.

use std::sync::Arc;

use planesmith_access::authentication::service_account::{Bound, BoundObject, BoundObjects};
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::stores::{ResourceStore, Stores};

/// Service accounts, pods, secrets and nodes in the store.
#[derive(Clone, Debug)]
pub(crate) struct StoredObjects {
    accounts: Option<Arc<ResourceStore>>,
    pods: Option<Arc<ResourceStore>>,
    secrets: Option<Arc<ResourceStore>>,
    nodes: Option<Arc<ResourceStore>>,
}

impl StoredObjects {
    /// Opens the stores of a server, which may have only some of the kinds.
    pub(crate) fn new(stores: &Stores) -> Self {
        let store = |plural| {
            stores
                .scheme()
                .resource("", "v1", plural)
                .map(|facts| stores.resource(facts))
        };
        Self {
            accounts: store("serviceaccounts"),
            pods: store("pods"),
            secrets: store("secrets"),
            nodes: store("nodes"),
        }
    }

    /// Returns the object.
    ///
    /// # Errors
    ///
    /// 404 if there is none.
    pub(crate) fn get(&self, bound: Bound, namespace: &str, name: &str) -> ApiResult<Box<dyn Object>> {
        let store = match bound {
            Bound::ServiceAccount => &self.accounts,
            Bound::Pod => &self.pods,
            Bound::Secret => &self.secrets,
            Bound::Node => &self.nodes,
        };
        let store = store.as_deref().ok_or_else(ApiError::path_not_found)?;
        let entry = store.collection().get(&store.key(namespace, name)?);
        let entry = entry.ok_or_else(|| ApiError::not_found(&store.facts().group_resource(), name))?;
        store.decode(&entry)
    }
}

impl BoundObjects for StoredObjects {
    fn find(&self, bound: Bound, namespace: &str, name: &str) -> Option<BoundObject> {
        let object = self.get(bound, namespace, name).ok()?;
        let meta = object.meta();
        Some(BoundObject {
            uid: meta.uid.clone(),
            deleted: meta.deletion_timestamp.map(|time| time.as_second()),
        })
    }
}
