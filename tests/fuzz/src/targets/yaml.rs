//! Documents in YAML.

use planesmith_machinery::{json, yaml};
use serde_json::Value;

use crate::kinds::samples;

/// The limit for growth by aliases, in bytes: a few megabytes of text, each byte of which may need an escape.
const MAX_FROM_ALIASES: usize = 32 << 20;

/// Converting YAML to JSON and back preserves the document.
pub(crate) fn run(input: &[u8]) {
    if let Ok(document) = yaml::to_json(input) {
        let most = MAX_FROM_ALIASES + 8 * input.len();
        assert!(
            document.json.len() <= most,
            "{} bytes of {}",
            document.json.len(),
            input.len()
        );
    }
    for json in [yaml::to_json(input).ok().map(|document| document.json), as_json(input)]
        .into_iter()
        .flatten()
    {
        let written = yaml::from_json(&json).expect("what was written is JSON");
        let again = yaml::to_json(&written).expect("what was written is YAML");
        assert!(
            alike(&tree(&json), &tree(&again.json)),
            "{}\n{}",
            String::from_utf8_lossy(&json),
            String::from_utf8_lossy(&written)
        );
        assert!(again.duplicates.is_empty(), "{:?}", again.duplicates);
    }
}

fn tree(json: &[u8]) -> Value {
    json::parse_value(json, json::Strictness::Lenient)
        .expect("what was written is JSON")
        .0
}

/// True if two documents are equal. In YAML, `-0` is an integer, which has no sign.
fn alike(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| alike(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let other = |(key, left)| right.get(key).is_some_and(|right| alike(left, right));
            left.len() == right.len() && left.iter().all(other)
        }
        _ => left == right,
    }
}

/// Returns the input as sorted, compact JSON; `None` if it is not JSON.
fn as_json(input: &[u8]) -> Option<Vec<u8>> {
    let (tree, _) = json::parse_value(input, json::Strictness::Lenient).ok()?;
    let mut json = Vec::new();
    json::encode_value(&tree, &mut json);
    Some(json)
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<_> = samples(|object| yaml::from_json(&json::to_vec(object)).unwrap_or_default())
        .into_iter()
        .map(|seed| seed[1..].to_vec())
        .collect();
    let texts = [
        "a: &x [1, 2]\nb: *x\nc: {<<: {d: 1}, e: yes}\n",
        "a: |+\n  two\n\n  lines\n\nb: >-\n  folded\n  text\nc: 'it''s'\nd: \"\\u00e9\\x41\\n\"\n",
        "- 0x1F\n- 0b11\n- 010\n- 1_000\n- .inf\n- 1e3\n- ~\n- !!binary aGk=\n- 2024-01-02\n- 1:30\n",
        "%YAML 1.1\n---\na: 1\n...\n---\nb: 2\n",
        "? [a]\n: b\n",
        "a: &a [*a]\n",
    ];
    seeds.extend(texts.map(|text| text.as_bytes().to_vec()));
    let text = "x".repeat(100_000);
    seeds.push(format!("x: &a {text}\ny: [{}]\n", "*a,".repeat(500)).into_bytes());
    seeds.push("[".repeat(5_000).into_bytes());
    seeds.push("- ".repeat(5_000).into_bytes());
    seeds
}
