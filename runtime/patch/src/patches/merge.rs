//! JSON merge patch (RFC 7386).

use std::fmt;

use planesmith_machinery::json::{Strictness, name_of};
use planesmith_machinery::status::ApiError;
use planesmith_wire::json::lossy;
use serde_json::Value;

use super::document::Node;
use super::{Patched, read, undecodable};

/// Applies a merge patch to a JSON document, which is compact as the codecs write it.
///
/// # Errors
///
/// 400 when the patch is not a JSON object. Strict validation decodes the patch beforehand, with messages of its own;
/// without it, an array replaces the document.
pub fn merge_patch(document: &[u8], patch: &[u8], strictness: Strictness) -> Result<Patched<'static>, ApiError> {
    let invalid = || ApiError::bad_request("Invalid JSON Patch");
    let is_strict = strictness == Strictness::Strict;
    let refuse = |why: &dyn fmt::Display| match is_strict {
        true => undecodable(why, strictness),
        false => invalid(),
    };
    let (tree, findings) = read(patch, strictness).map_err(|error| refuse(&error))?;
    let replaces = match tree {
        Value::Object(_) => false,
        Value::Null => return Err(invalid()),
        Value::Array(_) if !is_strict => true,
        other => {
            let kind = name_of(&other);
            let why = format_args!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}");
            return Err(refuse(&why));
        }
    };
    let (document, sent) = (lossy(document), lossy(patch));
    let mut target = Node::stored(&document);
    let mut patch = Node::sent(&sent);
    if replaces {
        patch.prune();
        target = patch;
    } else {
        merge(&mut target, patch);
    }
    let mut out = Vec::with_capacity(document.len() + sent.len());
    target.write(&mut out);
    Ok(Patched::new(out, findings))
}

/// Merges `patch` into `target`. Nested no deeper than the tree of the patch, which was read.
fn merge<'a>(target: &mut Node<'a>, mut patch: Node<'a>) {
    let Some(entries) = target.as_object() else {
        patch.prune();
        *target = patch;
        return;
    };
    if patch.as_object().is_none() {
        // What replaces an object is taken as it is, including nulls.
        *target = patch;
        return;
    }
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
