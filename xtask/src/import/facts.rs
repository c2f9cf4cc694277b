//! Drafts from facts about Go types: fields with JSON names, protobuf tags, omission and markers, and no prose.

use anyhow::{Context, Result};
use serde_json::Value;

use super::draft::{Draft, FieldDraft, StructDraft, listed, literal, sentence};
use super::schema::texts;

/// String types of other packages.
const TEXTS: [&str; 11] = [
    "ConditionStatus",
    "MountPropagationMode",
    "NodeName",
    "PersistentVolumeAccessMode",
    "PersistentVolumeMode",
    "PersistentVolumeReclaimPolicy",
    "PreemptionPolicy",
    "Protocol",
    "ResourceName",
    "TaintEffect",
    "UID",
];

/// Markers with an equivalent in a draft, and those that concern only Go code.
const UNDERSTOOD: &[&str] = &[
    "enum",
    "genclient",
    "genclient:nonNamespaced",
    "conversion-gen",
    "deepcopy-gen",
    "listMapKey",
    "listType",
    "mapType",
    "openapi-gen",
    "openapi-model-package",
    "patchMergeKey",
    "patchStrategy",
    "prerelease-lifecycle-gen",
    "protobuf",
    "structType",
    "union",
    "unionDiscriminator",
];

/// Returns marks for markers without an equivalent.
fn unsaid(markers: &Value) -> Vec<String> {
    let is_understood = |marker: &&str| {
        let plain = without_plus(marker);
        let word = plain.split(['=', '(']).next().unwrap_or_default();
        let is_below = |known: &str| {
            let rest = word.strip_prefix(known);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '.']))
        };
        match word.split(':').next().unwrap_or_default() {
            // Markers below `genclient` declare the operations of clients.
            "genclient" => UNDERSTOOD.contains(&word),
            "default" => is_plain_default(marker),
            "optional" | "required" => true,
            // A line of a drawing in a comment.
            text if !text.starts_with(|first: char| first.is_ascii_alphabetic()) => true,
            _ => is_said_plainly(marker, markers) && UNDERSTOOD.iter().any(|known| is_below(known)),
        }
    };
    let unsaid = texts(markers).filter(|marker| marker.starts_with('+') && !is_understood(marker));
    unsaid.map(|marker| format!("marker {marker}")).collect()
}

/// Returns a marker without the prefixes of Go's validation generators: `+k8s:alpha(since: "1.36")=+k8s:maxItems=4`.
fn without_plus(marker: &str) -> &str {
    let inner = marker
        .strip_prefix("+k8s:alpha(")
        .and_then(|rest| rest.split_once(")=").map(|(_, inner)| inner));
    let marker = inner.unwrap_or(marker).trim_start_matches('+');
    marker.strip_prefix("k8s:").unwrap_or(marker)
}

/// True if `markers` contain the same marker in the form that drafts read.
fn is_said_plainly(marker: &str, markers: &Value) -> bool {
    let is_about_go = |word: &str| word.contains("-gen") || word.starts_with("openapi");
    let plain = without_plus(marker);
    is_about_go(plain) || texts(markers).any(|known| known.strip_prefix('+') == Some(plain))
}

/// True if the default is a string, a number or a boolean.
fn is_plain_default(marker: &str) -> bool {
    let value = marker
        .split_once('=')
        .and_then(|(_, json)| serde_json::from_str::<Value>(json).ok());
    value.is_some_and(|value| !value.is_object() && !value.is_array())
}

/// Returns the draft of a package.
pub(super) fn draft(document: &Value) -> Result<Draft> {
    let package = Package {
        types: &document["types"],
    };
    let group = document["group"]
        .as_str()
        .context("group is missing; it is empty for the core group")?;
    let version = document["version"].as_str().context("version is missing")?;
    let types = document["types"].as_object().into_iter().flatten();
    let structs = types
        .filter(|(name, ty)| ty["kind"] == "struct" && !is_list(name, ty))
        .map(|(name, ty)| package.structure(group, version, name, ty));
    Ok(Draft {
        group: group.to_owned(),
        version: version.to_owned(),
        structs: structs.collect(),
    })
}

/// True for list types, which are derived from their kinds.
fn is_list(name: &str, ty: &Value) -> bool {
    let mut fields = ty["fields"].as_array().into_iter().flatten();
    name.ends_with("List") && fields.any(|field| field["json"] == "items")
}

struct Package<'a> {
    types: &'a Value,
}

impl Package<'_> {
    fn structure(&self, group: &str, version: &str, name: &str, ty: &Value) -> StructDraft {
        let fields: Vec<&Value> = ty["fields"].as_array().into_iter().flatten().collect();
        let is_type_meta = |field: &&Value| field["inline"] == true && str_of(field, "type").ends_with("TypeMeta");
        let has = |json: &str| fields.iter().any(|field| field["json"] == json);
        let is_kind = fields.iter().any(is_type_meta);
        let marked = |marker: &str| texts(&ty["markers"]).any(|known| known == marker);
        let api_version = match group {
            "" => version.to_owned(),
            group => format!("{group}/{version}"),
        };
        let resource = (is_kind && has("metadata")).then(|| {
            let mut keys = vec![
                format!("group = {}", literal(group)),
                format!("version = {}", literal(version)),
            ];
            if marked("+genclient:nonNamespaced") {
                keys.push("cluster".to_owned());
            }
            if has("status") {
                keys.push("status".to_owned());
            }
            keys
        });
        let mut schema = Vec::new();
        if is_kind && resource.is_none() {
            schema.push(listed("type_meta", &[api_version, name.to_owned()]));
        }
        for (marker, key) in [("+structType=atomic", "atomic"), ("+union", "union")] {
            if marked(marker) {
                schema.push(key.to_owned());
            }
        }
        let drafted = fields
            .iter()
            .filter(|field| !is_type_meta(field))
            .filter(|field| field["json"] != "-");
        StructDraft {
            name: name.to_owned(),
            doc: sentence(name),
            resource,
            schema,
            fields: drafted.map(|field| self.field(field)).collect(),
            marks: unsaid(&ty["markers"]),
        }
    }

    fn field(&self, field: &Value) -> FieldDraft {
        let markers = || texts(&field["markers"]);
        let marked = |marker: &str| markers().any(|known| known == marker);
        let values = |key: &str| -> Vec<String> {
            markers()
                .filter_map(|marker| marker.strip_prefix(key).map(str::to_owned))
                .collect()
        };
        let mut keys = Vec::new();
        let inline = field["inline"] == true;
        if inline {
            keys.push("inline".to_owned());
        }
        if let Some(number) = str_of(field, "proto").split(',').nth(1) {
            keys.push(format!("proto = {number}"));
        }
        match str_of(field, "omit") {
            _ if inline => {}
            "" => {
                keys.push("keep".to_owned());
                keys.extend(marked("+optional").then(|| "optional".to_owned()));
            }
            omit => {
                keys.extend((omit == "omitzero").then(|| "omit_zero".to_owned()));
                keys.extend(marked("+required").then(|| "expected".to_owned()));
            }
        }
        let default = markers().find(|marker| marker.starts_with("+default=") && is_plain_default(marker));
        if let Some((_, default)) = default.and_then(|marker| marker.split_once('=')) {
            keys.push(format!("default = {default}"));
        }
        if let Some(list) = values("+listType=").first() {
            keys.push(format!("list_type = {list}"));
        }
        let list_keys = values("+listMapKey=");
        if !list_keys.is_empty() {
            keys.push(listed("list_map_keys", &list_keys));
        }
        if marked("+mapType=atomic") || marked("+structType=atomic") {
            keys.push("atomic".to_owned());
        }
        if !str_of(field, "patchStrategy").is_empty() {
            let words = str_of(field, "patchStrategy")
                .replace("retainKeys", "retain_keys")
                .replace(',', ", ");
            keys.push(format!("patch_strategy({words})"));
        }
        if !str_of(field, "patchMergeKey").is_empty() {
            keys.push(format!("patch_merge_key = {}", literal(str_of(field, "patchMergeKey"))));
        }
        keys.extend(marked("+unionDiscriminator").then(|| "discriminator".to_owned()));
        let known = self.choices(str_of(field, "type"));
        if !known.is_empty() {
            keys.push(listed("known", &known));
        }
        let name = str_of(field, "json");
        FieldDraft {
            name: name.to_owned(),
            ty: self.ty(str_of(field, "type")),
            doc: sentence(if name.is_empty() { str_of(field, "go") } else { name }),
            keys,
            marks: unsaid(&field["markers"]),
        }
    }

    /// Returns the Rust type of a Go type.
    fn ty(&self, go: &str) -> String {
        if let Some(inner) = go.strip_prefix('*') {
            return format!("Option<{}>", self.ty(inner));
        }
        if go == "[]byte" {
            return "ByteString".to_owned();
        }
        if let Some(inner) = go.strip_prefix("[]") {
            return format!("Vec<{}>", self.ty(inner));
        }
        if let Some((_, value)) = go.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            return format!("BTreeMap<String, {}>", self.ty(value));
        }
        let name = go.rsplit('.').next().unwrap_or(go);
        match name {
            name if name == "string" || TEXTS.contains(&name) => "String".to_owned(),
            "ResourceList" => "BTreeMap<String, Quantity>".to_owned(),
            "int32" | "int" => "i32".to_owned(),
            "int64" => "i64".to_owned(),
            "float64" => "f64".to_owned(),
            "JSON" => "AnyJson".to_owned(),
            _ => match self.types[name]["of"].as_str() {
                Some(of) if self.types[name]["kind"] == "alias" && of != name => self.ty(of),
                _ => name.to_owned(),
            },
        }
    }

    /// Returns the values of an enumeration.
    fn choices(&self, go: &str) -> Vec<String> {
        let name = go.trim_start_matches(['*', '[', ']']);
        let ty = &self.types[name];
        let is_enum = texts(&ty["markers"]).any(|marker| marker == "+enum");
        let values = ty["values"].as_array().filter(|_| is_enum);
        values
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }
}

fn str_of<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}
