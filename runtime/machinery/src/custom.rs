//! Kinds that are defined while serving, and their objects.
//!
//! A custom kind has the same facts as a declared one, made from its definition instead of by a derive; from there on
//! the same code serves both. Facts live as long as the process: a definition that comes back unchanged should be given
//! the facts that it had.

mod member;
mod object;
mod rules;
mod versions;

use std::fmt;
use std::sync::{Arc, OnceLock};

pub use object::{CustomObject, decode, decode_stored, read_applied, read_document};
pub use versions::{Converter, Converting, convert_later, needs_converter, read, read_all};
pub(crate) use versions::{convert, convert_declared};

use crate::facts::{FieldFacts, Omit, StructFacts, TypeFacts, TypeMetaFacts};
use crate::field_error::FieldErrors;
use crate::resource::{ResourceFacts, SubresourceKind};
use crate::rules::RulesTable;
use crate::structural::Structural;
use crate::value::Shape;

/// What a custom kind has beyond the facts of every kind.
pub struct CustomKind {
    schema: Arc<Structural>,
    fields: StructFacts,
    versions: OnceLock<Versions>,
    converter: OnceLock<Arc<dyn Converter>>,
    checks: Arc<dyn Checks>,
}

struct Versions {
    all: Vec<&'static ResourceFacts>,
    hub: &'static ResourceFacts,
}

/// What is checked of custom objects beyond what is checked of all objects.
pub trait Checks: Send + Sync {
    /// Reports what is wrong with a new object.
    fn check(&self, schema: &Structural, object: &CustomObject, errors: &mut FieldErrors);

    /// Reports what is wrong with an object that replaces `old`; what was wrong before may be let pass.
    fn check_update(&self, schema: &Structural, object: &CustomObject, old: &CustomObject, errors: &mut FieldErrors);

    /// Reports what is wrong with an object whose status alone may differ from that of `old`.
    fn check_status(&self, schema: &Structural, object: &CustomObject, old: &CustomObject, errors: &mut FieldErrors);

    /// Processor time, in nanoseconds, that patterns and rules are expected to take at most for an object of `bytes` bytes.
    /// Answers at once.
    fn cost(&self, schema: &Structural, bytes: usize) -> u64;
}

/// Checks nothing: for kinds whose schema has neither patterns nor rules.
#[derive(Clone, Copy, Debug)]
pub struct Unchecked;

impl Checks for Unchecked {
    fn check(&self, _: &Structural, _: &CustomObject, _: &mut FieldErrors) {}

    fn check_update(&self, _: &Structural, _: &CustomObject, _: &CustomObject, _: &mut FieldErrors) {}

    fn check_status(&self, _: &Structural, _: &CustomObject, _: &CustomObject, _: &mut FieldErrors) {}

    fn cost(&self, _: &Structural, _: usize) -> u64 {
        0
    }
}

impl CustomKind {
    /// The facts of a custom kind, for as long as the process lives. Of `facts`, what stands for the type is replaced:
    /// `schema`, `new`, `rules` and `custom`.
    ///
    /// [`CustomKind::join`] must follow before the facts are used.
    pub fn leak(mut facts: ResourceFacts, schema: Arc<Structural>, checks: Arc<dyn Checks>) -> &'static ResourceFacts {
        let fields = fields(&facts, &schema);
        let kind: &'static CustomKind = Box::leak(Box::new(CustomKind {
            schema,
            fields,
            versions: OnceLock::new(),
            converter: OnceLock::new(),
            checks,
        }));
        facts.rules = rules::TABLE;
        facts.conversion = None;
        facts.custom = Some(kind);
        Box::leak(Box::new(facts))
    }

    /// Makes facts the versions of one kind, of which `hub` is stored. Facts that belong together already stay so.
    pub fn join(all: &[&'static ResourceFacts], hub: &'static ResourceFacts) {
        for custom in all.iter().filter_map(|facts| facts.custom) {
            let _ = custom.versions.set(Versions { all: all.to_vec(), hub });
        }
    }

    /// Lets `converter` turn objects of one of these versions into another one. Only the first one counts.
    pub fn convert_by(all: &[&'static ResourceFacts], converter: &Arc<dyn Converter>) {
        for custom in all.iter().filter_map(|facts| facts.custom) {
            let _ = custom.converter.set(Arc::clone(converter));
        }
    }

    /// Whether somebody is asked for objects of other versions.
    #[must_use]
    pub fn has_converter(&'static self) -> bool {
        self.converter().is_some()
    }

    pub(crate) fn converter(&'static self) -> Option<&'static dyn Converter> {
        self.converter.get().map(|converter| &**converter)
    }

    /// The version that is stored.
    #[must_use]
    pub fn hub(&self) -> Option<&'static ResourceFacts> {
        self.versions.get().map(|versions| versions.hub)
    }

    /// The facts of the version `api_version`.
    #[must_use]
    pub fn version(&self, api_version: &str) -> Option<&'static ResourceFacts> {
        let versions = self.versions.get()?;
        versions
            .all
            .iter()
            .copied()
            .find(|facts| facts.api_version == api_version)
    }

    /// What objects look like.
    #[must_use]
    pub fn schema(&self) -> &Structural {
        &self.schema
    }

    /// The fields at the top of objects.
    #[must_use]
    pub fn fields(&self) -> &StructFacts {
        &self.fields
    }

    /// Processor time, in nanoseconds, that patterns and rules are expected to take at most for an object of `bytes` bytes.
    #[must_use]
    pub fn check_cost(&self, bytes: usize) -> u64 {
        self.checks.cost(&self.schema, bytes)
    }

    pub(crate) fn checks(&self) -> &dyn Checks {
        &*self.checks
    }
}

impl fmt::Debug for CustomKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomKind")
            .field("fields", &self.fields.name)
            .finish_non_exhaustive()
    }
}

/// The top of an object as a table: metadata, a field for each property, and what takes the rest.
fn fields(facts: &ResourceFacts, schema: &Structural) -> StructFacts {
    const TREE: TypeFacts = TypeFacts::Optional(&<serde_json::Value as Shape>::TYPE);
    const REST: TypeFacts = TypeFacts::Map(&<serde_json::Value as Shape>::TYPE);
    let mut names: Vec<&str> = schema.properties.names().collect();
    let has_status = facts
        .subresources
        .iter()
        .any(|subresource| matches!(subresource.kind, SubresourceKind::Status));
    if has_status && !names.contains(&"status") {
        names.push("status");
    }
    names.retain(|name| !matches!(*name, "apiVersion" | "kind" | "metadata"));
    names.sort_unstable();
    let mut fields = vec![FieldFacts {
        name: "metadata",
        ty: <crate::meta::ObjectMeta as Shape>::TYPE,
        ..FieldFacts::NONE
    }];
    fields.extend(names.into_iter().map(|name| FieldFacts {
        name: leak_text(name),
        ty: TREE,
        ..FieldFacts::NONE
    }));
    if schema.preserve_unknown || schema.additional != crate::structural::Additional::None {
        fields.push(FieldFacts {
            ty: REST,
            omit: Omit::Empty,
            inline: true,
            ..FieldFacts::NONE
        });
    }
    StructFacts {
        name: facts.kind,
        type_meta: Some(TypeMetaFacts {
            api_version: facts.api_version,
            kind: facts.kind,
        }),
        fields: Box::leak(fields.into_boxed_slice()),
        ..StructFacts::NONE
    }
}

fn leak_text(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

impl ResourceFacts {
    /// Facts of a custom kind to start from: names and versions are empty, nothing is declared.
    pub const CUSTOM: ResourceFacts = ResourceFacts {
        group: "",
        version: "",
        api_version: "",
        kind: "",
        list_kind: "",
        plural: "",
        singular: "",
        storage_name: "",
        hashed_version: "",
        short_names: &[],
        categories: &[],
        scope: crate::resource::Scope::Namespaced,
        served: true,
        deprecated: None,
        conversion: None,
        subresources: &[],
        selectable: &[],
        columns: &[],
        name_rule: crate::resource::NameRule::DnsSubdomain,
        behavior: crate::resource::Behavior {
            generation: true,
            conditional_update: true,
            ..crate::resource::Behavior::NONE
        },
        schema: || &StructFacts::NONE,
        new: || Box::new(CustomObject::of_no_kind()),
        rules: RulesTable::NONE,
        custom: None,
    };
}

#[cfg(test)]
mod tests;
