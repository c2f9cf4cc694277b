//! Approves, signs and cleans up requests for certificates.

mod approving;
mod cleaning;
mod signing;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planesmith_control_plane::controllers::MANAGER;
use planesmith_control_plane::loopback::Loopback;
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_server::stores::Stores;
use serde_json::Value;

pub(super) use approving::Approver;
pub(super) use cleaning::Cleaner;
pub(super) use signing::Signer;

use crate::certificate_requests::Request;

/// Returns the requests; `None` for a server without them.
fn requests(stores: &Stores, loopback: &Loopback) -> Option<ResourceClient> {
    let requests = ResourceClient::of(
        stores,
        loopback,
        "certificates.k8s.io",
        "v1",
        "certificatesigningrequests",
    )?;
    Some(requests.managed_by(MANAGER))
}

/// Returns the condition of a type, if the request has it.
fn condition<'r>(request: &'r Value, type_: &str) -> Option<&'r Value> {
    let conditions = request.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|condition| condition["type"] == type_)
}

fn is_issued(request: &Value) -> bool {
    !text(request, "/status/certificate").is_empty()
}

/// Adds a condition whose status is True from now on.
fn add_condition(request: &mut Value, condition: Value) {
    match request.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
        Some(conditions) => conditions.push(condition),
        None => request["status"]["conditions"] = Value::Array(vec![condition]),
    }
}

/// Decodes the PEM of a request.
fn parse_request(request: &Value) -> Result<Request, String> {
    let pem = STANDARD.decode(text(request, "/spec/request"));
    Request::read(&pem.map_err(|error| error.to_string())?)
}

fn usages(request: &Value) -> Vec<String> {
    let usages = request.pointer("/spec/usages").and_then(Value::as_array);
    let usages = usages.into_iter().flatten().filter_map(Value::as_str);
    usages.map(str::to_owned).collect()
}
