//! The names of Go fields, derived from JSON names.

use std::borrow::Cow;

use crate::facts::StructFacts;

/// First words that Go writes in upper case.
const INITIALS: [&str; 37] = [
    "api", "aws", "ca", "cel", "cidr", "cpu", "csi", "dns", "fc", "fs", "gce", "gid", "gmsa", "grpc", "http", "id",
    "io", "ip", "iqn", "iscsi", "json", "nfs", "os", "pd", "pkix", "qos", "rbd", "se", "ssl", "tcp", "tls", "ttl",
    "tty", "ui", "uid", "uri", "url",
];

/// Returns the Go name of the field with the JSON name `json` in the type with `facts`.
pub(super) fn of_field(facts: &StructFacts, json: &str) -> Cow<'static, str> {
    let irregular = facts.go_names.iter().find(|(name, _)| *name == json);
    match irregular {
        Some((_, go)) => Cow::Borrowed(go),
        None => Cow::Owned(regular(json)),
    }
}

/// Returns the Go name that follows from a JSON name.
fn regular(json: &str) -> String {
    let word = json.find(|c: char| c.is_ascii_uppercase()).unwrap_or(json.len());
    let (word, rest) = json.split_at(word);
    let word = match INITIALS.contains(&word) {
        true => word.to_ascii_uppercase(),
        false => word
            .char_indices()
            .map(|(at, c)| if at == 0 { c.to_ascii_uppercase() } else { c })
            .collect(),
    };
    word + rest
}
