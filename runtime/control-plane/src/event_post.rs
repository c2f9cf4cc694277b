//! Events that the server itself reports about objects.

use std::time::UNIX_EPOCH;

use http::Method;
use planesmith_machinery::names;
use serde_json::{Value, json};

use crate::loopback::{Loopback, LoopbackError};

/// The object that an event is about.
#[derive(Clone, Copy, Debug)]
pub struct About<'o> {
    /// Version and group of its kind.
    pub api_version: &'o str,
    /// Its kind.
    pub kind: &'o str,
    /// Its namespace; empty where there is none.
    pub namespace: &'o str,
    /// Its name.
    pub name: &'o str,
    /// The UID of the object.
    pub uid: &'o str,
    /// The version of the object that the event is about; empty if it does not matter.
    pub resource_version: &'o str,
}

/// Stores `event`, whose reason and reporter are set; adds its metadata and the object.
///
/// # Errors
///
/// If the event is refused. Callers go on nevertheless.
pub async fn post(loopback: &Loopback, about: About<'_>, mut event: Value) -> Result<(), LoopbackError> {
    // Events about objects without a namespace live in the default one.
    let namespace = match about.namespace {
        "" => "default",
        namespace => namespace,
    };
    let since = loopback.clock().now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let stamp = since.as_micros() * 1000;
    event["apiVersion"] = json!("v1");
    event["kind"] = json!("Event");
    event["metadata"] = json!({"name": name_of(about.name, stamp), "namespace": namespace});
    event["involvedObject"] = json!({
        "apiVersion": about.api_version,
        "kind": about.kind,
        "namespace": about.namespace,
        "name": about.name,
        "uid": about.uid,
        "resourceVersion": about.resource_version,
    });
    let path = format!("/api/v1/namespaces/{namespace}/events");
    loopback.call(Method::POST, &path, Some(&event)).await
}

/// Returns the name of an event: that of the object and the time, without the object's name if that cannot be part of
/// one, such as an IPv6 address.
fn name_of(object: &str, stamp: u128) -> String {
    let name = format!("{object}.{stamp:x}");
    match names::dns_subdomain(&name).is_empty() {
        true => name,
        false => uuid::Uuid::new_v4().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_legal_names_whatever_they_are_about() {
        assert_eq!(name_of("web", 0x1234), "web.1234");
        for odd in ["2001:db8::1", "Upper", &"x".repeat(250)] {
            let name = name_of(odd, 0x1234);
            assert!(names::dns_subdomain(&name).is_empty(), "{name}");
        }
    }
}
