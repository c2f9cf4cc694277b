//! The name of the manager of a write, and its identifier among others.

use planesmith_machinery::json;
use planesmith_wire::go_format::is_printable;

use super::entries::Operation;

/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 128;

/// The name under which the fields of a write are tracked: `fieldManager`, or else the user agent up to its first
/// slash without unprintable characters, or else `unknown`.
#[must_use]
pub fn manager_name(field_manager: &str, user_agent: &str) -> String {
    if !field_manager.is_empty() {
        return field_manager.to_owned();
    }
    let mut name = String::new();
    let product = user_agent.split('/').next().unwrap_or("");
    for c in product.chars().filter(|c| is_printable(*c)) {
        if name.len() + c.len_utf8() > MAX_NAME {
            break;
        }
        name.push(c);
    }
    if name.is_empty() { "unknown".to_owned() } else { name }
}

/// Returns the text by which kube-apiserver identifies and sorts managers: the JSON of their entry without time and fields.
/// An applier has no version there.
pub(crate) fn identifier(manager: &str, operation: Operation, api_version: &str, subresource: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(64);
    for (name, value) in [
        ("manager", manager),
        ("operation", operation.as_str()),
        ("apiVersion", api_version),
        ("subresource", subresource),
    ] {
        if !value.is_empty() {
            text.extend_from_slice(if text.is_empty() { b"{" } else { b"," });
            json::encode_text(name, &mut text);
            text.push(b':');
            json::encode_text(value, &mut text);
        }
    }
    text.push(b'}');
    text
}
