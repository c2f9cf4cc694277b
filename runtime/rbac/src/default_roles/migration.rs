//! Roles and bindings of early Kubernetes versions become those of today before they are completed.

use planesmith_control_plane::loopback::LoopbackError;
use planesmith_control_plane::resource_client::ResourceClient;
use serde_json::Value;

/// Roles that had rules of their own, and the roles that they aggregate now.
const AGGREGATED: [(&str, &str); 3] = [
    ("admin", "system:aggregate-to-admin"),
    ("edit", "system:aggregate-to-edit"),
    ("view", "system:aggregate-to-view"),
];

/// A binding that was split, and its other part.
const SPLIT: [(&str, &str); 1] = [("system:discovery", "system:public-info-viewer")];

/// Copies roles that administrators may have changed to those that they aggregate now, unless these exist.
pub(super) async fn aggregated_roles(roles: &ResourceClient) -> Result<(), LoopbackError> {
    for (old, new) in AGGREGATED {
        let Some(role) = roles.get("", old).filter(|_| !roles.has("", new)) else {
            continue;
        };
        if role["aggregationRule"].is_null() {
            roles.create(&renamed(role, new)).await?;
        }
    }
    Ok(())
}

/// Copies bindings to the other part of their role, with their subjects, unless it is bound.
pub(super) async fn split_bindings(bindings: &ResourceClient) -> Result<(), LoopbackError> {
    for (old, new) in SPLIT {
        if let Some(binding) = bindings.get("", old).filter(|_| !bindings.has("", new)) {
            let mut binding = renamed(binding, new);
            binding["roleRef"]["name"] = new.into();
            bindings.create(&binding).await?;
        }
    }
    Ok(())
}

/// The same object under another name, as a new one.
fn renamed(mut object: Value, name: &str) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|member, _| ["annotations", "labels"].contains(&member.as_str()));
        metadata.insert("name".to_owned(), name.into());
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_copy_is_a_new_object() {
        let old = json!({"metadata": {"name": "a", "uid": "1", "labels": {"x": "y"}}, "rules": []});
        let new = json!({"metadata": {"name": "b", "labels": {"x": "y"}}, "rules": []});
        assert_eq!(renamed(old, "b"), new);
    }
}
