//! Derives the facts of a custom kind from its definition.

mod parts;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_dynamic::custom::{Checks, Converter, CustomKind, CustomVersion};
use planesmith_machinery::group_version::compare_versions;
use planesmith_machinery::json_path::{JsonPath, LazyPath};
use planesmith_machinery::resource::{
    Behavior, CellSource, Column, Generation, ResourceFacts, ResourceTable, ScaleFacts, SubresourceFacts,
    SubresourceKind, Text,
};

use crate::definition::{Definition, PrintedColumn, Version};
use parts::SharedParts;

/// The facts of definitions. They are kept until the definition changes or is forgotten, and freed when their last user is
/// gone.
pub struct KnownFacts {
    known: Mutex<DefinedFacts>,
    checks: fn() -> Arc<dyn Checks>,
    converter: ConverterOf,
}

/// The facts of definitions and the parts that they share.
#[derive(Default)]
struct DefinedFacts {
    /// Facts by the name of their definition, with a digest of it.
    definitions: HashMap<String, (Digest, Versions)>,
    parts: SharedParts,
}

/// Two hashes of everything that the facts depend on.
type Digest = (u64, u64);

/// Returns the converter for the objects of a definition; `None` if it needs none.
type ConverterOf = Box<dyn Fn(Definition<'_>) -> Option<Arc<dyn Converter>> + Send + Sync>;

/// The facts of each version of a definition, in its order.
type Versions = Arc<[ResourceFacts]>;

impl KnownFacts {
    /// Creates an empty cache. `checks` creates the checks for the objects of a schema.
    #[must_use]
    pub fn new(checks: fn() -> Arc<dyn Checks>) -> Self {
        Self {
            known: Mutex::default(),
            checks,
            converter: Box::new(|_| None),
        }
    }

    /// Converts objects between versions with the result of `converter` for their definition.
    #[must_use]
    pub fn converting(
        mut self,
        converter: impl Fn(Definition<'_>) -> Option<Arc<dyn Converter>> + Send + Sync + 'static,
    ) -> Self {
        self.converter = Box::new(converter);
        self
    }

    /// Returns the facts of each version of a definition, served or not, in the order of the definition; empty if it has no
    /// storage version. They are the same until the definition changes or is forgotten.
    #[must_use]
    pub fn of(&self, definition: Definition<'_>) -> Arc<[ResourceFacts]> {
        let digest = digest(definition);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((same, facts)) = known.definitions.get(definition.name())
            && *same == digest
        {
            return Arc::clone(facts);
        }
        let facts = self.make(definition, &mut known.parts);
        let name = definition.name().to_owned();
        if known.definitions.insert(name, (digest, Arc::clone(&facts))).is_some() {
            known.free_parts();
        }
        facts
    }

    /// Forgets the facts of a definition. Their users keep them alive.
    pub fn forget(&self, name: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.definitions.remove(name).is_some() {
            known.free_parts();
        }
    }

    fn make(&self, definition: Definition<'_>, parts: &mut SharedParts) -> Versions {
        let version = |version: Version<'_>| {
            let schema = parts.schema(version.schema());
            let checks = parts.checks(&schema, self.checks);
            let table = table(definition, version);
            CustomVersion { table, schema, checks }
        };
        let versions: Vec<CustomVersion> = definition.versions().map(version).collect();
        let Some(hub) = definition.versions().position(Version::is_stored) else {
            return Arc::default();
        };
        let converter = (self.converter)(definition);
        CustomKind::define(versions, hub, converter.as_ref()).into()
    }
}

impl DefinedFacts {
    /// Notes that facts are no longer known here, and frees the parts that nothing uses any more.
    fn free_parts(&mut self) {
        self.parts.note_forgotten(self.definitions.len());
    }
}

impl fmt::Debug for KnownFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownFacts").finish_non_exhaustive()
    }
}

/// Returns two hashes, because a single one would be too short to identify definitions.
fn digest(definition: Definition<'_>) -> Digest {
    let spec = definition.spec().to_string();
    let names = ["plural", "singular", "kind", "listKind"].map(|name| definition.accepted(name));
    let lists = ["shortNames", "categories"].map(|name| definition.accepted_list(name));
    let hash = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, &spec, names, &lists).hash(&mut hasher);
        hasher.finish()
    };
    (hash(0), hash(1))
}

fn table(definition: Definition<'_>, version: Version<'_>) -> ResourceTable {
    ResourceTable {
        group: shared_text(definition.group()),
        version: shared_text(version.name()),
        api_version: shared_text(format!("{}/{}", definition.group(), version.name())),
        kind: shared_text(definition.accepted("kind")),
        list_kind: shared_text(definition.accepted("listKind")),
        plural: shared_text(definition.accepted("plural")),
        singular: shared_text(definition.accepted("singular")),
        storage_name: shared_text(definition.accepted("plural")),
        short_names: texts(definition.accepted_list("shortNames")),
        categories: texts(definition.accepted_list("categories")),
        scope: definition.scope(),
        served: version.is_served(),
        hashed_version: shared_text(version.name()),
        deprecated: version.deprecation().map(|warning| match warning {
            "" => shared_text(usual_deprecation(definition, version)),
            warning => shared_text(warning),
        }),
        subresources: subresources(version),
        selectable: texts(version.selectable()),
        columns: columns(version),
        behavior: Behavior {
            // Without a status subresource, every change increments the generation.
            generation: Generation::Content,
            ..CustomKind::FACTS.behavior
        },
        ..CustomKind::FACTS
    }
}

fn subresources(version: Version<'_>) -> Cow<'static, [SubresourceFacts]> {
    let status = version.has_status().then_some(SubresourceFacts {
        name: "status",
        kind: SubresourceKind::Status,
    });
    let scale = version.scale().map(|paths| SubresourceFacts {
        name: "scale",
        kind: SubresourceKind::Scale(ScaleFacts {
            spec_replicas: shared_text(paths.spec),
            status_replicas: shared_text(paths.status),
            selector: shared_text(paths.selector),
        }),
    });
    status.into_iter().chain(scale).collect()
}

/// Returns the default deprecation warning of a version. It recommends the best version that is served and not deprecated,
/// if that is better than this one.
fn usual_deprecation(definition: Definition<'_>, version: Version<'_>) -> String {
    let (group, kind, old) = (definition.group(), definition.accepted("kind"), version.name());
    let better = definition
        .versions()
        .filter(|other| other.is_served() && other.deprecation().is_none())
        .map(Version::name)
        .filter(|other| compare_versions(other, old) == Ordering::Less)
        .min_by(|left, right| compare_versions(left, right));
    let advice = better.map_or(String::new(), |better| format!("; use {group}/{better} {kind}"));
    format!("{group}/{old} {kind} is deprecated{advice}")
}

/// Returns the columns of a version: the default ones if the version has none. As in kube-apiserver, a column whose path
/// cannot be parsed is omitted, and so are those after it.
fn columns(version: Version<'_>) -> Cow<'static, [Column]> {
    let mut columns = vec![Column::NAME];
    let has_path = |column: &PrintedColumn<'_>| JsonPath::parse(column.path()).is_ok();
    columns.extend(version.columns().take_while(has_path).map(column));
    if version.columns().next().is_none() {
        columns.push(Column {
            ty: shared_text("date"),
            ..Column::AGE
        });
    }
    columns.into()
}

fn column(column: PrintedColumn<'_>) -> Column {
    Column {
        name: shared_text(column.name()),
        ty: shared_text(column.ty()),
        format: shared_text(column.format()),
        doc: match column.description() {
            "" => shared_text(format!(
                "Custom resource definition column (in JSONPath format): {}",
                column.path()
            )),
            description => shared_text(description),
        },
        priority: column.priority(),
        source: source(column),
    }
}

fn source(column: PrintedColumn<'_>) -> CellSource {
    match (column.ty(), column.path()) {
        ("date", ".metadata.creationTimestamp") => Column::AGE.source,
        (_, path) => CellSource::DefinedPath(Arc::new(LazyPath::of(path.to_owned()))),
    }
}

fn shared_text(text: impl Into<String>) -> Text {
    Cow::Owned(text.into())
}

fn texts<'t>(all: impl IntoIterator<Item = &'t str>) -> Cow<'static, [Text]> {
    all.into_iter().map(shared_text).collect()
}

#[cfg(test)]
mod tests;
