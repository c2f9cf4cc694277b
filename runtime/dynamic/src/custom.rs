//! Kinds that are defined at run time, and their objects.
//!
//! A custom kind has the same facts as a declared one, created from its definition instead of by a derive, so that the
//! same code serves both. They are freed when the last of their users is gone.

mod object;
mod strategy;
mod versions;

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use planesmith_machinery::facts::{FieldFacts, Omit, StructFacts, TypeFacts, TypeMetaFacts};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{
    Behavior, DynamicKind, Generation, NameRule, ResourceFacts, ResourceTable, Scope,
};
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::strategy::{Extensions, NoStrategy};
use planesmith_machinery::value::Shape;
use serde_json::Value as Tree;

pub use object::{AsCustom, CustomObject, decode, decode_stored, read_applied, read_document};
pub use versions::{Converter, Converting, convert, convert_later, document_in, needs_converter, read, read_all};

use crate::structural::{Additional, Structural};
use strategy::CustomStrategy;

/// The part of a custom kind, in one version, that goes beyond the facts of every kind.
pub struct CustomKind {
    schema: Arc<Structural>,
    converter: Option<Arc<dyn Converter>>,
    checks: Arc<dyn Checks>,
}

/// One version of a custom kind.
pub struct CustomVersion {
    /// Names and declarations. The members that stand for the type are replaced: `strategy`, `extensions`, `conversion` and `custom`.
    pub table: ResourceTable,
    /// The schema of objects.
    pub schema: Arc<Structural>,
    /// The checks of objects.
    pub checks: Arc<dyn Checks>,
}

/// The checks of custom objects beyond those of all objects.
pub trait Checks: Send + Sync {
    /// Reports errors of a new object.
    fn check(&self, schema: &Structural, object: &CustomObject, errors: &mut FieldErrors);

    /// Reports errors of an object that replaces `old`; existing errors may be tolerated.
    fn check_update(&self, schema: &Structural, object: &CustomObject, old: &CustomObject, errors: &mut FieldErrors);

    /// Reports errors of an object of which only the status can differ from `old`.
    fn check_status(&self, schema: &Structural, object: &CustomObject, old: &CustomObject, errors: &mut FieldErrors);

    /// Returns the expected maximum processor time, in nanoseconds, of patterns and rules for an object of `bytes`
    /// bytes. Returns immediately.
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
    /// Returns the custom kind behind `facts`; `None` for a kind with a type of its own.
    #[must_use]
    pub fn of(facts: &ResourceTable) -> Option<&CustomKind> {
        let kind: &dyn Any = &**facts.custom.as_ref()?;
        kind.downcast_ref()
    }

    /// Returns the facts of `versions`, in their order; `hub` is the index of the storage version. They are freed when
    /// nothing refers to any of them. Objects of other versions are converted by `converter`; without it, only their
    /// `apiVersion` changes.
    #[must_use]
    pub fn define(
        versions: Vec<CustomVersion>,
        hub: usize,
        converter: Option<&Arc<dyn Converter>>,
    ) -> Vec<ResourceFacts> {
        let tables = versions.into_iter().map(|version| ResourceTable {
            strategy: &CustomStrategy,
            extensions: strategy::EXTENSIONS,
            conversion: None,
            custom: Some(Box::new(CustomKind {
                schema: version.schema,
                converter: converter.cloned(),
                checks: version.checks,
            })),
            ..version.table
        });
        ResourceFacts::defined(tables.collect(), hub)
    }

    /// True if objects of other versions are converted by a [`Converter`].
    #[must_use]
    pub fn has_converter(&self) -> bool {
        self.converter.is_some()
    }

    fn converter(&self) -> Option<&dyn Converter> {
        self.converter.as_deref()
    }

    /// The schema of objects.
    #[must_use]
    pub fn schema(&self) -> &Arc<Structural> {
        &self.schema
    }

    /// Returns the expected maximum processor time, in nanoseconds, of patterns and rules for an object of `bytes`
    /// bytes.
    #[must_use]
    pub fn check_cost(&self, bytes: usize) -> u64 {
        self.checks.cost(&self.schema, bytes)
    }

    fn checks(&self) -> &dyn Checks {
        &*self.checks
    }

    /// True if objects can have the top-level field `name` beside their metadata, in a version with the facts `table`.
    fn keeps(&self, table: &ResourceTable, name: &str) -> bool {
        let keeps_rest = self.schema.preserve_unknown || self.schema.additional != Additional::None;
        match name {
            "apiVersion" | "kind" | "metadata" => false,
            "status" if table.subresource("status").is_some() => true,
            name => keeps_rest || self.schema.properties.contains(name),
        }
    }
}

impl CustomKind {
    /// The facts of a custom kind to start from: names and versions are empty, nothing is declared.
    pub const FACTS: ResourceTable = ResourceTable {
        group: Cow::Borrowed(""),
        version: Cow::Borrowed(""),
        api_version: Cow::Borrowed(""),
        kind: Cow::Borrowed(""),
        list_kind: Cow::Borrowed(""),
        plural: Cow::Borrowed(""),
        singular: Cow::Borrowed(""),
        storage_name: Cow::Borrowed(""),
        hashed_version: Cow::Borrowed(""),
        short_names: Cow::Borrowed(&[]),
        categories: Cow::Borrowed(&[]),
        scope: Scope::Namespaced,
        served: true,
        deprecated: None,
        feature: None,
        conversion: None,
        subresources: Cow::Borrowed(&[]),
        selectable: Cow::Borrowed(&[]),
        columns: Cow::Borrowed(&[]),
        name_rule: NameRule::DnsSubdomain,
        behavior: Behavior {
            generation: Generation::Content,
            keys_with_group: true,
            conditional_update: true,
            // Writes to the status leave other fields unchanged as well, but Kubernetes does not list these.
            status_resets: &["metadata", "spec"],
            ..Behavior::NONE
        },
        schema: || &FIELDS,
        new: || Box::new(CustomObject::of_no_kind()),
        strategy: &NoStrategy,
        extensions: Extensions::NONE,
        custom: None,
    };
}

/// Returns the facts of a kind with the names of `table` and nothing else of its definition.
#[must_use]
pub fn names_alone(table: &ResourceTable) -> ResourceFacts {
    let names = ResourceTable {
        group: table.group.clone(),
        version: table.version.clone(),
        api_version: table.api_version.clone(),
        kind: table.kind.clone(),
        list_kind: table.list_kind.clone(),
        plural: table.plural.clone(),
        singular: table.singular.clone(),
        storage_name: table.storage_name.clone(),
        scope: table.scope,
        ..CustomKind::FACTS
    };
    ResourceFacts::defined(vec![names], 0).remove(0)
}

/// The fields of every custom object: its metadata, and a map of everything else. Its schema says more.
static FIELDS: StructFacts = StructFacts {
    name: "CustomObject",
    type_meta: Some(TypeMetaFacts {
        api_version: "",
        kind: "",
    }),
    fields: &[
        FieldFacts {
            name: "metadata",
            ty: <ObjectMeta as Shape>::TYPE,
            ..FieldFacts::NONE
        },
        FieldFacts {
            ty: TypeFacts::Map(&<Tree as Shape>::TYPE),
            omit: Omit::Empty,
            inline: true,
            ..FieldFacts::NONE
        },
    ],
    ..StructFacts::NONE
};

impl DynamicKind for CustomKind {
    fn zero(&self, facts: &ResourceFacts) -> Box<dyn Object> {
        Box::new(CustomObject::new(facts))
    }

    fn rename(&self, object: &dyn Object, target: &ResourceFacts) -> Box<dyn Object> {
        match object.as_custom() {
            Some(object) => Box::new(object.renamed(target)),
            None => object.boxed(),
        }
    }

    fn convert(&self, object: &dyn Object, target: &ResourceFacts) -> ApiResult<Box<dyn Object>> {
        match object.as_custom() {
            Some(object) => Ok(Box::new(convert(object, target)?)),
            None => Ok(object.boxed()),
        }
    }

    fn part<'o>(&self, object: &'o dyn Object, name: Option<&str>) -> Option<Cow<'o, Tree>> {
        object.as_custom()?.to_part(name)
    }
}

impl fmt::Debug for CustomKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomKind").finish_non_exhaustive()
    }
}

impl fmt::Debug for CustomVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomVersion")
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
