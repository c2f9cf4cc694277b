//! Drafts from custom resource definitions.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::column::{columns, leads, type_at};
use super::draft::{Draft, listed, literal};
use super::schema::{Origin, Schemas, Words, texts};

/// Returns a draft for each version.
pub(super) fn drafts(definition: &Value) -> Result<Vec<Draft>> {
    let spec = &definition["spec"];
    spec["group"].as_str().context("spec.group is missing")?;
    spec["names"]["kind"].as_str().context("spec.names.kind is missing")?;
    let versions = spec["versions"].as_array().context("spec.versions is missing")?;
    let draft = |(index, version): (usize, &Value)| {
        let place = || format!("spec.versions[{index}]");
        let name = version["name"]
            .as_str()
            .with_context(|| format!("{}.name is missing", place()))?;
        let schema = &version["schema"]["openAPIV3Schema"];
        if !schema.is_object() {
            bail!("{}.schema.openAPIV3Schema is missing", place());
        }
        let kind = Kind::read(spec, version, schema);
        let mut marks = kind.marks;
        if version["storage"] == true {
            marks.extend(own_metadata(&definition["metadata"]));
        }
        let mut schemas = Schemas::new(Origin::Definition);
        schemas.kind(kind.name, schema, kind.keys, marks);
        Ok(Draft {
            group: kind.group.to_owned(),
            version: name.to_owned(),
            structs: schemas.structs,
        })
    };
    versions.iter().enumerate().map(draft).collect()
}

/// Annotations about the tool that generated a definition.
pub(super) const OF_TOOLS: [&str; 2] = [
    "controller-gen.kubebuilder.io/version",
    "kubectl.kubernetes.io/last-applied-configuration",
];

/// Returns marks for the metadata of a definition, which generated definitions do not have.
fn own_metadata(metadata: &Value) -> Vec<String> {
    let entries = |word: &'static str| {
        let entries = metadata[word].as_object().into_iter().flatten();
        let entries = entries.filter(|(key, _)| !OF_TOOLS.contains(&key.as_str()));
        entries.map(move |(key, value)| {
            let value = value.as_str().unwrap_or_default();
            format!("{word} of the definition: {key}: {value:?}; what is generated has none")
        })
    };
    entries("annotations").chain(entries("labels")).collect()
}

/// The content of a definition besides the schema.
struct Kind<'d> {
    group: &'d str,
    name: &'d str,
    version: &'d str,
    schema: &'d Value,
    /// The keys of `#[resource(...)]`.
    keys: Vec<String>,
    /// Marks for content without a key.
    marks: Vec<String>,
}

impl<'d> Kind<'d> {
    fn read(spec: &'d Value, version: &'d Value, schema: &'d Value) -> Self {
        let (mut spec, mut version) = (Words::from_object(spec), Words::from_object(version));
        let text = |value: &'d Value| value.as_str().unwrap_or_default();
        version.take("schema");
        let mut kind = Kind {
            group: text(spec.take("group")),
            name: text(&spec.peek("names")["kind"]),
            version: text(version.take("name")),
            schema,
            keys: Vec::new(),
            marks: Vec::new(),
        };
        kind.keys.push(format!("group = {}", literal(kind.group)));
        kind.keys.push(format!("version = {}", literal(kind.version)));
        kind.names(spec.take("names"));
        if spec.take("scope") == "Cluster" {
            kind.keys.push("cluster".to_owned());
        }
        let versions = spec.take("versions").as_array();
        let stored = versions
            .into_iter()
            .flatten()
            .find(|version| version["storage"] == true)
            .map_or("", |version| text(&version["name"]));
        let is_stored = version.take("storage") == true;
        if !is_stored {
            let name = kind.name;
            kind.keys
                .push(format!("storage_version = super::super::{stored}::{name}"));
        }
        kind.conversion(spec.take("conversion"), is_stored);
        kind.serving(&mut version);
        kind.subresources(version.take("subresources"));
        kind.selectable(version.take("selectableFields"));
        kind.keys.push("generation".to_owned());
        let (keys, marks) = columns(version.take("additionalPrinterColumns"), schema);
        kind.keys.extend(keys);
        kind.marks.extend(marks);
        kind.marks.extend(spec.marks());
        kind.marks.extend(version.marks());
        kind
    }

    fn names(&mut self, names: &Value) {
        for (word, key) in [("plural", "plural"), ("singular", "singular"), ("listKind", "list")] {
            if let Some(value) = names[word].as_str() {
                self.keys.push(format!("{key} = {}", literal(value)));
            }
        }
        for (word, key) in [("shortNames", "short"), ("categories", "categories")] {
            let listed_names: Vec<String> = texts(&names[word]).map(str::to_owned).collect();
            if !listed_names.is_empty() {
                self.keys.push(listed(key, &listed_names));
            }
        }
    }

    /// Marks conversion webhooks: fields of the same name are copied between versions, other conversions need functions.
    fn conversion(&mut self, conversion: &Value, is_stored: bool) {
        if conversion["strategy"] == "Webhook" && !is_stored {
            self.marks.push(
                "conversion by a webhook: fields of one name are copied; for the rest add `convert` to `#[resource(...)]` \
                 and write `impl Convert`"
                    .to_owned(),
            );
        }
    }

    fn serving(&mut self, version: &mut Words<'_>) {
        if version.take("served") == false {
            self.keys.push("unserved".to_owned());
        }
        let warning = version.take("deprecationWarning");
        if version.take("deprecated") == true {
            let usual = format!("{}/{} {} is deprecated", self.group, self.version, self.name);
            let warning = warning.as_str().unwrap_or(&usual);
            self.keys.push(format!("deprecated = {}", literal(warning)));
        }
    }

    fn subresources(&mut self, subresources: &Value) {
        let mut words = Words::from_object(subresources);
        let status = words.take("status");
        if status.is_object() {
            match self.schema["properties"]["status"].is_object() {
                true => self.keys.push("status".to_owned()),
                false => self.marks.push(
                    "a status subresource, but no field status: add both, the field and `status` in `#[resource(...)]`"
                        .to_owned(),
                ),
            }
        }
        let scale = words.take("scale");
        if scale.is_object() {
            match self.scale(scale) {
                Some(key) => self.keys.push(key),
                None => self.marks.push(format!(
                    "scale `{scale}`: a path leads to no field of the schema, or to one of another type"
                )),
            }
        }
        self.marks.extend(words.marks());
    }

    fn scale(&self, scale: &Value) -> Option<String> {
        let mut paths = Vec::new();
        for (word, key, default, ty) in [
            ("specReplicasPath", "spec", json!(""), "integer"),
            ("statusReplicasPath", "status", json!(""), "integer"),
            ("labelSelectorPath", "selector", Value::Null, "string"),
        ] {
            let path = scale.get(word).unwrap_or(&default);
            if let Some(path) = path.as_str() {
                let is_typed = |path: &&str| type_at(self.schema, path).is_none_or(|found| found == ty);
                let path = path.strip_prefix('.').filter(|path| leads(self.schema, path));
                let path = path.filter(is_typed)?;
                paths.push(format!("{key} = {}", literal(path)));
            }
        }
        Some(format!("scale({})", paths.join(", ")))
    }

    fn selectable(&mut self, fields: &Value) {
        let mut paths = Vec::new();
        for field in fields.as_array().into_iter().flatten() {
            let path = field["jsonPath"].as_str().and_then(|path| path.strip_prefix('.'));
            match path.filter(|path| leads(self.schema, path)) {
                Some(path) => paths.push(path.to_owned()),
                None => self.marks.push(format!(
                    "selectable field `{field}`: its path leads to no field of the schema"
                )),
            }
        }
        if !paths.is_empty() {
            self.keys.push(listed("selectable", &paths));
        }
    }
}
