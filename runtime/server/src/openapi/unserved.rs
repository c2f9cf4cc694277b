//! Documents of group versions without the resources that a server does not serve.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde_json::Value;

use super::references::references;

/// The maps of named parts that others refer to, in versions 2 and 3.
const NAMED: [&str; 3] = ["/definitions", "/parameters", "/components/schemas"];

/// The prefix of a reference to a part of the same document.
const REFERENCE: &str = "#";

/// Returns the document of the group version at `path` without `resources`, and without the parts that nothing refers to then.
pub(super) fn without_resources(json: &Bytes, path: &str, resources: &[String]) -> Bytes {
    let Ok(mut document) = serde_json::from_slice::<Value>(json) else {
        return json.clone();
    };
    if let Some(Value::Object(paths)) = document.get_mut("paths") {
        paths.retain(|documented, _| {
            let resource = resource_in(documented, path);
            resource.is_none_or(|resource| !resources.iter().any(|unserved| unserved == resource))
        });
    }
    let used = used_parts(&document);
    for named in NAMED {
        if let Some(Value::Object(parts)) = document.pointer_mut(named) {
            parts.retain(|name, _| used.contains(&format!("{named}/{name}")));
        }
    }
    document.to_string().into()
}

/// Returns the resource of a path of the group version at `version`; `None` for the path of its discovery.
fn resource_in<'p>(path: &'p str, version: &str) -> Option<&'p str> {
    let rest = path.strip_prefix('/')?.strip_prefix(version)?.strip_prefix('/')?;
    let rest = rest.strip_prefix("watch/").unwrap_or(rest);
    let rest = rest.strip_prefix("namespaces/{namespace}/").unwrap_or(rest);
    rest.split('/').next().filter(|resource| !resource.is_empty())
}

/// Returns the pointers to all parts that the paths refer to, themselves or through other parts.
fn used_parts(document: &Value) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut open = document.get("paths").map(references).unwrap_or_default();
    while let Some(reference) = open.pop() {
        if let Some(pointer) = reference.strip_prefix(REFERENCE)
            && used.insert(pointer.to_owned())
        {
            open.extend(document.pointer(pointer).into_iter().flat_map(references));
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn resources_are_named_after_the_namespace() {
        for (path, resource) in [
            ("/apis/a/v1/", None),
            ("/apis/a/v1/things", Some("things")),
            ("/apis/a/v1/things/{name}/status", Some("things")),
            ("/apis/a/v1/namespaces/{namespace}/things", Some("things")),
            ("/apis/a/v1/watch/namespaces/{namespace}/things/{name}", Some("things")),
            ("/apis/a/v1/namespaces/{name}", Some("namespaces")),
            ("/apis/a/v2/things", None),
        ] {
            assert_eq!(resource_in(path, "apis/a/v1"), resource, "{path}");
        }
    }

    #[test]
    fn parts_that_nothing_refers_to_go_with_their_resources() {
        let to = |part: &str| json!({"get": {"schema": {"$ref": format!("#/components/schemas/{part}")}}});
        let document = json!({
            "paths": {"/apis/a/v1/": to("Shared"), "/apis/a/v1/ons": to("On"), "/apis/a/v1/offs/{name}": to("Off")},
            "components": {"schemas": {
                "On": {"properties": {"next": {"$ref": "#/components/schemas/Shared"}}},
                "Off": {"properties": {"next": {"$ref": "#/components/schemas/OnlyOff"}, "same": {"$ref": "#/components/schemas/Shared"}}},
                "OnlyOff": {}, "Shared": {},
            }},
        });
        let left = without_resources(&document.to_string().into(), "apis/a/v1", &["offs".to_owned()]);
        let left: Value = serde_json::from_slice(&left).unwrap();
        let names = |pointer: &str| -> Vec<String> {
            let members = left.pointer(pointer).and_then(Value::as_object).unwrap();
            members.keys().cloned().collect()
        };
        assert_eq!(names("/paths"), ["/apis/a/v1/", "/apis/a/v1/ons"]);
        assert_eq!(names("/components/schemas"), ["On", "Shared"]);
    }
}
