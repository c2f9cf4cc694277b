//! The name of the manager of a write.

use planesmith_wire::go_format::is_printable;

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
