//! What other servers have in a namespace that is on its way out.

use http::{Method, StatusCode};
use planesmith_server::discovery::RemoteVersion;
use serde_json::{Value, json};

use super::contents::Contents;
use crate::loopback::{Loopback, LoopbackError};
use crate::objects::text;

/// Deletes what other servers have in `namespace`. A server that cannot be reached holds no namespace: it is named among
/// what was not discovered, and its objects stay until somebody deletes them there.
pub(super) async fn delete(contents: &mut Contents, loopback: &Loopback, versions: &[RemoteVersion], namespace: &str) {
    for version in versions {
        let place = format!("{}/{}", version.priority.group, version.priority.version);
        if !version.is_current {
            contents.undiscovered.push(place);
            continue;
        }
        for (plural, verbs) in version.resources.namespaced() {
            let allows = |verb: &str| verbs.iter().any(|known| known == verb);
            if !allows("list") || !allows("delete") {
                continue;
            }
            let path = format!("/apis/{place}/namespaces/{namespace}/{plural}");
            let kind = Kind {
                loopback,
                path: &path,
                is_deleted_at_once: allows("deletecollection"),
            };
            match kind.delete().await {
                Ok(left) if left.is_empty() => {}
                Ok(left) => contents.add(format!("{plural}.{}", version.priority.group), &left),
                Err(error) if is_about_reaching(&error) => {
                    tracing::warn!(namespace, path, %error, "another server cannot be reached to empty a namespace");
                    contents.undiscovered.push(place);
                    break;
                }
                Err(error) => contents.failures.push(error.client_message()),
            }
        }
    }
}

/// Whether nobody answered.
fn is_about_reaching(error: &LoopbackError) -> bool {
    matches!(
        error.status(),
        Some(StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT | StatusCode::BAD_GATEWAY)
    )
}

/// The objects of one kind in the namespace.
struct Kind<'k> {
    loopback: &'k Loopback,
    path: &'k str,
    is_deleted_at_once: bool,
}

impl Kind<'_> {
    /// Deletes them; those that are left.
    async fn delete(&self) -> Result<Vec<Value>, LoopbackError> {
        let there = self.list().await?;
        if there.is_empty() {
            return Ok(there);
        }
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
        if self.is_deleted_at_once {
            self.send(Method::DELETE, self.path, Some(&options)).await?;
        } else {
            for object in &there {
                let path = format!("{}/{}", self.path, text(object, "/metadata/name"));
                self.send(Method::DELETE, &path, Some(&options)).await?;
            }
        }
        self.list().await
    }

    async fn list(&self) -> Result<Vec<Value>, LoopbackError> {
        let mut list = self.send(Method::GET, self.path, None).await?;
        Ok(match list["items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        })
    }

    /// Sends a request; what is not there is no failure.
    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, LoopbackError> {
        match self.loopback.send(method, path, body).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(Value::Null),
            other => other,
        }
    }
}
