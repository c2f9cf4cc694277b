//! The version 2 document: one for all group versions, put together when it is first asked for.

use bytes::Bytes;
use serde_json::{Map, Value};

/// Members that are maps from names to what group versions have in common or alone.
const MERGED: [&str; 3] = ["definitions", "parameters", "paths"];

/// One document out of those of group versions; what several have under one name is that of the first.
pub(super) fn merge(parts: impl IntoIterator<Item = Bytes>) -> Value {
    let mut whole = Map::new();
    for part in parts {
        let Ok(Value::Object(part)) = serde_json::from_slice(&part) else {
            tracing::error!("an OpenAPI document is no JSON object and was left out");
            continue;
        };
        for (name, value) in part {
            match (whole.get_mut(&name), value) {
                (Some(Value::Object(have)), Value::Object(more)) if MERGED.contains(&name.as_str()) => {
                    for (name, value) in more {
                        have.entry(name).or_insert(value);
                    }
                }
                (Some(_), _) => {}
                (None, value) => drop(whole.insert(name, value)),
            }
        }
    }
    Value::Object(whole)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn group_versions_become_one_document() {
        let core: &[u8] =
            br#"{"swagger":"2.0","info":{"title":"a"},"paths":{"/api/v1/pods":{}},"definitions":{"x":{}}}"#;
        let apps: &[u8] =
            br#"{"swagger":"2.0","info":{"title":"b"},"paths":{"/apis/apps/v1":{}},"definitions":{"y":{}}}"#;
        let whole = json!({
            "swagger": "2.0",
            "info": {"title": "a"},
            "paths": {"/api/v1/pods": {}, "/apis/apps/v1": {}},
            "definitions": {"x": {}, "y": {}},
        });
        assert_eq!(merge([core, b"[]", apps].map(Bytes::from_static)), whole);
    }
}
