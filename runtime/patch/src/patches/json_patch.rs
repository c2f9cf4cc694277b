//! JSON patch (RFC 6902), with the liberties of the library behind kube-apiserver: a key that is not there can be
//! replaced and copied from, indexes may be negative, and the text before the first slash of a path is dropped.

use planesmith_machinery::json::{Strictness, encode_value, name_of};
use planesmith_machinery::status::ApiError;
use planesmith_wire::go_format::quote;
use planesmith_wire::json::lossy;
use serde_json::Value;

use super::document::Node;
use super::{Patched, read, undecodable};

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
/// fails. Strict validation decodes the patch beforehand, with messages of its own.
pub fn json_patch(document: &[u8], patch: &[u8], strictness: Strictness) -> Result<Patched<'static>, ApiError> {
    let (tree, mut findings) = read(patch, strictness).map_err(|error| undecodable(&error, strictness))?;
    let operations = operations(&tree, strictness).map_err(|why| undecodable(&why, strictness))?;
    if strictness == Strictness::Strict {
        findings.extend(unknown_members(&tree));
        findings.sort_by_key(|finding| operation_of(finding));
        for finding in &mut findings {
            finding.insert_str(0, "json patch ");
        }
    }
    if operations > MAX_OPERATIONS {
        let message = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {operations}");
        return Err(ApiError::too_large(&message));
    }
    let patched = apply_list(document, patch).map_err(|_| ApiError::patch_rejected())?;
    Ok(Patched::new(patched, findings))
}

/// Decodes a JSON patch, `null` or a list of operations, whose members are not checked.
///
/// # Errors
///
/// The first mistake, in the words of Go.
pub fn decode_patch(patch: &[u8]) -> Result<Value, String> {
    let (tree, _) = read(patch, Strictness::Lenient).map_err(|error| error.to_string())?;
    operations(&tree, Strictness::Lenient)?;
    Ok(tree)
}

/// The reason why a patch does not apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A `test` operation found another value.
    #[error("{0}")]
    TestFailed(String),
    /// An operation cannot be performed.
    #[error("{0}")]
    Failed(String),
}

/// Applies `operations`, the operations of a JSON patch, to a JSON document, which is compact as the codecs write it.
///
/// # Errors
///
/// The reason why an operation cannot be performed, worded as the library behind kube-apiserver words it.
pub fn apply_operations(document: &[u8], operations: &Value) -> Result<Vec<u8>, Refusal> {
    let count = operations.as_array().map_or(0, Vec::len);
    if count > MAX_OPERATIONS {
        let message = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}");
        return Err(Refusal::Failed(message));
    }
    let mut patch = Vec::new();
    encode_value(operations, &mut patch);
    apply_list(document, &patch)
}

/// Applies a JSON patch, a list of any length. Its values are compared and inserted as they are written.
///
/// # Errors
///
/// As for [`apply_operations`].
pub fn apply_list(document: &[u8], patch: &[u8]) -> Result<Vec<u8>, Refusal> {
    let (document, patch) = (lossy(document), lossy(patch));
    let mut target = Target {
        root: Node::stored(&document),
        copied: 0,
        moved: 0,
    };
    let mut patch = Node::sent(&patch);
    for operation in patch.as_array().into_iter().flatten() {
        target.apply(operation)?;
    }
    let mut out = Vec::with_capacity(document.len() + 256);
    target.root.write(&mut out);
    Ok(out)
}

/// The number of operations, when the patch is a list of such.
///
/// # Errors
///
/// The first mistake, in the words of Go.
fn operations(tree: &Value, strictness: Strictness) -> Result<usize, String> {
    let refuse =
        |kind: &str, place: &str, ty: &str| Err(format!("json: cannot unmarshal {kind} into Go {place}of type {ty}"));
    let (list_type, type_of_one) = match strictness {
        Strictness::Strict => ("[]handlers.jsonPatchOp", "handlers.jsonPatchOp"),
        Strictness::Lenient => ("jsonpatch.Patch", "jsonpatch.Operation"),
    };
    let operations = match tree {
        Value::Array(operations) => operations,
        Value::Null => return Ok(0),
        other => return refuse(name_of(other), "value ", list_type),
    };
    for operation in operations {
        match operation {
            // The members are read when the operation is carried out.
            Value::Object(_) if strictness == Strictness::Lenient => {}
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
            other => return refuse(name_of(other), "value ", type_of_one),
        }
    }
    Ok(operations.len())
}

/// The number of the operation that a finding about a member names, as in `unknown field "[3].foo"`.
fn operation_of(finding: &str) -> Option<usize> {
    let (_, rest) = finding.split_once("\"[")?;
    let (number, _) = rest.split_once(']')?;
    number.parse().ok()
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

struct Target<'a> {
    root: Node<'a>,
    /// Bytes that `copy` operations added so far.
    copied: usize,
    /// Elements of arrays that were pushed along so far.
    moved: usize,
}

/// Every step fails with the reason why the operation cannot be carried out.
impl<'a> Target<'a> {
    fn apply(&mut self, operation: &mut Node<'a>) -> Result<(), Refusal> {
        // `null` is an operation without members.
        let malformed = || Refusal::Failed("Unexpected kind: unknown".to_owned());
        let members = operation.as_object().ok_or_else(malformed)?;
        let text = |node: Option<&Node<'a>>| node?.as_text();
        let kind = text(members.get("op")).unwrap_or_else(|| "unknown".to_owned());
        let path = text(members.get("path"));
        let from = text(members.get("from"));
        let value = members.remove("value").unwrap_or(Node::Null);
        let required = |text: Option<String>, name: &str| {
            // Some operations do not report the whole reason.
            let reason = match (kind.as_str(), name) {
                ("add" | "remove" | "copy", "path") => MISSING.to_owned(),
                _ => format!("operation missing {name} field: {MISSING}"),
            };
            let why = format!("{kind} operation failed to decode {name}: {reason}");
            text.ok_or(Refusal::Failed(why))
        };
        match kind.as_str() {
            "add" => self.add(&required(path, "path")?, value),
            "remove" => self.remove(&required(path, "path")?).map(drop),
            "replace" => self.replace(&required(path, "path")?, value),
            "move" => {
                let from = required(from, "from")?;
                let (con, key) = find(&mut self.root, &from).ok_or_else(|| {
                    missing(&format!(
                        "move operation does not apply: doc is missing from path: {from}"
                    ))
                })?;
                let in_move = |why| format!("error in move for path: '{key}': {why}");
                let value = take(con, &key, &mut self.moved).map_err(|why| Refusal::Failed(in_move(why)))?;
                let path = required(path, "path")?;
                let absent = format!("move operation does not apply: doc is missing destination path: {path}");
                self.insert(&path, value, &absent, "move")
            }
            "copy" => self.copy(&required(from, "from")?, &required(path, "path")?),
            "test" => self.test(&required(path, "path")?, value),
            kind => Err(Refusal::Failed(format!("Unexpected kind: {kind}"))),
        }
    }

    fn copy(&mut self, from: &str, path: &str) -> Result<(), Refusal> {
        let absent = || {
            missing(&format!(
                "copy operation does not apply: doc is missing from path: {from}"
            ))
        };
        let failed = |why| Refusal::Failed(format!("error in copy for from: '{from}': {why}"));
        let (parent, key) = find(&mut self.root, from).ok_or_else(absent)?;
        get(parent, &key).map_err(failed)?;
        // The way to the destination may lead through the value, whose visited objects are copied with sorted keys.
        let no_destination = format!("copy operation does not apply: doc is missing destination path: {path}");
        find(&mut self.root, path).ok_or_else(|| missing(&no_destination))?;
        let (parent, key) = find(&mut self.root, from).ok_or_else(absent)?;
        let value = get(parent, &key).map_err(failed)?.cloned().unwrap_or(Node::Null);
        let mut json = Vec::new();
        value.write(&mut json);
        self.copied += json.len();
        if self.copied > MAX_COPIED {
            let why = "unable to complete the copy, the accumulated size increase of copy is";
            let copied = self.copied;
            return Err(Refusal::Failed(format!(
                "{why} {copied}, exceeding the limit {MAX_COPIED}"
            )));
        }
        self.insert(path, value, &no_destination, "copy")
    }

    fn add(&mut self, path: &str, value: Node<'a>) -> Result<(), Refusal> {
        let absent = format!("add operation does not apply: doc is missing path: \"{path}\"");
        self.insert(path, value, &absent, "add")
    }

    /// Inserts `value` at `path` for an operation, which reports `absent` if the parent is missing.
    fn insert(&mut self, path: &str, value: Node<'a>, absent: &str, operation: &str) -> Result<(), Refusal> {
        let (parent, key) = find(&mut self.root, path).ok_or_else(|| missing(absent))?;
        let fail = |why: String| Refusal::Failed(format!("error in {operation} for path: '{path}': {why}"));
        if let Some(elements) = parent.as_array() {
            let index = match key.as_str() {
                "-" => elements.len(),
                key => index(key, elements.len() + 1).map_err(fail)?,
            };
            push_along(&mut self.moved, elements.len() - index).map_err(fail)?;
            elements.insert(index, value);
        } else {
            let entries = parent.as_object().ok_or_else(|| missing(absent))?;
            entries.insert(key, value);
        }
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<Node<'a>, Refusal> {
        let absent = || {
            missing(&format!(
                "remove operation does not apply: doc is missing path: \"{path}\""
            ))
        };
        let (parent, key) = find(&mut self.root, path).ok_or_else(absent)?;
        let fail = |why| Refusal::Failed(format!("error in remove for path: '{path}': {why}"));
        take(parent, &key, &mut self.moved).map_err(fail)
    }

    fn replace(&mut self, path: &str, mut value: Node<'a>) -> Result<(), Refusal> {
        let absent = || {
            missing(&format!(
                "replace operation does not apply: doc is missing path: {path}"
            ))
        };
        if path.is_empty() {
            if value.as_object().is_none() && value.as_array().is_none() {
                // The library prints an error that it does not have.
                let why = "replace operation value must be object or array: %!w(<nil>)";
                return Err(Refusal::Failed(why.to_owned()));
            }
            self.root = value;
            return Ok(());
        }
        let (parent, key) = find(&mut self.root, path).ok_or_else(absent)?;
        match parent.as_array() {
            Some(elements) => {
                let no_key = |_| missing(&format!("replace operation does not apply: doc is missing key: {path}"));
                let index = index(&key, elements.len()).map_err(no_key)?;
                elements[index] = value;
            }
            None => drop(parent.as_object().ok_or_else(absent)?.insert(key, value)),
        }
        Ok(())
    }

    fn test(&mut self, path: &str, mut value: Node<'a>) -> Result<(), Refusal> {
        let found = match path {
            "" => Some(&mut self.root),
            path => {
                let absent = || missing(&format!("test operation does not apply: is missing path: {path}"));
                let (parent, key) = find(&mut self.root, path).ok_or_else(absent)?;
                get(parent, &key).map_err(|why| Refusal::Failed(format!("error in test for path: '{path}': {why}")))?
            }
        };
        let same = match found {
            None => matches!(value, Node::Null),
            Some(found) => found.equals(&mut value),
        };
        match same {
            true => Ok(()),
            false => Err(Refusal::TestFailed(format!("testing value {path} failed: test failed"))),
        }
    }
}

/// The end of messages about something that is missing.
const MISSING: &str = "missing value";

fn missing(why: &str) -> Refusal {
    Refusal::Failed(format!("{why}: {MISSING}"))
}

/// The value of a step; `None` is a missing entry of an object.
fn get<'n, 'a>(parent: &'n mut Node<'a>, key: &str) -> Result<Option<&'n mut Node<'a>>, String> {
    if parent.is_array() {
        let elements = parent.as_array().ok_or(MISSING)?;
        let index = index(key, elements.len())?;
        return Ok(elements.get_mut(index));
    }
    Ok(parent.as_object().ok_or(MISSING)?.get_mut(key))
}

/// Removes the value of a step.
fn take<'a>(parent: &mut Node<'a>, key: &str, moved: &mut usize) -> Result<Node<'a>, String> {
    match parent.as_array() {
        Some(elements) => {
            let index = index(key, elements.len())?;
            push_along(moved, elements.len() - index)?;
            Ok(elements.remove(index))
        }
        None => {
            let removed = parent.as_object().ok_or(MISSING)?.remove(key);
            removed.ok_or_else(|| format!("Unable to remove nonexistent key: {key}: {MISSING}"))
        }
    }
}

/// Counts elements that are pushed along.
fn push_along(moved: &mut usize, elements: usize) -> Result<(), String> {
    *moved += elements;
    match *moved <= MAX_MOVED {
        true => Ok(()),
        false => Err("the operations of the patch move too many elements".to_owned()),
    }
}

/// The object or array that holds the last step of a path below `root`, and that step.
fn find<'n, 'a>(root: &'n mut Node<'a>, path: &str) -> Option<(&'n mut Node<'a>, String)> {
    let mut steps = path.split('/').skip(1).map(decode_step).peekable();
    let mut node = root;
    loop {
        let step = steps.next()?;
        if steps.peek().is_none() {
            let is_container = node.is_array() || node.as_object().is_some();
            return is_container.then_some((node, step));
        }
        node = if node.is_array() {
            let elements = node.as_array()?;
            let index = index(&step, elements.len()).ok()?;
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
fn index(text: &str, length: usize) -> Result<usize, String> {
    let number = text
        .strip_prefix('+')
        .filter(|rest| !rest.starts_with('-'))
        .unwrap_or(text);
    let Ok(index) = number.parse::<i64>() else {
        return Err(format!(
            "value was not a proper array index: '{text}': strconv.Atoi: parsing {}: invalid syntax",
            quote(text)
        ));
    };
    let invalid = || format!("Unable to access invalid index: {index}: invalid index referenced");
    let length = i64::try_from(length).map_err(|_| invalid())?;
    let place = if index < 0 { index.saturating_add(length) } else { index };
    let is_inside = (0..length).contains(&place);
    is_inside
        .then(|| usize::try_from(place).ok())
        .flatten()
        .ok_or_else(invalid)
}
