//! Objects of custom kinds.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;

use planesmith_machinery::copy;
use planesmith_machinery::facts::{StructFacts, TypeMetaFacts};
use planesmith_machinery::json::{self, DecodeError, Findings, Strictness};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, ResourceTable};
use planesmith_machinery::value::{Struct, Value};
use serde_json::{Map, Value as Tree};

use super::{CustomKind, FIELDS};
use crate::structural::{Malformed, PrunedPaths, readable_part};

/// An object of a custom kind: metadata, and trees of JSON that its schema describes.
#[derive(Clone, Debug)]
pub struct CustomObject {
    kind: ResourceFacts,
    metadata: ObjectMeta,
    /// The top-level fields beside type and metadata. One that is `null` here is not absent.
    content: Map<String, Tree>,
}

impl CustomObject {
    /// Returns a zero object of a custom kind.
    #[must_use]
    pub fn new(kind: &ResourceFacts) -> Self {
        Self {
            kind: kind.clone(),
            metadata: ObjectMeta::default(),
            content: Map::new(),
        }
    }

    /// A stand-in for an object until the kind is known.
    pub(super) fn of_no_kind() -> Self {
        static NONE: ResourceTable = CustomKind::FACTS;
        Self::new(&ResourceFacts::declared(&NONE))
    }

    /// The part of its kind that goes beyond the facts of every kind.
    #[must_use]
    pub fn custom(&self) -> Option<&CustomKind> {
        CustomKind::of(&self.kind)
    }

    /// The whole object as a document.
    #[must_use]
    pub fn to_document(&self) -> Tree {
        self.document_with(json::to_value(&self.metadata))
    }

    /// The object as a document without its managed fields.
    #[must_use]
    pub fn to_unmanaged_document(&self) -> Tree {
        self.document_with(self.unmanaged_metadata())
    }

    fn document_with(&self, metadata: Tree) -> Tree {
        let mut document = self.content.clone();
        let text = |text: &str| Tree::String(text.to_owned());
        document.insert("apiVersion".to_owned(), text(&self.kind.api_version));
        document.insert("kind".to_owned(), text(&self.kind.kind));
        document.insert("metadata".to_owned(), metadata);
        Tree::Object(document)
    }

    /// The members of the document of the object, by name; without its type, and without its managed fields.
    #[must_use]
    pub fn unmanaged_members(&self) -> BTreeMap<&str, Cow<'_, Tree>> {
        let mut members = BTreeMap::new();
        members.extend(
            self.content
                .iter()
                .map(|(name, tree)| (name.as_str(), Cow::Borrowed(tree))),
        );
        members.insert("metadata", Cow::Owned(self.unmanaged_metadata()));
        members
    }

    fn unmanaged_metadata(&self) -> Tree {
        let mut metadata = ObjectMeta::default();
        for (index, field) in self.metadata.facts().fields.iter().enumerate() {
            if field.name != "managedFields" {
                copy::copy(self.metadata.field(index), metadata.field_mut(index));
            }
        }
        json::to_value(&metadata)
    }

    /// Returns the top-level field `name` of the document, `None` if it is absent; without a name the whole document.
    pub(super) fn to_part(&self, name: Option<&str>) -> Option<Cow<'_, Tree>> {
        let text = |text: &str| Cow::Owned(Tree::String(text.to_owned()));
        let part = match name {
            None => Cow::Owned(self.to_document()),
            Some("metadata") => Cow::Owned(json::to_value(&self.metadata)),
            Some("apiVersion") => text(&self.kind.api_version),
            Some("kind") => text(&self.kind.kind),
            Some(name) => Cow::Borrowed(self.content.get(name)?),
        };
        Some(part)
    }

    /// Applies `change` to the parts of the object that its schema describes: everything except its metadata.
    pub fn change(&mut self, change: impl FnOnce(&mut Tree)) {
        self.change_by_kind(|_, document| change(document));
    }

    /// Like [`CustomObject::change`], with the kind of the object; does nothing if that is unknown.
    pub(super) fn change_by_kind(&mut self, change: impl FnOnce(&CustomKind, &mut Tree)) {
        let Some(custom) = CustomKind::of(&self.kind) else {
            return;
        };
        let mut document = Tree::Object(std::mem::take(&mut self.content));
        change(custom, &mut document);
        if let Tree::Object(content) = document {
            self.content = content;
            self.content.retain(|name, _| custom.keeps(&self.kind, name));
        }
    }

    /// Removes unknown fields and every `null` that is not a value. Returns each unknown field as a finding of strict
    /// validation.
    pub fn prune(&mut self) -> Vec<String> {
        let mut paths = Vec::new();
        self.change_by_kind(|custom, document| {
            paths = custom.schema.prune(document).into_paths();
            custom.schema.drop_nulls(document);
        });
        paths.iter().map(unknown).collect()
    }

    /// Completes embedded objects. Returns each field that these cannot have as a finding of strict validation.
    fn complete_embedded(&mut self, malformed: Malformed) -> Result<Vec<String>, DecodeError> {
        if !self.custom().is_some_and(|custom| custom.schema.has_embedded) {
            return Ok(Vec::new());
        }
        let mut dropped = Ok(Vec::new());
        self.change_by_kind(|custom, document| dropped = custom.schema.complete_embedded(document, malformed));
        let dropped = dropped.map_err(|error| DecodeError::Type(error.message()))?;
        Ok(dropped.iter().map(unknown).collect())
    }

    /// The object in the version `target` of its kind: the members that both have under the same names.
    pub(super) fn renamed(&self, target: &ResourceFacts) -> Self {
        let mut renamed = Self::new(target);
        renamed.metadata.clone_from(&self.metadata);
        renamed.put_content(self.content.clone());
        renamed.prune();
        renamed
    }

    pub(super) fn read_content(&mut self, mut content: Map<String, Tree>) -> Result<(), DecodeError> {
        if let Some(metadata) = content.remove("metadata") {
            json::from_value(&metadata, &mut self.metadata, Strictness::Lenient)?;
        }
        self.put_content(content);
        Ok(())
    }

    /// Reads a stored document whose metadata has fields of the wrong type. They are dropped.
    fn read_malformed(&mut self, input: &[u8]) -> Result<Findings, DecodeError> {
        let (document, findings) = json::parse_value(input, Strictness::Lenient)?;
        let Tree::Object(mut content) = document else {
            return Err(DecodeError::Type("the document is not an object".to_owned()));
        };
        *self = Self::new(&self.kind);
        self.metadata = readable_part(&content.remove("metadata").unwrap_or_default());
        self.put_content(content);
        Ok(findings)
    }

    fn put_content(&mut self, content: Map<String, Tree>) {
        self.content.extend(content);
        if let Some(custom) = CustomKind::of(&self.kind) {
            self.content.retain(|name, _| custom.keeps(&self.kind, name));
        }
    }
}

impl Struct for CustomObject {
    fn facts(&self) -> &'static StructFacts {
        &FIELDS
    }

    fn field(&self, index: usize) -> &dyn Value {
        match index {
            0 => &self.metadata,
            _ => &self.content,
        }
    }

    fn field_mut(&mut self, index: usize) -> &mut dyn Value {
        match index {
            0 => &mut self.metadata,
            _ => &mut self.content,
        }
    }

    fn type_meta(&self) -> Option<TypeMetaFacts<'_>> {
        Some(TypeMetaFacts {
            api_version: &self.kind.api_version,
            kind: &self.kind.kind,
        })
    }

    fn is_tree(&self) -> bool {
        true
    }
}

impl Object for CustomObject {
    fn resource(&self) -> &ResourceFacts {
        &self.kind
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }

    fn boxed(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

/// Objects that may be of a custom kind.
pub trait AsCustom {
    /// The object as one of a custom kind.
    fn as_custom(&self) -> Option<&CustomObject>;

    /// The object as one of a custom kind, to be written.
    fn as_custom_mut(&mut self) -> Option<&mut CustomObject>;
}

impl AsCustom for dyn Object {
    #[inline]
    fn as_custom(&self) -> Option<&CustomObject> {
        (self as &dyn Any).downcast_ref()
    }

    #[inline]
    fn as_custom_mut(&mut self) -> Option<&mut CustomObject> {
        (self as &mut dyn Any).downcast_mut()
    }
}

fn unknown(path: impl AsRef<str>) -> String {
    let path = path.as_ref();
    format!("unknown field {path:?}")
}

/// Reads the JSON of an object that a client sent and, if its kind is custom, removes unknown fields.
///
/// # Errors
///
/// As [`json::decode`], and when the metadata of an object inside it is of the wrong type.
pub fn decode(input: &[u8], target: &mut dyn Struct, strictness: Strictness) -> Result<Findings, DecodeError> {
    read(input, target, strictness, Malformed::Refused)
}

/// Reads the JSON of a stored object, which was valid when it was written, unless another program wrote it. Fields that the schema or
/// the metadata does not have any more are removed, as are fields of the metadata of the wrong type, and new defaults are set. The
/// generation of an object without one is 1. kube-apiserver does the same, so that any such object can be read and deleted.
///
/// # Errors
///
/// As [`json::decode`].
pub fn decode_stored(input: &[u8], target: &mut dyn Struct) -> Result<Findings, DecodeError> {
    let findings = read(input, target, Strictness::Lenient, Malformed::Dropped)?;
    if let Some(object) = (target as &mut dyn Any).downcast_mut::<CustomObject>() {
        object.change_by_kind(|custom, document| custom.schema.fill_defaults(document));
        if object.metadata.generation == 0 {
            object.metadata.generation = 1;
        }
    }
    Ok(findings)
}

/// Sets `target`, a zero object of a custom kind, to the result of an apply, without unknown fields: these can be applied
/// below objects of any form. A `null` that is not a value is kept, so that validation reports it. Returns the places of the
/// unknown fields.
///
/// # Errors
///
/// When the metadata does not fit.
pub fn read_applied(document: Tree, target: &mut dyn Object) -> Result<PrunedPaths, DecodeError> {
    let mut pruned = PrunedPaths::default();
    match (target.as_custom_mut(), document) {
        (Some(object), Tree::Object(content)) => {
            object.read_content(content)?;
            object.change_by_kind(|custom, document| pruned = custom.schema.prune(document));
        }
        (_, document) => drop(json::from_value(&document, target, Strictness::Lenient)?),
    }
    Ok(pruned)
}

/// Reads a document into `target`, as [`decode`] does with its text; unknown and duplicate fields are not reported.
///
/// # Errors
///
/// As [`decode`].
pub fn read_document(document: Tree, target: &mut dyn Struct) -> Result<(), DecodeError> {
    let Some(object) = (target as &mut dyn Any).downcast_mut::<CustomObject>() else {
        return json::from_value(&document, target, Strictness::Lenient).map(drop);
    };
    let Tree::Object(content) = document else {
        return json::from_value(&document, target, Strictness::Lenient).map(drop);
    };
    object.read_content(content)?;
    object.prune();
    object.complete_embedded(Malformed::Refused).map(drop)
}

fn read(
    input: &[u8],
    target: &mut dyn Struct,
    strictness: Strictness,
    malformed: Malformed,
) -> Result<Findings, DecodeError> {
    if !(target as &dyn Any).is::<CustomObject>() {
        return match malformed {
            Malformed::Refused => json::decode_sent(input, target, strictness),
            Malformed::Dropped => json::decode(input, target, strictness),
        };
    }
    let noticed = json::decode_untyped(input, target, strictness);
    let Some(object) = (target as &mut dyn Any).downcast_mut::<CustomObject>() else {
        return noticed;
    };
    let noticed = match noticed {
        Err(DecodeError::Type(_)) if malformed == Malformed::Dropped => object.read_malformed(input)?,
        noticed => noticed.map_err(of_metadata_alone)?,
    };
    let mut pruned = object.prune();
    let embedded = object.complete_embedded(malformed)?;
    if strictness != Strictness::Strict {
        return Ok(noticed);
    }
    // Unknown fields are reported after duplicates, first those of the metadata, then all others by their path.
    let (unknown, twice): (Vec<String>, Vec<String>) = noticed
        .messages()
        .iter()
        .cloned()
        .partition(|message| message.starts_with("unknown field"));
    let (of_metadata, at_top): (Vec<String>, Vec<String>) = unknown
        .into_iter()
        .partition(|message| message.starts_with("unknown field \"metadata."));
    pruned.extend(at_top);
    pruned.sort_unstable();
    let mut findings = Findings::default();
    findings.add_all(twice.into_iter().chain(of_metadata).chain(pruned).chain(embedded));
    Ok(findings)
}

/// An error in the metadata of a custom object, which kube-apiserver reads by itself.
fn of_metadata_alone(error: DecodeError) -> DecodeError {
    let DecodeError::Type(message) = error else {
        return error;
    };
    const INTO: &str = "into Go struct field ";
    let alone = || {
        let (before, place) = message.split_once(INTO)?;
        let (owner, field) = place.split_once(".metadata")?;
        if owner.contains(' ') {
            return None;
        }
        if let Some(below) = field.strip_prefix('.') {
            return Some(format!("{before}{INTO}{owner}.{below}"));
        }
        let ty = field.strip_prefix(" of type ")?;
        Some(format!("{before}into Go value of type {ty}"))
    };
    DecodeError::Type(alone().unwrap_or(message))
}
