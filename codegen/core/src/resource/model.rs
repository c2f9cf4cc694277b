//! The checked facts of a kind; the text form of what machinery's `ResourceFacts` will hold.

use syn::Path;

use super::path_use::PathCheck;
use crate::structure::StructModel;

/// A kind in one version.
#[derive(Clone, Debug)]
pub struct ResourceModel {
    /// The struct and its fields.
    pub structure: StructModel,
    /// API group; empty for the core group.
    pub group: String,
    /// Version in the group.
    pub version: String,
    /// `v1` or `group/version`.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Kind of the list.
    pub list_kind: String,
    /// Resource name in paths.
    pub plural: String,
    /// Lower-case singular.
    pub singular: String,
    /// Resource name in the keys of the store.
    pub storage_name: String,
    /// The version that discovery says objects are stored in.
    pub hashed_version: String,
    /// Abbreviations.
    pub short_names: Vec<String>,
    /// Groups of resources.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Whether the version is reachable.
    pub served: bool,
    /// Warning of a deprecated version.
    pub deprecated: Option<String>,
    /// The Rust type of the storage version, as written; `None` when this is the storage version.
    pub storage_version: Option<Path>,
    /// Whether the kind implements `Convert` by hand.
    pub convert: bool,
    /// Subresources, sorted by name.
    pub subresources: Vec<Subresource>,
    /// Dotted paths that a field selector may name.
    pub selectable: Vec<String>,
    /// Printed columns.
    pub columns: Vec<ColumnModel>,
    /// The types of the paths in the keys above.
    pub paths: Vec<PathCheck>,
    /// What a legal name is.
    pub name_rule: NameRule,
    /// Deviations from the usual handling of writes.
    pub behavior: BehaviorModel,
    /// Whether the kind implements `Rules` by hand.
    pub rules: bool,
}

/// A path below an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// Last path segment.
    pub name: String,
    /// What it does.
    pub kind: SubresourceKind,
}

/// What a subresource does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubresourceKind {
    /// Reads the object, writes its `status`.
    Status,
    /// An `autoscaling/v1` Scale over the object.
    Scale(ScaleModel),
    /// Served by a handler that is registered by name.
    Other,
}

/// Where a scale finds its numbers; dotted paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleModel {
    /// Wanted replicas.
    pub spec_replicas: String,
    /// Observed replicas.
    pub status_replicas: String,
    /// The selector; may be empty.
    pub selector: String,
}

/// One printed column.
#[derive(Clone, Debug)]
pub struct ColumnModel {
    /// Heading.
    pub name: String,
    /// OpenAPI type of the cells.
    pub ty: String,
    /// OpenAPI format.
    pub format: String,
    /// Description.
    pub doc: String,
    /// 0 is always shown.
    pub priority: i32,
    /// Where the cells come from.
    pub source: CellSource,
}

/// Where the cells of a column come from.
#[derive(Clone, Debug)]
pub enum CellSource {
    /// The standard Name column.
    Name,
    /// The standard Age column.
    Age,
    /// A dotted path into the object.
    Path(String),
    /// A path in kubectl's notation, without the dot in front.
    JsonPath(String),
    /// A function beside the kind.
    Function(Path),
}

impl CellSource {
    /// What a path says. One that says more than names with dots between them is in kubectl's notation: which elements of
    /// lists it leads to, or a name with a dot in it.
    #[must_use]
    pub fn of_path(path: String) -> Self {
        match path.contains(['[', '\\', '*']) || path.contains("..") {
            true => Self::JsonPath(path),
            false => Self::Path(path),
        }
    }

    /// The name of the field that a path starts at; empty when it does not start at a field.
    #[must_use]
    pub fn first_name(path: &str) -> &str {
        path.split(['.', '[', '\\', '*']).next().unwrap_or_default()
    }
}

/// What a legal object name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// RFC 1123 subdomain.
    DnsSubdomain,
    /// RFC 1123 label.
    DnsLabel,
    /// RFC 1035 label.
    DnsLabel1035,
    /// Key of a ConfigMap.
    ConfigKey,
    /// Anything between two slashes.
    PathSegment,
    /// RFC 1123 subdomain, whatever the prefix was that it was generated from.
    LongName,
    /// IP address in its canonical form.
    IpAddress,
}

/// Deviations of a kind from the usual handling of writes and tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BehaviorModel {
    /// `metadata.generation` is counted.
    pub generation: bool,
    /// PUT creates a missing object.
    pub create_on_update: bool,
    /// PUT must carry a resourceVersion.
    pub conditional_update: bool,
    /// DELETE answers with the object.
    pub returns_deleted: bool,
    /// There is no collection to delete at once.
    pub no_delete_collection: bool,
    /// A creator may say the status.
    pub status_on_create: bool,
    /// Objects are answered instead of stored.
    pub create_only: bool,
    /// Objects are made when they are asked for.
    pub read_only: bool,
    /// Paths that writers of the object never come to manage.
    pub resets: Vec<String>,
    /// Paths that writers of the status never come to manage.
    pub status_resets: Vec<String>,
    /// Path of the number that orders the rows of tables; empty for the order of names.
    pub rows_by: String,
}
