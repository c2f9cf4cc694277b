//! Structs out of schemas.

use serde_json::Value;

use super::draft::{FieldDraft, StructDraft, listed, literal, sentence, upper};

/// Turns schemas into structs; nested ones are collected.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    pub(super) structs: Vec<StructDraft>,
}

impl Schemas {
    /// Adds the struct of an object schema.
    pub(super) fn structure(&mut self, name: &str, schema: &Value, resource: Option<Vec<String>>) {
        let at = self.structs.len();
        self.structs.push(StructDraft {
            name: name.to_owned(),
            ..StructDraft::default()
        });
        let is_kind = resource.is_some();
        let required: Vec<&str> = texts(&schema["required"]).collect();
        let mut fields = Vec::new();
        for (json, property) in schema["properties"].as_object().into_iter().flatten() {
            match json.as_str() {
                "apiVersion" | "kind" if is_kind => {}
                "metadata" if is_kind => fields.insert(
                    0,
                    FieldDraft {
                        name: "metadata".to_owned(),
                        ty: "ObjectMeta".to_owned(),
                        doc: "Standard metadata.".to_owned(),
                        keys: Vec::new(),
                    },
                ),
                json => fields.push(self.field(name, json, property, required.contains(&json))),
            }
        }
        let doc = schema["description"]
            .as_str()
            .map_or_else(|| sentence(name), str::to_owned);
        let atomic = schema["x-kubernetes-map-type"] == "atomic";
        self.structs[at] = StructDraft {
            name: name.to_owned(),
            doc,
            resource,
            schema: atomic.then(|| "atomic".to_owned()).into_iter().collect(),
            fields,
        };
    }

    fn field(&mut self, owner: &str, json: &str, schema: &Value, required: bool) -> FieldDraft {
        let ty = self.ty(&format!("{owner}{}", upper(json)), schema);
        let plain = matches!(
            ty.as_str(),
            "String" | "Time" | "MicroTime" | "ByteString" | "AnyJson" | "RawExtension"
        );
        let collection = ty.starts_with("Vec<") || ty.starts_with("BTreeMap<");
        let ty = match required || plain || collection {
            true => ty,
            false => format!("Option<{ty}>"),
        };
        FieldDraft {
            name: json.to_owned(),
            keys: keys(schema, &ty, required),
            ty,
            doc: schema["description"]
                .as_str()
                .map_or_else(|| sentence(json), str::to_owned),
        }
    }

    /// A name that no struct has yet: the elements of `sources` are called as a field `source` is.
    fn free(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.structs.iter().any(|known| known.name == name) {
            name.push_str("Item");
        }
        name
    }

    fn ty(&mut self, name: &str, schema: &Value) -> String {
        let reference = schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str());
        if let Some(reference) = reference {
            return referred(reference);
        }
        if schema["x-kubernetes-int-or-string"] == true {
            return "IntOrString".to_owned();
        }
        let has_fields = schema["properties"]
            .as_object()
            .is_some_and(|fields| !fields.is_empty());
        match schema["type"].as_str().unwrap_or_default() {
            "boolean" => "bool".to_owned(),
            "integer" if schema["format"] == "int32" => "i32".to_owned(),
            "integer" => "i64".to_owned(),
            "number" => "f64".to_owned(),
            "string" => match schema["format"].as_str() {
                Some("date-time") => "Time".to_owned(),
                Some("byte") => "ByteString".to_owned(),
                _ => "String".to_owned(),
            },
            "array" => format!("Vec<{}>", self.ty(&singular(name), &schema["items"])),
            "object" if has_fields => {
                let name = self.free(name);
                self.structure(&name, schema, None);
                name
            }
            "object" if schema["additionalProperties"].is_object() => {
                let value = self.ty(&singular(name), &schema["additionalProperties"]);
                format!("BTreeMap<String, {value}>")
            }
            "object" => "RawExtension".to_owned(),
            _ => "AnyJson".to_owned(),
        }
    }
}

/// What a reference to a definition is in Rust.
fn referred(reference: &str) -> String {
    match reference.rsplit(['.', '/']).next().unwrap_or_default() {
        "JSON" => "AnyJson".to_owned(),
        "Fields" => "FieldsV1".to_owned(),
        name => name.to_owned(),
    }
}

/// The name of an element of a list.
fn singular(name: &str) -> String {
    if let Some(stem) = name.strip_suffix("ies") {
        return format!("{stem}y");
    }
    match name.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') && stem.len() > 2 => stem.to_owned(),
        _ => format!("{name}Item"),
    }
}

/// The keys that a schema has.
fn keys(schema: &Value, ty: &str, required: bool) -> Vec<String> {
    let mut keys = Vec::new();
    if required {
        keys.push("keep".to_owned());
    }
    match &schema["default"] {
        Value::Null => {}
        Value::String(text) if text.is_empty() => {}
        Value::Object(members) if members.is_empty() => {}
        value @ (Value::Object(_) | Value::Array(_)) => {
            keys.push(format!("default = json({})", literal(&value.to_string())));
        }
        value if !required => keys.push(format!("default = {value}")),
        _ => {}
    }
    let is_text = ty == "String" || ty == "Option<String>";
    let choices: Vec<String> = texts(&schema["enum"]).map(str::to_owned).collect();
    if is_text && !choices.is_empty() {
        keys.push(listed("one_of", &choices));
    }
    let numbers = matches!(
        ty.trim_start_matches("Option<").trim_end_matches('>'),
        "i32" | "i64" | "f64"
    );
    for (word, key, fits) in [
        ("minimum", "minimum", numbers),
        ("maximum", "maximum", numbers),
        ("minLength", "min_length", is_text),
        ("maxLength", "max_length", is_text),
        ("minItems", "min_length", ty.starts_with("Vec<")),
        ("maxItems", "max_length", ty.starts_with("Vec<")),
        ("minProperties", "min_length", ty.starts_with("BTreeMap<")),
        ("maxProperties", "max_length", ty.starts_with("BTreeMap<")),
    ] {
        if let Some(number) = schema[word].as_i64().filter(|_| fits) {
            keys.push(format!("{key} = {number}"));
        }
    }
    if let Some(pattern) = schema["pattern"].as_str().filter(|_| is_text) {
        keys.push(format!("pattern = {}", literal(pattern)));
    }
    let list_keys: Vec<String> = texts(&schema["x-kubernetes-list-map-keys"])
        .map(str::to_owned)
        .collect();
    if let Some(list) = schema["x-kubernetes-list-type"].as_str() {
        keys.push(format!("list_type = {list}"));
        if !list_keys.is_empty() {
            keys.push(listed("list_map_keys", &list_keys));
        }
    }
    if schema["x-kubernetes-map-type"] == "atomic" && ty.starts_with("BTreeMap<") {
        keys.push("atomic".to_owned());
    }
    if let Some(strategy) = schema["x-kubernetes-patch-strategy"].as_str() {
        keys.push(format!(
            "patch_strategy({})",
            strategy.replace("retainKeys", "retain_keys").replace(',', ", ")
        ));
    }
    if let Some(key) = schema["x-kubernetes-patch-merge-key"].as_str() {
        keys.push(format!("patch_merge_key = {}", literal(key)));
    }
    keys
}

/// The texts of a list.
pub(super) fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
