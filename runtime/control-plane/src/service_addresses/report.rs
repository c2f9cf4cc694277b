//! Events about services and addresses that were found wrong.

use http::Method;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::micro_time::MicroTime;
use serde_json::json;

use crate::loopback::Loopback;

/// What is wrong, in one word, and what was being checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding {
    pub(super) reason: &'static str,
    pub(super) action: &'static str,
}

/// What an event is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'o> {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) meta: &'o ObjectMeta,
}

/// Records a warning about an object, under the name of the `controller`; what cannot be recorded is only logged.
pub(super) async fn warn(loopback: &Loopback, controller: &str, about: About<'_>, finding: Finding, message: &str) {
    let meta = about.meta;
    tracing::warn!(
        kind = about.kind,
        namespace = meta.namespace,
        name = meta.name,
        "{message}"
    );
    let now = MicroTime::now();
    // Events about objects without a namespace live in the default one.
    let namespace = if meta.namespace.is_empty() {
        "default"
    } else {
        &meta.namespace
    };
    let stamp = now.timestamp().map_or(0, |time| time.as_nanosecond());
    let event = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": format!("{}.{stamp:x}", meta.name), "namespace": namespace},
        "involvedObject": {
            "apiVersion": about.api_version,
            "kind": about.kind,
            "namespace": meta.namespace,
            "name": meta.name,
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
        },
        "type": "Warning",
        "reason": finding.reason,
        "action": finding.action,
        "message": message,
        "eventTime": now.to_string(),
        "reportingComponent": controller,
        "reportingInstance": controller,
    });
    let path = format!("/api/v1/namespaces/{namespace}/events");
    if let Err(error) = loopback.send(Method::POST, &path, Some(&event)).await {
        tracing::debug!(%error, "an event cannot be recorded");
    }
}
