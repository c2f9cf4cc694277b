//! The objects of other servers in a terminating namespace.

use std::collections::BTreeMap;

use http::{Method, StatusCode};
use planesmith_server::discovery::RemoteVersion;
use serde_json::json;

use super::contents::Contents;
use crate::controllers::metadata::Metadata;
use crate::controllers::remote_kinds::RemoteKinds;
use crate::controllers::remote_objects::read_all;
use crate::loopback::{Loopback, LoopbackError};
use crate::resource_client::text;

/// Deletes the objects of other servers in `namespace`. A server that cannot be reached does not block the namespace:
/// it is reported as undiscovered, and its objects stay until a client deletes them there.
pub(super) async fn delete(contents: &mut Contents, loopback: &Loopback, versions: &[RemoteVersion], namespace: &str) {
    let mut unreachable: Vec<&str> = Vec::new();
    let kinds = RemoteKinds::from_versions(versions);
    let there = kinds.iter().filter(|kind| kind.is_current && kind.is_namespaced);
    for kind in there.filter(|kind| kind.allows(&["list", "delete"])) {
        if unreachable.contains(&kind.api_version.as_str()) {
            continue;
        }
        let objects = Remains {
            loopback,
            path: kind.path_in(namespace),
            is_deleted_at_once: kind.allows(&["deletecollection"]),
        };
        match objects.delete().await {
            Ok(left) if left.is_empty() => {}
            Ok(left) => contents.add(format!("{}.{}", kind.plural, kind.group()), &left),
            Err(error) if is_about_reaching(&error) => {
                tracing::warn!(namespace, kind.api_version, %error, "another server cannot be reached to empty a namespace");
                unreachable.push(&kind.api_version);
            }
            Err(error) => contents.failures.push(error.client_message()),
        }
    }
    contents.undiscovered.extend(unreachable.into_iter().map(str::to_owned));
}

/// Returns the group versions of servers that are known to be unavailable.
pub(super) fn undiscovered(versions: &[RemoteVersion]) -> Vec<String> {
    versions
        .iter()
        .filter(|version| !version.is_current)
        .map(place)
        .collect()
}

/// E.g. `shop.example.com/v1`.
fn place(version: &RemoteVersion) -> String {
    format!("{}/{}", version.priority.group, version.priority.version)
}

/// True if the error says that the other server could not be reached.
fn is_about_reaching(error: &LoopbackError) -> bool {
    matches!(
        error.status(),
        Some(StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT | StatusCode::BAD_GATEWAY)
    )
}

/// The objects of one kind in the namespace.
struct Remains<'k> {
    loopback: &'k Loopback,
    path: String,
    is_deleted_at_once: bool,
}

impl Remains<'_> {
    /// Deletes the objects. Returns those that are left.
    async fn delete(&self) -> Result<Vec<Metadata>, LoopbackError> {
        let there = self.list().await?;
        if there.is_empty() {
            return Ok(Vec::new());
        }
        if self.is_deleted_at_once {
            self.delete_at(&self.path).await?;
        } else {
            for name in there.keys() {
                self.delete_at(&format!("{}/{name}", self.path)).await?;
            }
        }
        Ok(self.list().await?.into_values().collect())
    }

    /// Returns the metadata that controllers need, by name.
    async fn list(&self) -> Result<BTreeMap<String, Metadata>, LoopbackError> {
        let mut found = BTreeMap::new();
        let read = read_all(self.loopback, &self.path, |object| {
            found.insert(text(object, "/metadata/name").to_owned(), Metadata::from_object(object));
        });
        match read.await {
            Err(error) if error.status() != Some(StatusCode::NOT_FOUND) => Err(error),
            _ => Ok(found),
        }
    }

    /// Deletes the objects at `path`; a missing one is no failure.
    async fn delete_at(&self, path: &str) -> Result<(), LoopbackError> {
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
        match self.loopback.call(Method::DELETE, path, Some(&options)).await {
            Err(error) if error.status() != Some(StatusCode::NOT_FOUND) => Err(error),
            _ => Ok(()),
        }
    }
}
