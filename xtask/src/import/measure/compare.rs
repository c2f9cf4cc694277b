//! Compares definitions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::import::crd::OF_TOOLS;
use crate::import::draft::{Draft, StructDraft};

/// Returns content of `definition` that `generated` lacks, unless the drafts have a mark for it.
pub(super) fn definitions(definition: &Value, generated: &Value, drafts: &[Draft]) -> Vec<String> {
    let (said, generated) = (&definition["spec"], &generated["spec"]);
    let mut lost = Vec::new();
    for word in ["group", "names", "scope"] {
        if said[word] != generated[word] {
            lost.push(format!("{word}: {} became {}", said[word], generated[word]));
        }
    }
    for version in said["versions"].as_array().into_iter().flatten() {
        let name = text_of(&version["name"]);
        let others = generated["versions"].as_array().into_iter().flatten();
        let other = others
            .clone()
            .find(|other| other["name"] == version["name"])
            .unwrap_or(&Value::Null);
        let draft = drafts
            .iter()
            .find(|draft| draft.version == name && draft.group == text_of(&said["group"]));
        let Some(draft) = draft else {
            lost.push(format!("{name}: there is no draft"));
            continue;
        };
        let drafted = Drafted::from_draft(draft, text_of(&said["names"]["kind"]));
        if version["storage"] == true {
            let kept = |key: &str| {
                drafted
                    .marks
                    .get("")
                    .is_some_and(|marks| marks.iter().any(|mark| mark.contains(key)))
            };
            for word in ["annotations", "labels"] {
                let keys = definition["metadata"][word].as_object().into_iter().flat_map(Map::keys);
                let unsaid = keys.filter(|key| !OF_TOOLS.contains(&key.as_str()) && !kept(key));
                lost.extend(unsaid.map(|key| format!("metadata.{word} {key}")));
            }
        }
        let mut compare = Compare {
            drafted,
            lost: Vec::new(),
        };
        compare.version(version, other);
        lost.extend(compare.lost.into_iter().map(|what| format!("{name} {what}")));
    }
    lost
}

/// Returns a string; empty for other values.
pub(super) fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The drafted content by field path; the path of the kind itself is empty.
#[derive(Default)]
struct Drafted {
    marks: BTreeMap<String, Vec<String>>,
    /// Fields whose absence is refused.
    required: BTreeSet<String>,
}

impl Drafted {
    fn from_draft(draft: &Draft, kind: &str) -> Self {
        let structs: BTreeMap<&str, &StructDraft> =
            draft.structs.iter().map(|item| (item.name.as_str(), item)).collect();
        let mut drafted = Self::default();
        drafted.take(&structs, kind, "");
        drafted
    }

    fn take(&mut self, structs: &BTreeMap<&str, &StructDraft>, name: &str, path: &str) {
        let Some(item) = structs.get(name) else { return };
        self.marks
            .entry(path.to_owned())
            .or_default()
            .extend(item.marks.iter().cloned());
        for field in &item.fields {
            let path = format!("{path}.{}", field.name);
            self.marks
                .entry(path.clone())
                .or_default()
                .extend(field.marks.iter().cloned());
            if field
                .keys
                .iter()
                .any(|key| matches!(key.as_str(), "required" | "expected"))
            {
                self.required.insert(path.clone());
            }
            for name in field.ty.split(['<', '>', ' ', ',']) {
                self.take(structs, name, &path);
            }
        }
    }

    /// True if there is a mark about `what` at the field that contains `path`.
    fn has(&self, path: &str, what: &str) -> bool {
        self.marks
            .get(&field_of(path))
            .is_some_and(|marks| marks.iter().any(|mark| mark.contains(what)))
    }
}

/// Returns the field path of a path that descends into lists and maps.
fn field_of(path: &str) -> String {
    path.replace("[]", "").replace("{}", "")
}

struct Compare {
    drafted: Drafted,
    lost: Vec<String>,
}

impl Compare {
    fn differ(&mut self, path: &str, word: &str, what: &str, said: &Value, generated: &Value) {
        if said != generated && !self.drafted.has(path, what) {
            self.lost.push(format!("{path} {word}: {said} became {generated}"));
        }
    }

    fn version(&mut self, said: &Value, generated: &Value) {
        for word in ["served", "storage", "deprecated", "deprecationWarning", "subresources"] {
            // A generated default warning is not a difference, and an absent subresources field equals an empty one.
            let is_usual = word == "deprecationWarning" && said[word].is_null();
            let is_none = said[word] == json!({}) && generated[word].is_null();
            if !is_usual && !is_none {
                self.differ("", word, word, &said[word], &generated[word]);
            }
        }
        for word in ["additionalPrinterColumns", "selectableFields"] {
            let others: Vec<&Value> = generated[word].as_array().into_iter().flatten().collect();
            for item in said[word].as_array().into_iter().flatten() {
                if !others.contains(&item) {
                    self.differ("", word, &item.to_string(), item, &Value::Null);
                }
            }
        }
        let (said, generated) = (
            &said["schema"]["openAPIV3Schema"],
            &generated["schema"]["openAPIV3Schema"],
        );
        self.schema("", &normal(said), &normal(generated));
    }

    fn schema(&mut self, path: &str, said: &Map<String, Value>, generated: &Map<String, Value>) {
        let words: BTreeSet<&String> = said.keys().chain(generated.keys()).collect();
        for word in words {
            let (here, there) = (
                said.get(word).unwrap_or(&Value::Null),
                generated.get(word).unwrap_or(&Value::Null),
            );
            match word.as_str() {
                "required" => {
                    self.differ(path, word, word, here, there);
                    self.required(path, here);
                }
                "properties" => self.properties(path, here, there),
                "items" => self.schema(&format!("{path}[]"), &normal(here), &normal(there)),
                "additionalProperties" if here.is_object() && there.is_object() => {
                    self.schema(&format!("{path}{{}}"), &normal(here), &normal(there));
                }
                "x-kubernetes-validations" => {
                    for rule in here.as_array().into_iter().flatten() {
                        let is_kept = there.as_array().is_some_and(|rules| rules.contains(rule));
                        let text = text_of(&rule["rule"]).split_whitespace().collect::<Vec<_>>().join(" ");
                        if !is_kept && !self.drafted.has(path, &text) {
                            self.lost.push(format!("{path} rule {text}"));
                        }
                    }
                }
                word => self.differ(path, word, word, here, there),
            }
        }
    }

    /// Checks that required fields are required in the drafts, too.
    fn required(&mut self, path: &str, names: &Value) {
        for name in names.as_array().into_iter().flatten().map(text_of) {
            if !self.drafted.required.contains(&format!("{}.{name}", field_of(path))) {
                self.lost.push(format!("{path}.{name} is not missed"));
            }
        }
    }

    fn properties(&mut self, path: &str, said: &Value, generated: &Value) {
        let names = |schema: &Value| -> BTreeSet<String> {
            schema
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name.clone())
                .collect()
        };
        for name in names(said).union(&names(generated)) {
            let below = format!("{path}.{name}");
            match (path, name.as_str()) {
                ("", "apiVersion" | "kind") => {}
                ("", "metadata") => {
                    for (word, value) in said[name].as_object().into_iter().flatten() {
                        if !matches!(word.as_str(), "type" | "description") {
                            self.differ(&below, word, word, value, &Value::Null);
                        }
                    }
                }
                _ => self.schema(&below, &normal(&said[name]), &normal(&generated[name])),
            }
        }
    }
}

/// Normalizes a schema: removes keywords without effect, and unifies equivalent spellings.
fn normal(schema: &Value) -> Map<String, Value> {
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.remove("description");
    schema.retain(|word, value| word == "default" || !matches!(value, Value::Bool(false) | Value::Null));
    for (ty, format) in [("integer", "int64"), ("number", "double")] {
        if schema.get("type") == Some(&json!(ty)) {
            schema.entry("format").or_insert(json!(format));
        }
    }
    for word in ["enum", "required"] {
        if let Some(Value::Array(list)) = schema.get_mut(word) {
            list.retain(|item| word == "enum" || !["apiVersion", "kind", "metadata"].contains(&text_of(item)));
            list.sort_by_key(Value::to_string);
        }
    }
    schema.retain(|word, value| match word.as_str() {
        "required" | "properties" => value.as_array().is_none_or(|list| !list.is_empty()),
        "minLength" | "minItems" | "minProperties" => *value != json!(0),
        "x-kubernetes-map-type" => *value != json!("granular"),
        _ => true,
    });
    for word in ["minimum", "maximum"] {
        if let Some(number) = schema.get(word).and_then(Value::as_f64) {
            schema.insert(word.to_owned(), json!(number));
        }
    }
    schema
}
