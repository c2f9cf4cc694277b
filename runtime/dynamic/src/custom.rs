//! Kinds that are defined at run time, and their objects.
//!
//! A custom kind has the same facts as a declared one, created from its definition instead of by a derive, so that the
//! same code serves both. Facts live as long as the process: a definition that is restored unchanged should reuse its
//! former facts.

mod member;
mod object;
mod strategy;
mod versions;

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use planesmith_machinery::facts::{FieldFacts, Omit, StructFacts, TypeFacts, TypeMetaFacts};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{Behavior, DynamicKind, NameRule, ResourceFacts, Scope, SubresourceKind};
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::strategy::{Extensions, NoStrategy};
use planesmith_machinery::value::Shape;
use serde_json::Value as Tree;

pub use object::{AsCustom, CustomObject, decode, decode_stored, read_applied, read_document};
pub use versions::{Converter, Converting, convert, convert_later, document_in, needs_converter, read, read_all};

use crate::structural::{Additional, Structural};
use strategy::CustomStrategy;

/// The part of a custom kind that goes beyond the facts of every kind.
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
    /// The custom kind behind `facts`; `None` for a kind with a type of its own.
    #[must_use]
    pub fn of(facts: &ResourceFacts) -> Option<&'static CustomKind> {
        let kind: &dyn Any = facts.custom?;
        kind.downcast_ref()
    }

    /// The facts of a custom kind, for as long as the process lives. Of `facts`, what stands for the type is replaced:
    /// `schema`, `new`, `strategy`, `extensions` and `custom`.
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
        facts.strategy = &CustomStrategy;
        facts.extensions = strategy::EXTENSIONS;
        facts.conversion = None;
        facts.custom = Some(kind);
        Box::leak(Box::new(facts))
    }

    /// Joins facts as the versions of one kind with the storage version `hub`. Facts that are already joined remain so.
    pub fn join(all: &[&'static ResourceFacts], hub: &'static ResourceFacts) {
        for custom in all.iter().filter_map(|facts| CustomKind::of(facts)) {
            let _ = custom.versions.set(Versions { all: all.to_vec(), hub });
        }
    }

    /// Sets the converter between these versions. Only the first call has an effect.
    pub fn convert_by(all: &[&'static ResourceFacts], converter: &Arc<dyn Converter>) {
        for custom in all.iter().filter_map(|facts| CustomKind::of(facts)) {
            let _ = custom.converter.set(Arc::clone(converter));
        }
    }

    /// True if objects of other versions are converted by a [`Converter`].
    #[must_use]
    pub fn has_converter(&'static self) -> bool {
        self.converter().is_some()
    }

    fn converter(&'static self) -> Option<&'static dyn Converter> {
        self.converter.get().map(|converter| &**converter)
    }

    /// The schema of objects.
    #[must_use]
    pub fn schema(&self) -> &Structural {
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
}

impl CustomKind {
    /// The facts of a custom kind to start from: names and versions are empty, nothing is declared.
    pub const FACTS: ResourceFacts = ResourceFacts {
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
        scope: Scope::Namespaced,
        served: true,
        deprecated: None,
        conversion: None,
        subresources: &[],
        selectable: &[],
        columns: &[],
        name_rule: NameRule::DnsSubdomain,
        behavior: Behavior {
            generation: true,
            conditional_update: true,
            ..Behavior::NONE
        },
        schema: || &StructFacts::NONE,
        new: || Box::new(CustomObject::of_no_kind()),
        strategy: &NoStrategy,
        extensions: Extensions::NONE,
        custom: None,
    };
}

impl DynamicKind for CustomKind {
    fn hub(&self) -> Option<&'static ResourceFacts> {
        self.versions.get().map(|versions| versions.hub)
    }

    fn version(&self, api_version: &str) -> Option<&'static ResourceFacts> {
        let versions = self.versions.get()?;
        versions
            .all
            .iter()
            .copied()
            .find(|facts| facts.api_version == api_version)
    }

    fn fields(&self) -> &StructFacts {
        &self.fields
    }

    fn zero(&self, facts: &'static ResourceFacts) -> Box<dyn Object> {
        Box::new(CustomObject::new(facts))
    }

    fn rename(&self, object: &dyn Object, target: &'static ResourceFacts) -> Box<dyn Object> {
        match object.as_custom() {
            Some(object) => Box::new(object.renamed(target)),
            None => object.boxed(),
        }
    }

    fn convert(&self, object: &dyn Object, target: &'static ResourceFacts) -> ApiResult<Box<dyn Object>> {
        match object.as_custom() {
            Some(object) => Ok(Box::new(convert(object, target)?)),
            None => Ok(object.boxed()),
        }
    }

    fn part<'o>(&self, object: &'o dyn Object, name: Option<&str>) -> Cow<'o, Tree> {
        match object.as_custom() {
            Some(object) => object.to_part(name),
            None => Cow::Owned(Tree::Null),
        }
    }
}

impl fmt::Debug for CustomKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomKind")
            .field("fields", &self.fields.name)
            .finish_non_exhaustive()
    }
}

/// Returns the top-level table of an object: metadata, a field for each property, and an inlined map for the rest.
fn fields(facts: &ResourceFacts, schema: &Structural) -> StructFacts {
    const TREE: TypeFacts = TypeFacts::Optional(&<Tree as Shape>::TYPE);
    const REST: TypeFacts = TypeFacts::Map(&<Tree as Shape>::TYPE);
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
        ty: <ObjectMeta as Shape>::TYPE,
        ..FieldFacts::NONE
    }];
    fields.extend(names.into_iter().map(|name| FieldFacts {
        name: leak_text(name),
        ty: TREE,
        ..FieldFacts::NONE
    }));
    if schema.preserve_unknown || schema.additional != Additional::None {
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

#[cfg(test)]
mod tests;
