//! Objects for tests: config maps in the default namespace, and accessors.

use bytes::Bytes;
use serde_json::{Value, json};

use planesmith_e2e::Connection;

/// The collection path.
pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Returns the path of an object.
pub(crate) fn path(name: &str) -> String {
    format!("{CONFIG_MAPS}/{name}")
}

/// Returns a config map whose `data` contains `value`.
pub(crate) fn config_map(name: &str, value: &str) -> Bytes {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"value": value}})
        .to_string()
        .into()
}

/// Returns the value of a config map.
pub(crate) fn value(object: &Value) -> &str {
    object["data"]["value"]
        .as_str()
        .unwrap_or_else(|| panic!("no value in {object}"))
}

/// Returns the name of an object.
pub(crate) fn name(object: &Value) -> &str {
    object["metadata"]["name"]
        .as_str()
        .unwrap_or_else(|| panic!("no name in {object}"))
}

/// Returns the resourceVersion of an object or a list.
pub(crate) fn revision(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"].as_str();
    let number = text.and_then(|text| text.parse().ok());
    number.unwrap_or_else(|| panic!("no resourceVersion in {object}"))
}

/// Asserts that the server works: it is ready, and an object can be created, read and deleted.
pub(crate) async fn assert_healthy(connection: &Connection, after: &str) {
    let ready = connection
        .get("/readyz")
        .await
        .unwrap_or_else(|error| panic!("after {after}: {error:#}"));
    assert_eq!(ready.status, 200, "after {after}: {}", ready.excerpt());
    let body = config_map("still-alive", after);
    let made = connection.call(http::Method::POST, CONFIG_MAPS, body).await.unwrap();
    assert_eq!(made.status, 201, "after {after}: {}", made.excerpt());
    let read = connection.get(&path("still-alive")).await.unwrap();
    assert_eq!(value(&read.json().unwrap()), after);
    let gone = connection
        .call(http::Method::DELETE, &path("still-alive"), "")
        .await
        .unwrap();
    assert_eq!(gone.status, 200, "after {after}: {}", gone.excerpt());
}
