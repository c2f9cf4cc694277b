//! JSON patch (RFC 6902), with the liberties of the library behind kube-apiserver: a key that is not there can be
//! replaced and copied from, indexes may be negative, and what stands before the first slash of a path is dropped.

use planesmith_machinery::json::{DecodeError, Strictness, name_of};
use planesmith_machinery::status::ApiError;
use planesmith_wire::go_format::quote;
use planesmith_wire::json::lossy;
use serde_json::Value;

use super::document::Node;
use super::{Patched, read};

/// The maximum number of operations of a patch.
pub const MAX_OPERATIONS: usize = 10_000;

/// The maximum number of bytes that all `copy` operations of a patch may add.
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// The maximum number of elements that all operations of a patch may move, because one before them is added or removed: a
/// fraction of a second's work.
const MAX_MOVED: usize = 1 << 24;

/// Applies a JSON patch to a JSON document, which is compact as the codecs write it.
///
/// # Errors
///
/// 400 when the patch is not a list of operations, 413 when it has too many, 422 without a word when one of them
/// fails.
pub fn json_patch(document: &[u8], patch: &[u8], strictness: Strictness) -> Result<Patched<'static>, ApiError> {
    let refuse = |error: DecodeError| ApiError::bad_request(format!("error decoding patch: {error}"));
    let (tree, mut findings) = read(patch, strictness).map_err(refuse)?;
    let operations = operations(&tree)?;
    if strictness == Strictness::Strict {
        findings.extend(unknown_members(&tree));
        for finding in &mut findings {
            finding.insert_str(0, "json patch ");
        }
    }
    if operations > MAX_OPERATIONS {
        let message = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {operations}");
        return Err(ApiError::too_large(&message));
    }
    let (document, patch) = (lossy(document), lossy(patch));
    let mut target = Target {
        root: Node::stored(&document),
        copied: 0,
        moved: 0,
    };
    let mut patch = Node::sent(&patch);
    for operation in patch.as_array().into_iter().flatten() {
        target.apply(operation).ok_or_else(ApiError::patch_rejected)?;
    }
    let mut out = Vec::with_capacity(document.len() + 256);
    target.root.write(&mut out);
    Ok(Patched::new(out, findings))
}

/// The number of operations, when the patch is a list of such.
fn operations(tree: &Value) -> Result<usize, ApiError> {
    let refuse = |kind: &str, place: &str, ty: &str| {
        let message = format!("error decoding patch: json: cannot unmarshal {kind} into Go {place}of type {ty}");
        Err(ApiError::bad_request(message))
    };
    let operations = match tree {
        Value::Array(operations) => operations,
        Value::Null => return Ok(0),
        other => return refuse(name_of(other), "value ", "[]handlers.jsonPatchOp"),
    };
    for operation in operations {
        match operation {
            Value::Object(members) => {
                for name in ["op", "path", "from"] {
                    match members.get(name) {
                        None | Some(Value::Null | Value::String(_)) => {}
                        Some(other) => {
                            return refuse(name_of(other), &format!("struct field jsonPatchOp.{name} "), "string");
                        }
                    }
                }
            }
            Value::Null => {}
            other => return refuse(name_of(other), "value ", "handlers.jsonPatchOp"),
        }
    }
    Ok(operations.len())
}

fn unknown_members(tree: &Value) -> Vec<String> {
    let known = ["op", "path", "from", "value"];
    let operations = tree.as_array().into_iter().flatten().enumerate();
    let members = operations.flat_map(|(index, operation)| {
        operation
            .as_object()
            .into_iter()
            .flat_map(|members| members.keys())
            .map(move |name| (index, name))
    });
    let unknown = members.filter(|(_, name)| !known.contains(&name.as_str()));
    unknown
        .take(100)
        .map(|(index, name)| format!("unknown field {}", quote(&format!("[{index}].{name}"))))
        .collect()
}

/// One operation, taken apart.
struct Operation<'a> {
    path: String,
    from: Option<String>,
    value: Node<'a>,
}

struct Target<'a> {
    root: Node<'a>,
    /// Bytes that `copy` operations added so far.
    copied: usize,
    /// Elements of arrays that were pushed along so far.
    moved: usize,
}

/// Every step is `None` when the operation cannot be carried out.
impl<'a> Target<'a> {
    fn apply(&mut self, operation: &mut Node<'a>) -> Option<()> {
        let members = operation.as_object()?;
        let text = |node: Option<&Node<'a>>| node?.as_text();
        let kind = text(members.get("op"))?;
        let operation = Operation {
            path: text(members.get("path"))?,
            from: text(members.get("from")),
            value: members.remove("value").unwrap_or(Node::Null),
        };
        match kind.as_str() {
            "add" => self.add(&operation.path, operation.value),
            "remove" => self.remove(&operation.path).map(drop),
            "replace" => self.replace(&operation.path, operation.value),
            "move" => {
                let value = self.remove(&operation.from?)?;
                self.add(&operation.path, value)
            }
            "copy" => {
                let value = self.get(&operation.from?)?.cloned().unwrap_or(Node::Null);
                self.count(&value)?;
                self.add(&operation.path, value)
            }
            "test" => self.test(&operation.path, operation.value),
            _ => None,
        }
    }

    fn count(&mut self, value: &Node<'a>) -> Option<()> {
        let mut json = Vec::new();
        value.write(&mut json);
        self.copied += json.len();
        (self.copied <= MAX_COPIED).then_some(())
    }

    fn add(&mut self, path: &str, value: Node<'a>) -> Option<()> {
        let (parent, key) = find(&mut self.root, path)?;
        if let Some(elements) = parent.as_array() {
            let index = match key.as_str() {
                "-" => elements.len(),
                key => index(key, elements.len() + 1)?,
            };
            push_along(&mut self.moved, elements.len() - index)?;
            elements.insert(index, value);
        } else {
            parent.as_object()?.insert(key, value);
        }
        Some(())
    }

    fn remove(&mut self, path: &str) -> Option<Node<'a>> {
        let (parent, key) = find(&mut self.root, path)?;
        match parent.as_array() {
            Some(elements) => {
                let index = index(&key, elements.len())?;
                push_along(&mut self.moved, elements.len() - index)?;
                Some(elements.remove(index))
            }
            None => parent.as_object()?.remove(&key),
        }
    }

    fn replace(&mut self, path: &str, value: Node<'a>) -> Option<()> {
        if path.is_empty() {
            let mut value = value;
            (value.as_object().is_some() || value.as_array().is_some()).then_some(())?;
            self.root = value;
            return Some(());
        }
        let (parent, key) = find(&mut self.root, path)?;
        match parent.as_array() {
            Some(elements) => {
                let index = index(&key, elements.len())?;
                elements[index] = value;
            }
            None => drop(parent.as_object()?.insert(key, value)),
        }
        Some(())
    }

    fn test(&mut self, path: &str, mut value: Node<'a>) -> Option<()> {
        let found = match path {
            "" => Some(&mut self.root),
            path => self.get(path)?,
        };
        let same = match found {
            None => matches!(value, Node::Null),
            Some(found) => found.equals(&mut value),
        };
        same.then_some(())
    }

    /// The value at a path; the inner `None` is a missing entry of an object.
    fn get(&mut self, path: &str) -> Option<Option<&mut Node<'a>>> {
        let (parent, key) = find(&mut self.root, path)?;
        if parent.is_array() {
            let elements = parent.as_array()?;
            let index = index(&key, elements.len())?;
            return Some(elements.get_mut(index));
        }
        Some(parent.as_object()?.get_mut(&key))
    }
}

/// Counts elements that are pushed along.
fn push_along(moved: &mut usize, elements: usize) -> Option<()> {
    *moved += elements;
    (*moved <= MAX_MOVED).then_some(())
}

/// The object or array that holds the last step of a path below `root`, and that step.
fn find<'n, 'a>(root: &'n mut Node<'a>, path: &str) -> Option<(&'n mut Node<'a>, String)> {
    let mut steps = path.split('/').skip(1).map(decode_step).peekable();
    let mut node = root;
    loop {
        let step = steps.next()?;
        if steps.peek().is_none() {
            return Some((node, step));
        }
        node = if node.is_array() {
            let elements = node.as_array()?;
            let index = index(&step, elements.len())?;
            &mut elements[index]
        } else {
            node.as_object()?.get_mut(&step)?
        };
    }
}

fn decode_step(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// The place of an element among `length` ones; negative ones count from the end.
fn index(text: &str, length: usize) -> Option<usize> {
    let index: i64 = text.parse().ok()?;
    let length = i64::try_from(length).ok()?;
    let index = if index < 0 { index + length } else { index };
    (0..length).contains(&index).then(|| usize::try_from(index).ok())?
}
