//! Events about services and addresses with problems.

use planesmith_control_plane::event_post;
use planesmith_control_plane::loopback::Loopback;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::micro_time::MicroTime;
use serde_json::json;

/// A problem in one word, and the action that found it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding {
    pub(super) reason: &'static str,
    pub(super) action: &'static str,
}

/// The object that an event is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'o> {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) meta: &'o ObjectMeta,
}

/// Records a warning about an object as the component `controller`. A failure is only logged.
pub(super) async fn warn(loopback: &Loopback, controller: &str, about: About<'_>, finding: Finding, message: &str) {
    let meta = about.meta;
    tracing::warn!(
        kind = about.kind,
        namespace = meta.namespace,
        name = meta.name,
        "{message}"
    );
    let event = json!({
        "type": "Warning",
        "reason": finding.reason,
        "action": finding.action,
        "message": message,
        "eventTime": MicroTime::from(loopback.clock().now()).to_string(),
        "reportingComponent": controller,
        "reportingInstance": controller,
    });
    let about = event_post::About {
        api_version: about.api_version,
        kind: about.kind,
        namespace: &meta.namespace,
        name: &meta.name,
        uid: &meta.uid,
        resource_version: &meta.resource_version,
    };
    if let Err(error) = event_post::post(loopback, about, event).await {
        tracing::debug!(%error, "an event cannot be recorded");
    }
}
