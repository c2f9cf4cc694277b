//! JSON merge patch (RFC 7386).

use planesmith_machinery::json::{DecodeError, Strictness, name_of};
use planesmith_machinery::status::ApiError;
use planesmith_wire::json::lossy;

use super::document::Node;
use super::{Patched, read};

/// Applies a merge patch to a JSON document, which is compact as the codecs write it.
///
/// # Errors
///
/// 400 when the patch is not a JSON object.
pub fn merge_patch(document: &[u8], patch: &[u8], strictness: Strictness) -> Result<Patched<'static>, ApiError> {
    let refuse = |error: DecodeError| ApiError::bad_request(format!("error decoding patch: {error}"));
    let (tree, findings) = read(patch, strictness).map_err(refuse)?;
    match tree {
        serde_json::Value::Object(_) => {}
        serde_json::Value::Null => return Err(ApiError::bad_request("Invalid JSON Patch")),
        other => {
            let kind = name_of(&other);
            let message = format!(
                "error decoding patch: json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
            );
            return Err(ApiError::bad_request(message));
        }
    }
    let (document, patch) = (lossy(document), lossy(patch));
    let mut target = Node::stored(&document);
    merge(&mut target, Node::sent(&patch));
    let mut out = Vec::with_capacity(document.len() + patch.len());
    target.write(&mut out);
    Ok(Patched::new(out, findings))
}

/// Merges `patch` into `target`. Nested no deeper than the tree of the patch, which was read.
fn merge<'a>(target: &mut Node<'a>, mut patch: Node<'a>) {
    let (Some(entries), true) = (target.as_object(), patch.as_object().is_some()) else {
        patch.prune();
        *target = patch;
        return;
    };
    let Node::Object(changes) = patch else { return };
    for (key, mut change) in changes {
        if matches!(change, Node::Null) {
            entries.remove(&key);
            continue;
        }
        match entries.get_mut(&key) {
            None | Some(Node::Null) => {
                change.prune();
                entries.insert(key, change);
            }
            Some(value) => merge(value, change),
        }
    }
}
