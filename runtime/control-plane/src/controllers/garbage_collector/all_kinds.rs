//! Objects in the store or on other servers.

use std::sync::Arc;

use http::{Method, StatusCode};
use planesmith_machinery::group_version::GroupVersion;
use serde_json::Value;

use super::graph::ObjectId;
use super::request::Object;
use crate::controllers::metadata::Metadata;
use crate::controllers::remote_kinds::{RemoteKind, RemoteKinds};
use crate::controllers::served_kinds::{Kinds, ServedKind};
use crate::loopback::{Loopback, LoopbackError};
use crate::resource_client::text;

/// A snapshot of all kinds.
#[derive(Clone, Debug, Default)]
pub(super) struct AllKinds {
    /// The kinds that are stored here.
    pub(super) stored: Arc<Kinds>,
    /// The kinds of other servers.
    pub(super) remote: Arc<RemoteKinds>,
}

/// A kind.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A kind that is stored here.
    Stored(Arc<ServedKind>),
    /// A kind of another server.
    Remote(Arc<RemoteKind>),
}

/// The state of an object that decisions need.
#[derive(Debug)]
pub(super) struct State {
    /// The metadata that controllers need.
    pub(super) metadata: Metadata,
    /// Its resource version.
    pub(super) resource_version: String,
}

impl AllKinds {
    /// True if both are the same snapshot: a change of the kinds creates a new one.
    pub(super) fn are(&self, others: &Self) -> bool {
        Arc::ptr_eq(&self.stored, &others.stored) && Arc::ptr_eq(&self.remote, &others.remote)
    }

    /// Returns the kind of this name in one of its versions.
    pub(super) fn named(&self, api_version: &str, kind: &str) -> Option<Kind> {
        let api_version = GroupVersion::canonical(api_version);
        let stored = self.stored.named(api_version, kind).map(Arc::clone).map(Kind::Stored);
        stored.or_else(|| self.remote.named(api_version, kind).map(Arc::clone).map(Kind::Remote))
    }

    /// Returns the current object, if there is one.
    pub(super) async fn object(&self, loopback: &Loopback, id: &ObjectId) -> Result<Option<Object>, LoopbackError> {
        let (kind, namespace, name) = if let Some(kind) = self.stored.under(&id.prefix) {
            let (namespace, name) = kind.store.names(&id.key);
            (Kind::Stored(Arc::clone(kind)), namespace, name)
        } else if let Some(kind) = self.remote.under(&id.prefix) {
            let Some((namespace, name)) = kind.names(&id.key) else {
                return Ok(None);
            };
            (Kind::Remote(Arc::clone(kind)), namespace, name)
        } else {
            return Ok(None);
        };
        let state = kind.get(loopback, namespace, name).await?;
        Ok(state.map(|state| Object {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            state,
            kind,
        }))
    }
}

impl Kind {
    /// E.g. `apps/v1`.
    pub(super) fn api_version(&self) -> String {
        match self {
            Kind::Stored(kind) => kind.api_version(),
            Kind::Remote(kind) => kind.api_version.clone(),
        }
    }

    /// E.g. `Deployment`.
    pub(super) fn name(&self) -> &str {
        match self {
            Kind::Stored(kind) => &kind.resource.kind,
            Kind::Remote(kind) => &kind.kind,
        }
    }

    /// True if its objects live in namespaces.
    pub(super) fn is_namespaced(&self) -> bool {
        match self {
            Kind::Stored(kind) => kind.is_namespaced(),
            Kind::Remote(kind) => kind.is_namespaced,
        }
    }

    /// True if a server is available that has its objects.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Kind::Stored(_) => true,
            Kind::Remote(kind) => kind.is_current,
        }
    }

    /// Returns the path of an object.
    pub(super) fn path_of(&self, namespace: &str, name: &str) -> String {
        match self {
            Kind::Stored(kind) => format!("{}/{name}", kind.path(namespace)),
            Kind::Remote(kind) => kind.path_of(namespace, name),
        }
    }

    /// Returns the current object, if there is one.
    pub(super) async fn get(
        &self,
        loopback: &Loopback,
        namespace: &str,
        name: &str,
    ) -> Result<Option<State>, LoopbackError> {
        let kind = match self {
            Kind::Remote(kind) => kind,
            Kind::Stored(kind) => {
                return Ok(kind.get(namespace, name).map(|entry| State {
                    metadata: Metadata::read(&entry.bytes()),
                    resource_version: entry.revision().to_string(),
                }));
            }
        };
        match loopback.send(Method::GET, &kind.path_of(namespace, name), None).await {
            Ok(object) => Ok(Some(State {
                metadata: Metadata::from_object(&object),
                resource_version: text(&object, "/metadata/resourceVersion").to_owned(),
            })),
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the identity of an object in a list or watch of another server.
pub(super) fn remote_id(kind: &RemoteKind, object: &Value) -> ObjectId {
    let path = kind.path_of(text(object, "/metadata/namespace"), text(object, "/metadata/name"));
    ObjectId {
        key: path.into(),
        prefix: Arc::clone(&kind.path),
    }
}
