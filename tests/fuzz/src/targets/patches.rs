//! Patches of objects.

use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::status::ApiError;
use planesmith_patch::patches::{Patched, json_patch, merge_patch, strategic_merge_patch};
use serde_json::Value;

use crate::kinds::{choose, join, pieces, samples};

/// Patching a document results in a valid document; a merge patch follows the RFC and is idempotent.
pub(crate) fn run(input: &[u8]) {
    let Some((kind, [document, patch])) = choose(input).and_then(|(kind, rest)| Some((kind, pieces(rest)?))) else {
        return;
    };
    let Ok((Value::Object(document), _)) = json::parse_value(document, Strictness::Lenient) else {
        return;
    };
    let document = Value::Object(document);
    let text = written(&document);
    for strictness in [Strictness::Lenient, Strictness::Strict] {
        read(json_patch(&text, patch, strictness));
        read(strategic_merge_patch(kind.zero().facts(), &text, patch, strictness));
        read(merge_patch(&text, patch, strictness));
    }
    let (Some(once), Ok((tree, _))) = (
        read(merge_patch(&text, patch, Strictness::Lenient)),
        json::parse_value(patch, Strictness::Lenient),
    ) else {
        return;
    };
    if tree.pointer("/metadata/managedFields").is_none() && document.pointer("/metadata/managedFields").is_none() {
        // A number without a fraction is read again as an integer.
        let (expected, _) = json::parse_value(&written(&merged(document, tree)), Strictness::Lenient)
            .expect("what was written is read");
        assert_eq!(once, expected);
    }
    let twice = read(merge_patch(&written(&once), patch, Strictness::Lenient));
    assert_eq!(twice.as_ref(), Some(&once));
}

/// RFC 7386, section 2, except that nulls are removed inside lists, too, as in kube-apiserver.
fn merged(target: Value, patch: Value) -> Value {
    let patch = match patch {
        Value::Object(patch) => patch,
        Value::Array(elements) => {
            return elements
                .into_iter()
                .map(|element| merged(Value::Null, element))
                .collect();
        }
        patch => return patch,
    };
    let mut target = match target {
        Value::Object(target) => target,
        _ => serde_json::Map::new(),
    };
    for (key, change) in patch {
        if change.is_null() {
            target.remove(&key);
        } else {
            let before = target.remove(&key).unwrap_or_default();
            target.insert(key, merged(before, change));
        }
    }
    Value::Object(target)
}

fn read(patched: Result<Patched, ApiError>) -> Option<Value> {
    let patched = patched.ok()?;
    let (tree, _) = json::parse_value(&patched.document, Strictness::Lenient).expect("a patched document is JSON");
    Some(tree)
}

fn written(document: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    json::encode_value(document, &mut text);
    text
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for sample in samples(|object| json::to_vec(object)) {
        let (kind, document) = sample.split_at(1);
        for patch in PATCHES {
            seeds.push([kind, &join(&[document, patch.as_bytes()])].concat());
        }
        seeds.push([kind, &join(&[document, document])].concat());
    }
    seeds
}

const PATCHES: [&str; 8] = [
    r#"{"metadata":{"labels":{"a":"b","c":null}},"spec":{"x":[1,{"y":null}]}}"#,
    r#"{"metadata":{"managedFields":[]}}"#,
    r#"[{"op":"add","path":"/spec/-","value":1},{"op":"test","path":"/kind","value":"Pod"}]"#,
    r#"[{"op":"move","from":"/metadata","path":"/a"},{"op":"copy","from":"/a/name","path":"/b"},{"op":"remove","path":"/a"}]"#,
    r#"[{"op":"replace","path":"/metadata/labels/a~1b","value":{}}]"#,
    r#"{"spec":{"containers":[{"name":"a","$patch":"delete"},{"name":"b","image":"c"}],"$setElementOrder/containers":[{"name":"b"}]}}"#,
    r#"{"spec":{"$retainKeys":["containers"],"$patch":"replace"},"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["b"]}}"#,
    r#"{"spec":{"ports":[{"port":80,"protocol":"TCP","$patch":"merge"},{"$patch":"replace"}],"template":{"spec":{"volumes":null}}}}"#,
];
