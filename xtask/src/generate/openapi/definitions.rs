//! The definitions and paths in the document of a group version.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::facts::{ScalarFacts, TypeFacts};
use serde_json::{Map, Value, json};

use super::names::{self, META};
use super::operation::Action;
use super::paths::{self, PathItem};
use super::schema::{Dialect, Schemas, describe, scalar};
use crate::generate::model::{Definition, Group, Kind, Model, Type, Version};
use crate::generate::package::Role;
use crate::generate::source::RustPath;

/// The content of a group version's document, independent of the dialect.
pub(super) struct Document<'a> {
    pub(super) model: &'a Model,
    pub(super) group: &'a Group,
    pub(super) version: &'a Version,
    /// The operations, by path.
    pub(super) paths: BTreeMap<String, PathItem>,
    structs: BTreeMap<String, &'a Definition>,
    scalars: BTreeMap<&'static str, &'static ScalarFacts>,
}

impl<'a> Document<'a> {
    /// Returns the document of `version`.
    pub(super) fn of(model: &'a Model, group: &'a Group, version: &'a Version) -> Self {
        let paths = paths::of(model, group, version);
        let mut document = Self {
            model,
            group,
            version,
            paths,
            structs: BTreeMap::new(),
            scalars: BTreeMap::new(),
        };
        for kind in served(version) {
            document.reach(&kind.path);
        }
        let mut metadata = vec!["APIResourceList"];
        let operations = document.paths.values().flat_map(PathItem::operations);
        for operation in operations {
            metadata.extend(operation.action.metadata_types());
        }
        if served(version).any(|kind| !kind.resource.behavior.create_only) {
            metadata.push("ListMeta");
        }
        metadata.sort_unstable();
        metadata.dedup();
        for name in metadata {
            document.reach_named(|definition| is_metadata(definition) && definition.name == name);
        }
        if document
            .paths
            .values()
            .flat_map(PathItem::operations)
            .any(|operation| operation.is_scale())
        {
            document.reach_named(is_scale);
        }
        let operations = document.paths.values().flat_map(PathItem::operations);
        let subjects: Vec<_> = operations.filter_map(|operation| operation.kind.clone()).collect();
        for (group, version, kind) in subjects {
            // The body of a subresource can be a kind of another group.
            let mut kinds = model.kinds();
            let posted = kinds.find(|(of_group, of_version, other)| {
                of_group.name == group && of_version.name == version && other.resource.kind == kind
            });
            if let Some((_, _, posted)) = posted {
                document.reach(&posted.path);
            }
        }
        document
    }

    /// Returns all definitions by name.
    pub(super) fn definitions(&self, dialect: Dialect) -> BTreeMap<String, Value> {
        let schemas = Schemas {
            model: self.model,
            dialect,
        };
        let mut definitions = BTreeMap::new();
        for (name, definition) in &self.structs {
            // Kinds of other groups can be part of this group's kinds, some with distinct definitions.
            let kind = self.model.kinds().find(|(_, _, kind)| {
                let structure = self.model.structure(&kind.path);
                kind.resource.served
                    && structure.name == definition.name
                    && names::definition(self.model, &kind.path, &structure.name) == *name
            });
            let mut schema = schemas.structure(definition, kind.is_some());
            let kinds = match kind {
                Some((group, version, kind)) => {
                    vec![group_version_kind(&group.name, &version.name, &kind.resource.kind)]
                }
                None => self.metadata_kinds(definition, dialect),
            };
            if !kinds.is_empty() {
                schema["x-kubernetes-group-version-kind"] = kinds.into();
            }
            definitions.insert(name.clone(), schema);
        }
        for kind in served(self.version).filter(|kind| !kind.resource.behavior.create_only) {
            let item = names::definition(self.model, &kind.path, &self.model.structure(&kind.path).name);
            let mut schema = schemas.list(&item, &kind.resource.kind, &kind.resource.plural);
            let list = &kind.resource.list_kind;
            schema["x-kubernetes-group-version-kind"] = json!([self.group_version_kind(list)]);
            definitions.insert(names::definition(self.model, &kind.path, list), schema);
        }
        for (name, facts) in &self.scalars {
            let mut schema = scalar(facts, dialect).as_object().cloned().unwrap_or_default();
            describe(&mut schema, scalar_doc(facts.go_name));
            definitions.insert((*name).to_owned(), schema.into());
        }
        if self
            .paths
            .values()
            .flat_map(PathItem::operations)
            .any(|operation| operation.action == Action::Patch)
        {
            let mut patch = Map::new();
            describe(&mut patch, "A patch of an object, in the format of the content type.");
            patch.insert("type".to_owned(), "object".into());
            definitions.insert(format!("{META}.Patch"), patch.into());
        }
        definitions
    }

    fn reach_named(&mut self, matches: impl Fn(&Definition) -> bool) {
        let model = self.model;
        if let Some(definition) = model.structures().find(|definition| matches(definition)) {
            self.reach(&definition.path.clone());
        }
    }

    /// Adds the struct at `path` and all types that it refers to.
    fn reach(&mut self, path: &RustPath) {
        let definition = self.model.structure(path);
        let name = names::definition(self.model, path, &definition.name);
        if self.structs.insert(name, definition).is_some() {
            return;
        }
        for field in self.model.json_fields(definition) {
            self.reach_type(&field.ty);
        }
    }

    fn reach_type(&mut self, ty: &Type) {
        match ty {
            Type::Struct(path) => self.reach(path),
            Type::List(inner) | Type::Map(inner) | Type::Optional(inner) => self.reach_type(inner),
            Type::Leaf(leaf) => {
                if let TypeFacts::Scalar(facts) = leaf.facts
                    && !facts.definition.is_empty()
                {
                    self.scalars.insert(facts.definition, facts);
                }
            }
            Type::Bool | Type::Int32 | Type::Int64 | Type::Double | Type::String => {}
        }
    }

    fn group_version_kind(&self, kind: &str) -> Value {
        group_version_kind(&self.group.name, &self.version.name, kind)
    }

    /// Returns the kinds with which a type that is not a kind of this version is sent.
    fn metadata_kinds(&self, definition: &Definition, dialect: Dialect) -> Vec<Value> {
        if !is_metadata(definition) {
            let meta = definition.type_meta.as_ref();
            return meta
                .map(|meta| own_kind(&meta.api_version, &meta.kind))
                .into_iter()
                .collect();
        }
        match definition.name.as_str() {
            // The document of the core group lists all group versions, for the merged version 2 document.
            name @ ("DeleteOptions" | "WatchEvent") if dialect == Dialect::V2 && self.group.name.is_empty() => {
                let versions = scheme(self.model);
                let kinds = versions.iter();
                kinds
                    .map(|(group, version)| group_version_kind(group, version, name))
                    .collect()
            }
            // These types belong to every group.
            name @ ("DeleteOptions" | "WatchEvent") => {
                let core = group_version_kind("", "v1", name);
                let own = self.group_version_kind(name);
                if core == own { vec![core] } else { vec![core, own] }
            }
            name if definition.type_meta.is_some() => vec![group_version_kind("", "v1", name)],
            _ => Vec::new(),
        }
    }
}

/// Group versions that kube-apiserver can decode although they have no resources.
const EMPTY_VERSIONS: [(&str, &str); 3] = [
    ("admission.k8s.io", "v1"),
    ("admission.k8s.io", "v1beta1"),
    ("authentication.k8s.io", "v1alpha1"),
];

/// Groups whose kinds are sent but never stored or posted, so that metadata types do not refer to them.
const ONLY_SENT: [&str; 1] = ["apidiscovery.k8s.io"];

/// Returns the built-in group versions to which metadata types refer, in alphabetical order: all declared ones, served or not.
fn scheme(model: &Model) -> BTreeSet<(&str, &str)> {
    let built_in = model
        .packages
        .iter()
        .filter(|package| package.package.role == Role::BuiltIn);
    let groups = built_in
        .flat_map(|package| &package.groups)
        .filter(|group| !ONLY_SENT.contains(&group.name.as_str()));
    let versions = groups.flat_map(|group| {
        let versions = group.versions.iter();
        versions.map(|version| (group.name.as_str(), version.name.as_str()))
    });
    versions.chain(EMPTY_VERSIONS).collect()
}

/// Returns the served kinds of a version.
pub(in crate::generate) fn served(version: &Version) -> impl Iterator<Item = &Kind> {
    version.kinds.iter().filter(|kind| kind.resource.served)
}

fn group_version_kind(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

fn own_kind(api_version: &str, kind: &str) -> Value {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    group_version_kind(group, version, kind)
}

fn is_metadata(definition: &Definition) -> bool {
    definition.path.crate_name() == "planesmith_machinery" && !is_scale(definition)
}

/// True for the type of the scale subresource.
pub(super) fn is_scale(definition: &Definition) -> bool {
    let meta = definition.type_meta.as_ref();
    meta.is_some_and(|meta| meta.api_version == "autoscaling/v1" && meta.kind == "Scale")
}

/// Returns the description of a leaf.
fn scalar_doc(go_name: &str) -> &'static str {
    match go_name {
        "v1.Time" => "A time with a precision of seconds, such as 2006-01-02T15:04:05Z.",
        "v1.MicroTime" => "A time with a precision of microseconds, such as 2006-01-02T15:04:05.000000Z.",
        "v1.Duration" => "A duration, such as 1h30m.",
        "resource.Quantity" => {
            "An amount: a number, with an ending such as m (a thousandth), k, M, G, Ki, Mi or Gi, or with an exponent. \
             Amounts are written back in a canonical form, such as 1500m for 1.5."
        }
        "intstr.IntOrString" => "An integer or a string, such as 8080 or http.",
        "v1.FieldsV1" => "A set of field paths as nested objects, with keys such as f:metadata.",
        _ => "Any JSON object.",
    }
}
