//! Converts schemas to structs.

mod bounds;
mod presence;
mod words;

use serde_json::{Value, json};

use self::bounds::Bounds;
use self::presence::Presence;
pub(super) use self::words::Words;
use super::draft::{FieldDraft, StructDraft, listed, literal, sentence, upper};
use crate::generate::QUANTITY;

/// The source of schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Origin {
    /// A custom resource definition: required fields must be present, but can be empty.
    #[default]
    Definition,
    /// An OpenAPI document generated from Go types: a default equal to Go's zero value means that a field is always written.
    Document,
}

/// Converts schemas to structs, including nested ones.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    pub(super) structs: Vec<StructDraft>,
    pub(super) origin: Origin,
    /// The number of lists and maps around the current position.
    lists_around: usize,
}

/// The Rust equivalent of a schema.
#[derive(Debug, Default)]
struct Part {
    ty: String,
    bounds: Bounds,
    /// Marks for content that the type and the bounds do not express.
    marks: Vec<String>,
}

impl Part {
    fn new(ty: &str, bounds: Bounds) -> Self {
        Self {
            ty: ty.to_owned(),
            bounds,
            marks: Vec::new(),
        }
    }
}

impl Schemas {
    /// Creates an empty collection for schemas from `origin`.
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            ..Self::default()
        }
    }

    /// Adds the struct of a kind, with further marks.
    pub(super) fn kind(&mut self, name: &str, schema: &Value, resource: Vec<String>, marks: Vec<String>) {
        let mut words = Words::from_object(schema);
        words.take("type");
        words.take("x-kubernetes-group-version-kind");
        let at = self.structs.len();
        self.structure(name, &mut words, true);
        let kind = &mut self.structs[at];
        kind.resource = Some(resource);
        kind.marks.extend(marks);
        kind.marks.extend(words.marks());
    }

    /// Adds the struct of an object schema that is not a kind.
    pub(super) fn plain(&mut self, name: &str, schema: &Value) {
        let mut words = Words::from_object(schema);
        words.take("type");
        words.take("x-kubernetes-group-version-kind");
        let at = self.structs.len();
        self.structure(name, &mut words, false);
        self.structs[at].marks.extend(words.marks());
    }

    /// Adds a struct, consuming its keywords.
    fn structure(&mut self, name: &str, words: &mut Words<'_>, is_kind: bool) {
        let at = self.structs.len();
        self.structs.push(StructDraft {
            name: name.to_owned(),
            ..StructDraft::default()
        });
        let required: Vec<&str> = texts(words.take("required")).collect();
        let properties = words.take("properties");
        let (mut fields, mut marks) = (Vec::new(), Vec::new());
        for (json, property) in properties.as_object().into_iter().flatten() {
            match json.as_str() {
                "apiVersion" | "kind" if is_kind => marks.extend(about(json, &standard(property))),
                "metadata" if is_kind => fields.insert(
                    0,
                    FieldDraft {
                        name: "metadata".to_owned(),
                        ty: "ObjectMeta".to_owned(),
                        doc: "Standard metadata.".to_owned(),
                        marks: standard(property),
                        ..FieldDraft::default()
                    },
                ),
                json => fields.push(self.field(name, json, property, required.contains(&json))),
            }
        }
        if is_kind && !fields.iter().any(|field| field.name == "metadata") {
            let metadata = FieldDraft {
                name: "metadata".to_owned(),
                ty: "ObjectMeta".to_owned(),
                doc: "Standard metadata.".to_owned(),
                ..FieldDraft::default()
            };
            fields.insert(0, metadata);
        }
        for missing in required.iter().filter(|name| properties[**name].is_null()) {
            if !is_kind || !["apiVersion", "kind", "metadata"].contains(missing) {
                marks.push(format!("required \"{missing}\", which is no field"));
            }
        }
        let mut keys = Vec::new();
        if words.take("x-kubernetes-map-type") == "atomic" {
            keys.push("atomic".to_owned());
        }
        if let Some(discriminator) = words.take_as("x-kubernetes-unions", |union| discriminator(union, &fields)) {
            keys.push("union".to_owned());
            if let Some(field) = fields.iter_mut().find(|field| field.name == discriminator) {
                field.keys.push("discriminator".to_owned());
            }
        }
        self.structs[at] = StructDraft {
            name: name.to_owned(),
            doc: description(words).unwrap_or_else(|| sentence(name)),
            schema: keys,
            fields,
            marks,
            ..StructDraft::default()
        };
    }

    fn field(&mut self, owner: &str, json: &str, schema: &Value, required: bool) -> FieldDraft {
        let mut words = Words::from_object(schema);
        let doc = prose(&schema["title"], &schema["description"]);
        let part = self.part(&format!("{owner}{}", upper(json)), &mut words);
        description(&mut words);
        let holds_required = self
            .structs
            .iter()
            .any(|known| known.name == part.ty && known.refuses_empty());
        let presence = match self.origin {
            Origin::Definition => Presence::of_definition(&mut words, &part, required, holds_required),
            Origin::Document => Presence::of_document(&mut words, &part, required),
        };
        let mut keys = presence.keys;
        keys.extend(part.bounds.keys);
        keys.extend(self.lists(&part.ty, &mut words));
        if required && self.lists_around == 0 && words.take_if("x-kubernetes-validations", &immutable()) {
            keys.push("immutable".to_owned());
        }
        let mut marks = part.marks;
        marks.extend(words.marks());
        FieldDraft {
            name: json.to_owned(),
            ty: presence.ty,
            doc: doc.unwrap_or_else(|| sentence(json)),
            keys,
            marks,
        }
    }

    /// Returns the list type and patch strategy keys of a field.
    fn lists(&self, ty: &str, words: &mut Words<'_>) -> Vec<String> {
        let mut keys = Vec::new();
        let element = ty.strip_prefix("Vec<").and_then(|ty| ty.strip_suffix('>'));
        // The target of a reference is not known yet.
        let is_struct =
            |name: &str| self.origin == Origin::Document || self.structs.iter().any(|known| known.name == name);
        let list = words.take_as("x-kubernetes-list-type", |list| {
            let fits = |list: &&str| element.is_some_and(|element| *list != "map" || is_struct(element));
            list.as_str().filter(fits)
        });
        if let Some(list) = list {
            keys.push(format!("list_type = {list}"));
            if list == "map" {
                let names: Vec<String> = texts(words.take("x-kubernetes-list-map-keys"))
                    .map(str::to_owned)
                    .collect();
                keys.push(listed("list_map_keys", &names));
            }
            // Documents do not reveal if a kind refuses duplicates.
            keys.extend((list != "atomic" && self.origin == Origin::Definition).then(|| "unique".to_owned()));
        }
        if !ty.starts_with("Vec<") {
            let atomic = words.take("x-kubernetes-map-type") == "atomic";
            keys.extend((atomic && ty.starts_with("BTreeMap<")).then(|| "atomic".to_owned()));
        }
        if let Some(strategy) = words.take("x-kubernetes-patch-strategy").as_str() {
            let strategy = strategy.replace("retainKeys", "retain_keys").replace(',', ", ");
            keys.push(format!("patch_strategy({strategy})"));
        }
        if let Some(key) = words.take("x-kubernetes-patch-merge-key").as_str() {
            keys.push(format!("patch_merge_key = {}", literal(key)));
        }
        keys
    }

    /// Returns an unused struct name, because an element type can have the same name as another field's type.
    fn free(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.structs.iter().any(|known| known.name == name) {
            name.push_str("Item");
        }
        name
    }

    /// Returns the Rust equivalent of a schema, consuming the keywords that it expresses.
    fn part(&mut self, name: &str, words: &mut Words<'_>) -> Part {
        let reference = words.take_as("$ref", Value::as_str).or_else(|| {
            words.take_as("allOf", |all| match all.as_array()?.as_slice() {
                [one] => one["$ref"].as_str(),
                _ => None,
            })
        });
        if let Some(reference) = reference {
            return Part::new(&referred(reference), Bounds::default());
        }
        if words.take_if("x-kubernetes-int-or-string", &true.into()) {
            words.take_if("anyOf", &json!([{"type": "integer"}, {"type": "string"}]));
            return match words.take_if("pattern", &QUANTITY.into()) {
                true => Part::new("Quantity", Bounds::default()),
                false => Part::new("IntOrString", Bounds::default()),
            };
        }
        match words.take("type").as_str().unwrap_or_default() {
            "boolean" => Part::new("bool", Bounds::default()),
            "integer" => {
                words.take_if("format", &"int64".into());
                let ty = match words.take_if("format", &"int32".into()) {
                    true => "i32",
                    false => "i64",
                };
                Part::new(ty, Bounds::of_number(words))
            }
            "number" => {
                words.take_if("format", &"double".into());
                Part::new("f64", Bounds::of_number(words))
            }
            "string" if words.take_if("format", &"date-time".into()) => Part::new("Time", Bounds::default()),
            "string" if words.take_if("format", &"byte".into()) => Part::new("ByteString", Bounds::default()),
            "string" => Part::new("String", Bounds::of_text(words)),
            "array" => {
                let inner = self.element(name, words.take("items"));
                Part {
                    ty: format!("Vec<{}>", inner.ty),
                    bounds: Bounds::of_many(words, "minItems", "maxItems", &inner.bounds),
                    marks: about("each element", &inner.marks),
                }
            }
            "object" => self.object(name, words),
            _ => {
                words.take("x-kubernetes-preserve-unknown-fields");
                Part::new("AnyJson", Bounds::default())
            }
        }
    }

    fn object(&mut self, name: &str, words: &mut Words<'_>) -> Part {
        let has_fields = words
            .peek("properties")
            .as_object()
            .is_some_and(|fields| !fields.is_empty());
        if has_fields {
            let name = self.free(name);
            let at = self.structs.len();
            self.structure(&name, words, false);
            return Part {
                ty: name,
                marks: std::mem::take(&mut self.structs[at].marks),
                ..Part::default()
            };
        }
        if words.peek("additionalProperties").is_object() {
            let inner = self.element(name, words.take("additionalProperties"));
            return Part {
                ty: format!("BTreeMap<String, {}>", inner.ty),
                bounds: Bounds::of_many(words, "minProperties", "maxProperties", &inner.bounds),
                marks: about("each value", &inner.marks),
            };
        }
        let keeps_all = words.take_if("additionalProperties", &true.into())
            | words.take_if("x-kubernetes-preserve-unknown-fields", &true.into());
        if keeps_all || self.origin == Origin::Document {
            return Part::new("RawExtension", Bounds::default());
        }
        // An object without any fields.
        let name = self.free(name);
        self.structure(&name, words, false);
        Part::new(&name, Bounds::default())
    }

    /// Returns the element type of a list or map called `name`.
    fn element(&mut self, name: &str, schema: &Value) -> Part {
        self.lists_around += 1;
        let mut words = Words::from_object(schema);
        let mut part = self.part(&singular(name), &mut words);
        self.lists_around -= 1;
        description(&mut words);
        if !part.ty.starts_with("Vec<") {
            words.take_if("x-kubernetes-map-type", &"granular".into());
        }
        part.marks.extend(words.marks());
        part
    }
}

/// Returns the rule with which definitions express an immutable field.
fn immutable() -> Value {
    json!([{"rule": "self == oldSelf", "message": "field is immutable"}])
}

/// Returns the discriminator of a union, empty if there is none; `None` if a field is not a member.
fn discriminator<'u>(unions: &'u Value, fields: &[FieldDraft]) -> Option<&'u str> {
    let [union] = unions.as_array()?.as_slice() else {
        return None;
    };
    let discriminator = union["discriminator"].as_str().unwrap_or_default();
    let members = union["fields-to-discriminateBy"].as_object()?;
    let others = fields.iter().filter(|field| field.name != discriminator);
    let are_members =
        others.clone().count() == members.len() && others.clone().all(|field| members.contains_key(&field.name));
    are_members.then_some(discriminator)
}

/// Consumes the description.
fn description(words: &mut Words<'_>) -> Option<String> {
    prose(words.take("title"), words.take("description"))
}

/// Returns title and description as one text.
fn prose(title: &Value, description: &Value) -> Option<String> {
    let parts: Vec<&str> = [title, description].into_iter().filter_map(Value::as_str).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Returns marks for content of fields that all kinds have.
fn standard(schema: &Value) -> Vec<String> {
    let mut words = Words::from_object(schema);
    description(&mut words);
    words.take("type");
    // Documents use this for references.
    words.take("allOf");
    words.take("default");
    words.marks()
}

/// Returns marks with the name of their part.
fn about(part: &str, marks: &[String]) -> Vec<String> {
    marks.iter().map(|mark| format!("{part}: {mark}")).collect()
}

/// Returns the Rust type for a reference to a definition.
fn referred(reference: &str) -> String {
    match reference.rsplit(['.', '/']).next().unwrap_or_default() {
        "JSON" => "AnyJson".to_owned(),
        "Fields" => "FieldsV1".to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the singular of a list's name, for its element type.
fn singular(name: &str) -> String {
    if let Some(stem) = name.strip_suffix("ies") {
        return format!("{stem}y");
    }
    match name.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') && stem.len() > 2 => stem.to_owned(),
        _ => format!("{name}Item"),
    }
}

/// Returns the strings of a list.
pub(super) fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}
