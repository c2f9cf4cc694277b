//! The requests of the collector to the server.

use http::{Method, StatusCode};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::time::Time;
use serde_json::{Value, json};

use super::all_kinds::{Kind, State};
use crate::controllers::MANAGER;
use crate::controllers::metadata::{Metadata, OwnerReference};
use crate::event_post;
use crate::loopback::{Loopback, LoopbackError};
use crate::work_queue::Outcome;

/// The component that reports events.
const COMPONENT: &str = "garbage-collector-controller";

/// A current object.
#[derive(Debug)]
pub(super) struct Object {
    /// Its kind.
    pub(super) kind: Kind,
    /// Its namespace; empty where there is none.
    pub(super) namespace: String,
    /// Its name.
    pub(super) name: String,
    /// Its state.
    pub(super) state: State,
}

/// The treatment of the dependents of an object that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Propagation {
    /// The dependents are deleted first.
    Foreground,
    /// The dependents are deleted after the object.
    Background,
    /// The dependents stay.
    Orphan,
}

impl Object {
    /// Returns the metadata that the collector needs.
    pub(super) fn metadata(&self) -> &Metadata {
        &self.state.metadata
    }

    /// Deletes the object unless it changed meanwhile, in which case it is processed again.
    pub(super) async fn delete(&self, loopback: &Loopback, propagation: Propagation) -> Result<Outcome, LoopbackError> {
        let policy = match propagation {
            Propagation::Foreground => "Foreground",
            Propagation::Background => "Background",
            Propagation::Orphan => "Orphan",
        };
        let options = json!({
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "preconditions": {
                "uid": self.state.metadata.uid,
                "resourceVersion": self.state.resource_version,
            },
            "propagationPolicy": policy,
        });
        self.send(loopback, Method::DELETE, options).await
    }

    /// Sets the owners of the object, unless it changed meanwhile.
    pub(super) async fn set_owners(
        &self,
        loopback: &Loopback,
        owners: &[OwnerReference],
    ) -> Result<Outcome, LoopbackError> {
        self.patch(loopback, "ownerReferences", list(owners)).await
    }

    /// Removes a finalizer from the object, unless it changed meanwhile.
    pub(super) async fn release(&self, loopback: &Loopback, finalizer: &str) -> Result<Outcome, LoopbackError> {
        let mut finalizers = self.state.metadata.finalizers.clone();
        finalizers.retain(|held| held != finalizer);
        self.patch(loopback, "finalizers", list(&finalizers)).await
    }

    /// Reports an owner in another namespace, which is invalid. A report that fails is not repeated.
    pub(super) async fn report_owner_elsewhere(&self, loopback: &Loopback, owner: &OwnerReference) {
        let message = format!(
            "ownerRef [{}/{}, namespace: {}, name: {}, uid: {}] does not exist in namespace {}",
            owner.api_version,
            owner.kind,
            self.namespace,
            owner.name,
            owner.uid,
            quote(&self.namespace)
        );
        let now = Time::from(loopback.clock().now()).to_string();
        let event = json!({
            "reason": "OwnerRefInvalidNamespace",
            "message": message,
            "source": {"component": COMPONENT},
            "reportingComponent": COMPONENT,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": "Warning",
        });
        let about = event_post::About {
            api_version: &self.kind.api_version(),
            kind: self.kind.name(),
            namespace: &self.namespace,
            name: &self.name,
            uid: &self.state.metadata.uid,
            resource_version: "",
        };
        if let Err(error) = event_post::post(loopback, about, event).await {
            tracing::warn!(object = self.name, %error, "an event cannot be reported");
        }
    }

    async fn patch(&self, loopback: &Loopback, field: &str, value: Value) -> Result<Outcome, LoopbackError> {
        let mut metadata = json!({
            "uid": self.state.metadata.uid,
            "resourceVersion": self.state.resource_version,
        });
        metadata[field] = value;
        self.send(loopback, Method::PATCH, json!({"metadata": metadata})).await
    }

    async fn send(&self, loopback: &Loopback, method: Method, body: Value) -> Result<Outcome, LoopbackError> {
        let mut path = self.kind.path_of(&self.namespace, &self.name);
        if method == Method::PATCH {
            path = format!("{path}?fieldManager={MANAGER}");
        }
        match loopback.call(method, &path, Some(&body)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(error) => match error.status() {
                Some(StatusCode::NOT_FOUND) => Ok(Outcome::Done),
                Some(StatusCode::CONFLICT) => Ok(Outcome::Requeue),
                _ => Err(error),
            },
        }
    }
}

/// Returns a list for a merge patch, `null` if it is empty, which removes the field.
fn list<T: serde::Serialize>(items: &[T]) -> Value {
    match items {
        [] => Value::Null,
        items => json!(items),
    }
}
