//! Derives the facts of a custom kind from its definition.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_dynamic::custom::{Checks, Converter, CustomKind};
use planesmith_dynamic::structural::{SharedSchemas, Structural};
use planesmith_machinery::group_version::compare_versions;
use planesmith_machinery::json_path::LazyPath;
use planesmith_machinery::resource::{
    Behavior, CellSource, Column, ResourceFacts, ScaleFacts, SubresourceFacts, SubresourceKind,
};

use crate::definition::{Definition, PrintedColumn, Version};

/// The facts of all definitions served so far. Facts live as long as the process, so an unchanged definition that reappears
/// reuses them.
pub struct KnownFacts {
    cached: Mutex<CachedFacts>,
    checks: fn() -> Arc<dyn Checks>,
    converter: ConverterOf,
}

/// The cached facts and the parts that they share.
#[derive(Default)]
struct CachedFacts {
    /// Facts by a digest of their definition.
    versions: HashMap<(u64, u64), Versions>,
    /// The shared parts of all schemas.
    schemas: SharedSchemas,
    /// Checks by the address of a schema, so that versions with the same schema share the compiled rules.
    checks: HashMap<usize, Arc<dyn Checks>>,
}

/// Returns the converter for the objects of a definition; `None` if it needs none.
type ConverterOf = Box<dyn Fn(Definition<'_>) -> Option<Arc<dyn Converter>> + Send + Sync>;

/// The facts of each version of a definition, in its order.
type Versions = Arc<[&'static ResourceFacts]>;

impl KnownFacts {
    /// Creates an empty cache. `checks` creates the checks for the objects of a schema.
    #[must_use]
    pub fn new(checks: fn() -> Arc<dyn Checks>) -> Self {
        Self {
            cached: Mutex::default(),
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
    /// storage version.
    #[must_use]
    pub fn of(&self, definition: Definition<'_>) -> Arc<[&'static ResourceFacts]> {
        let digest = digest(definition);
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = cached.versions.get(&digest) {
            return Arc::clone(facts);
        }
        let facts = self.make(definition, &mut cached);
        cached.versions.insert(digest, Arc::clone(&facts));
        facts
    }

    fn make(&self, definition: Definition<'_>, cached: &mut CachedFacts) -> Versions {
        let make = |version: Version<'_>| {
            let schema = Structural::compile_shared(version.schema(), &mut cached.schemas);
            let place = Arc::as_ptr(&schema).addr();
            let checks = cached.checks.entry(place).or_insert_with(self.checks);
            CustomKind::leak(facts(definition, version), schema, Arc::clone(checks))
        };
        let all: Vec<&'static ResourceFacts> = definition.versions().map(make).collect();
        let Some(hub) = definition.versions().position(Version::is_stored) else {
            return Arc::default();
        };
        CustomKind::join(&all, all[hub]);
        if let Some(converter) = (self.converter)(definition) {
            CustomKind::convert_by(&all, &converter);
        }
        all.into()
    }
}

impl fmt::Debug for KnownFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownFacts").finish_non_exhaustive()
    }
}

/// Returns two hashes of everything that the facts depend on; a single hash would be too short to identify definitions.
fn digest(definition: Definition<'_>) -> (u64, u64) {
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

fn facts(definition: Definition<'_>, version: Version<'_>) -> ResourceFacts {
    let group = leak(definition.group());
    let kind = leak(definition.accepted("kind"));
    let plural = leak(definition.accepted("plural"));
    let version_name = leak(version.name());
    ResourceFacts {
        group,
        version: version_name,
        api_version: leak(&format!("{group}/{version_name}")),
        kind,
        list_kind: leak(definition.accepted("listKind")),
        plural,
        singular: leak(definition.accepted("singular")),
        storage_name: plural,
        short_names: leak_all(definition.accepted_list("shortNames")),
        categories: leak_all(definition.accepted_list("categories")),
        scope: definition.scope(),
        served: version.is_served(),
        hashed_version: version_name,
        deprecated: version.deprecation().map(|warning| match warning {
            "" => leak(&usual_deprecation(definition, version)),
            warning => leak(warning),
        }),
        subresources: subresources(version),
        selectable: leak_all(version.selectable()),
        columns: columns(version),
        behavior: Behavior {
            // Without a status subresource, every change increments the generation.
            generation: true,
            ..CustomKind::FACTS.behavior
        },
        ..CustomKind::FACTS
    }
}

fn subresources(version: Version<'_>) -> &'static [SubresourceFacts] {
    let status = version.has_status().then_some(SubresourceFacts {
        name: "status",
        kind: SubresourceKind::Status,
    });
    let scale = version.scale().map(|paths| SubresourceFacts {
        name: "scale",
        kind: SubresourceKind::Scale(ScaleFacts {
            spec_replicas: leak(paths.spec),
            status_replicas: leak(paths.status),
            selector: leak(paths.selector),
        }),
    });
    leak_slice(status.into_iter().chain(scale).collect())
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

fn columns(version: Version<'_>) -> &'static [Column] {
    const USUAL: &[Column] = &[
        Column::NAME,
        Column {
            ty: "date",
            ..Column::AGE
        },
    ];
    let columns: Vec<Column> = version.columns().map(column).collect();
    if columns.is_empty() {
        return USUAL;
    }
    let mut all = vec![Column::NAME];
    all.extend(columns);
    leak_slice(all)
}

fn column(column: PrintedColumn<'_>) -> Column {
    Column {
        name: leak(column.name()),
        ty: leak(column.ty()),
        format: leak(column.format()),
        doc: match column.description() {
            "" => leak(&format!(
                "Custom resource definition column (in JSONPath format): {}",
                column.path()
            )),
            description => leak(description),
        },
        priority: column.priority(),
        source: source(column),
    }
}

fn source(column: PrintedColumn<'_>) -> CellSource {
    match (column.ty(), column.path()) {
        ("date", ".metadata.creationTimestamp") => Column::AGE.source,
        (_, path) => CellSource::JsonPath(Box::leak(Box::new(LazyPath::new(leak(path))))),
    }
}

fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn leak_all<'t>(texts: impl IntoIterator<Item = &'t str>) -> &'static [&'static str] {
    leak_slice(texts.into_iter().map(leak).collect())
}

fn leak_slice<T>(items: Vec<T>) -> &'static [T] {
    Box::leak(items.into_boxed_slice())
}

#[cfg(test)]
mod tests;
