//! The conversion of documents to objects where kube-apiserver converts unstructured trees: after a strategic merge
//! patch and after an apply. That converter has its own rules: numbers without a fraction are integers, too large
//! numbers wrap around, and type errors have another wording than those of JSON text.

mod nested;
mod number;

pub use nested::{nested_integer, nested_text, set_nested};

use serde_json::{Map as Entries, Value as Tree};

use planesmith_machinery::decode_budget;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::json::{self, Findings, Path, Strictness};
use planesmith_machinery::scalar::Scalar;
use planesmith_machinery::value::{List, Map, Slot, Struct, Value};
use planesmith_wire::go_base64;

/// Reads the text of a document that a client sent over `target`, a zero object.
///
/// # Errors
///
/// The mismatch, in the words of kube-apiserver's converter.
pub fn decode(document: &[u8], target: &mut dyn Struct, strictness: Strictness) -> Result<Findings, String> {
    // Valid documents have the same result under the rules of JSON, which is faster.
    let read = json::decode_sent(document, target, strictness);
    let read = read.or_else(|error| {
        let (tree, _) = json::parse_value(document, Strictness::Lenient).map_err(|_| error.to_string())?;
        convert(&tree, target, strictness, decode_budget::budget_for(document.len()))
    });
    read.map(Findings::sorted)
}

/// Reads a document into `target`, a zero object; unknown fields are not reported.
///
/// # Errors
///
/// As [`decode`].
pub fn read(document: &Tree, target: &mut dyn Struct) -> Result<(), String> {
    json::from_value(document, target, Strictness::Lenient)
        .or_else(|_| convert(document, target, Strictness::Lenient, usize::MAX))
        .map(drop)
}

/// Lists and maps of `target` may take `budget` bytes.
fn convert(tree: &Tree, target: &mut dyn Struct, strictness: Strictness, budget: usize) -> Result<Findings, String> {
    let mut walk = Walk {
        strict: strictness == Strictness::Strict,
        budget,
        depth: 0,
        findings: Findings::default(),
    };
    walk.structure(target, tree, &Path::ROOT)?;
    Ok(walk.findings)
}

struct Walk {
    strict: bool,
    budget: usize,
    depth: usize,
    findings: Findings,
}

impl Walk {
    fn value(&mut self, target: &mut dyn Value, tree: &Tree, path: &Path<'_>) -> Result<(), String> {
        if tree.is_null() {
            target.reset();
            return Ok(());
        }
        match target.slot() {
            Slot::Optional(target) => self.value(target.insert(), tree, path)?,
            Slot::Str(target) => expect_str(tree)?.clone_into(target),
            Slot::Bool(target) => *target = tree.as_bool().ok_or("unrecognized type: bool")?,
            Slot::Int32(target) => *target = number::int32(tree)?,
            Slot::Int64(target) => *target = number::int64(tree, "int64")?,
            Slot::Double(target) => *target = tree.as_f64().ok_or("unrecognized type: float64")?,
            Slot::Bytes(target) => *target = bytes(tree)?,
            Slot::Scalar(target) => leaf(target, tree)?,
            Slot::Struct(target) => self.structure(target, tree, path)?,
            Slot::List(target) => self.list(target, tree, path)?,
            Slot::Map(target) => self.map(target, tree, path)?,
        }
        Ok(())
    }

    fn list(&mut self, target: &mut dyn List, tree: &Tree, path: &Path<'_>) -> Result<(), String> {
        let Tree::Array(elements) = tree else {
            return Err(format!("cannot restore slice from {}", kind(tree)));
        };
        target.clear();
        for (index, element) in elements.iter().enumerate() {
            let value = target.push();
            decode_budget::take(&mut self.budget, value)?;
            self.value(value, element, &path.index(index))?;
        }
        Ok(())
    }

    /// Keys are no part of the path, as in the original.
    fn map(&mut self, target: &mut dyn Map, tree: &Tree, path: &Path<'_>) -> Result<(), String> {
        let Tree::Object(entries) = tree else {
            return Err(format!("cannot restore map from {}", kind(tree)));
        };
        target.clear();
        for (key, entry) in entries {
            let value = target.entry(key);
            decode_budget::take(&mut self.budget, value)?;
            self.value(value, entry, path)?;
        }
        Ok(())
    }

    fn structure(&mut self, target: &mut dyn Struct, tree: &Tree, path: &Path<'_>) -> Result<(), String> {
        let Tree::Object(entries) = tree else {
            return Err(format!("cannot restore struct from: {}", kind(tree)));
        };
        self.depth += 1;
        if self.depth > json::MAX_TYPED_DEPTH {
            return Err("exceeded max depth".to_owned());
        }
        self.fields(target, entries, path)?;
        self.depth -= 1;
        if self.strict {
            let facts = target.facts();
            for key in entries.keys().filter(|key| !has_field(facts, key)) {
                self.findings.unknown(path, key);
            }
        }
        Ok(())
    }

    /// Reads the fields in their order and reports the first type error.
    fn fields(
        &mut self,
        target: &mut dyn Struct,
        entries: &Entries<String, Tree>,
        path: &Path<'_>,
    ) -> Result<(), String> {
        let facts = target.facts();
        if facts.type_meta.is_some() {
            // An object is of its type whatever the document says, as long as it says it in text.
            for name in ["kind", "apiVersion"] {
                entries
                    .get(name)
                    .filter(|name| !name.is_null())
                    .map_or(Ok(""), expect_str)?;
            }
        }
        for (index, field) in facts.fields.iter().enumerate() {
            let value = target.field_mut(index);
            if !field.inline {
                let entry = entries.get(field.name).unwrap_or(&Tree::Null);
                self.value(value, entry, &path.field(facts, field.name))?;
            } else if let Slot::Struct(inner) = value.slot() {
                self.fields(inner, entries, path)?;
            }
        }
        Ok(())
    }
}

/// True if a struct has a field of this name.
fn has_field(facts: &StructFacts, name: &str) -> bool {
    let of_type = facts.type_meta.is_some() && matches!(name, "kind" | "apiVersion");
    of_type || facts.field_named(name).is_some()
}

fn expect_str(tree: &Tree) -> Result<&str, String> {
    match tree {
        Tree::String(text) => Ok(text),
        // Go could make a character of an integer, so this is refused in other words.
        Tree::Number(number) if number.is_i64() => Err("cannot convert int64 to string".to_owned()),
        _ => Err("unrecognized type: string".to_owned()),
    }
}

fn bytes(tree: &Tree) -> Result<Vec<u8>, String> {
    match tree {
        Tree::String(text) => go_base64::decode(text).map_err(|error| format!("error decoding from json: {error}")),
        Tree::Array(elements) => elements.iter().map(number::byte).collect(),
        other => Err(format!("cannot restore slice from {}", kind(other))),
    }
}

/// Reads a leaf, which decodes JSON itself and does not know its path.
fn leaf(target: &mut dyn Scalar, tree: &Tree) -> Result<(), String> {
    let mut text = Vec::new();
    json::encode_value(tree, &mut text);
    json::decode_leaf(&text, target).map_err(|error| error.to_string())
}

/// Returns the name of the Go type that represents a value.
fn kind(tree: &Tree) -> &'static str {
    match tree {
        Tree::Null => "invalid",
        Tree::Bool(_) => "bool",
        Tree::Number(number) if number.is_i64() => "int64",
        Tree::Number(_) => "float64",
        Tree::String(_) => "string",
        Tree::Array(_) => "slice",
        Tree::Object(_) => "map",
    }
}

#[cfg(test)]
mod tests;
