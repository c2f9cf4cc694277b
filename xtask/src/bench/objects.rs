//! The objects that the load reads and writes.

use serde_json::json;

/// The namespace of the objects that are read.
pub(crate) const READ: &str = "bench-read";
/// The namespace of the objects that are written.
pub(crate) const WRITTEN: &str = "bench-written";
/// The namespace of the objects that are watched.
pub(crate) const WATCHED: &str = "bench-watched";

/// The path of the config maps in `namespace`.
pub(crate) fn collection(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

/// The path of one config map.
pub(crate) fn object(namespace: &str, name: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps/{name}")
}

/// The name of config map number `number`.
pub(crate) fn name(number: usize) -> String {
    format!("settings-{number:05}")
}

/// A namespace to create.
pub(crate) fn namespace(name: &str) -> Vec<u8> {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        .to_string()
        .into_bytes()
}

/// A config map that takes about 1.4 KB once the server has added its metadata. `turn` makes it
/// differ from its former self; every sixteenth has the label `tier: gold`.
pub(crate) fn config_map(name: &str, number: usize, turn: usize) -> Vec<u8> {
    let tier = if number % 16 == 15 { "gold" } else { "silver" };
    let mut data = serde_json::Map::new();
    data.insert("turn".to_owned(), turn.to_string().into());
    for line in 0..9 {
        let value = format!("line {line} of {name}: {}", "abcdefghijklmnopqrstuvwxyz".repeat(2));
        data.insert(format!("line-{line:02}"), value.into());
    }
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app": "bench", "tier": tier}},
        "data": data,
    })
    .to_string()
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_map_has_the_size_of_the_table() {
        // What a server adds: namespace, uid, resourceVersion, creationTimestamp and managedFields.
        let added = 505;
        let size = config_map(&name(1), 1, 1).len() + added;
        assert!((1300..1500).contains(&size), "{size}");
    }

    #[test]
    fn the_selector_takes_312_of_5000() {
        let gold = (0..5000).filter(|&number| {
            let body = config_map(&name(number), number, 0);
            String::from_utf8(body).unwrap().contains("gold")
        });
        assert_eq!(gold.count(), 312);
    }
}
