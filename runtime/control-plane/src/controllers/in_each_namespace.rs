//! Objects that every namespace has.

use planesmith_server::stores::Stores;
use serde_json::Value;

use super::{MANAGER, is_active};
use crate::loopback::{Loopback, LoopbackError};
use crate::reconciler::Reconcile;
use crate::resource_client::ResourceClient;

/// An object of which every namespace has one.
pub(super) trait EachNamespace: Send + Sync + 'static {
    /// The name of the object.
    const NAME: &'static str;

    /// Its kind, one of the core group.
    const PLURAL: &'static str;

    /// The name of the work in the log.
    const WORK: &'static str;

    /// Returns the object for a namespace.
    fn object_for(&self, namespace: &str) -> Value;

    /// Returns the object to replace the stored one with, if that is not as it should be.
    fn repaired(&self, stored: Value) -> Option<Value> {
        let _ = stored;
        None
    }
}

/// Creates the object in each namespace, and creates it again when it is deleted.
pub(super) struct InEachNamespace<E> {
    namespaces: ResourceClient,
    objects: ResourceClient,
    each: E,
}

impl<E: EachNamespace> InEachNamespace<E> {
    /// `None` for a server without the kind.
    pub(super) fn new(stores: &Stores, loopback: &Loopback, each: E) -> Option<Self> {
        Some(Self {
            namespaces: ResourceClient::of(stores, loopback, "", "v1", "namespaces")?,
            objects: ResourceClient::of(stores, loopback, "", "v1", E::PLURAL)?.managed_by(MANAGER),
            each,
        })
    }
}

impl<E: EachNamespace> Reconcile for InEachNamespace<E> {
    const NAME: &'static str = E::WORK;

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.namespaces, &self.objects]
    }

    fn touched(&self, kind: usize, namespace: &str, name: &str) -> Vec<String> {
        match kind {
            0 => vec![name.to_owned()],
            _ if name == E::NAME => vec![namespace.to_owned()],
            _ => Vec::new(),
        }
    }

    async fn reconcile(&self, namespace: &str) -> Result<(), LoopbackError> {
        if !is_active(&self.namespaces, namespace) {
            return Ok(());
        }
        match self.objects.get(namespace, E::NAME) {
            None => self.objects.create(&self.each.object_for(namespace)).await,
            Some(stored) => match self.each.repaired(stored) {
                None => Ok(()),
                Some(repaired) => self.objects.replace(&repaired).await,
            },
        }
    }
}
