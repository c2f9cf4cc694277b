//! The definitions, with all names resolved.
//!
//! Usage by renderers:
//!
//! - [`Model::packages`] -> [`PackageModel::groups`] -> [`Group::versions`] -> [`Version::kinds`] iterates over all kinds,
//!   sorted; versions are in the order of preference.
//! - A [`Kind`] holds the checked `#[resource(...)]` facts ([`ResourceModel`], the text form of `ResourceFacts`) and the path
//!   of its struct.
//! - [`Model::structure`] returns the [`Definition`] at a path: its fields with their facts and resolved [`Type`]s. A
//!   [`Type::Struct`] holds the path of another definition. Definitions can be recursive: keep a set of visited paths.
//! - [`Definition::fields`] contains inlined structs as fields with `facts.inline`; [`Model::json_fields`] flattens them.
//! - [`Model::at`] resolves a dotted path.
//!
//! A model exists only if the checks across types have passed ([`check`]).

mod build;
mod check;
mod leaf;
mod walk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use planesmith_codegen_core::resource::ResourceModel;
use planesmith_codegen_core::structure::{FieldModel, TypeMeta};

use super::package::Package;
use super::problem;
use super::source::{RustPath, Sources};
pub(crate) use leaf::Leaf;

/// All definitions.
#[derive(Debug)]
pub(crate) struct Model {
    /// The crates with groups: `api-defs` first, then the examples by folder.
    pub(crate) packages: Vec<PackageModel>,
    structs: BTreeMap<RustPath, Definition>,
}

/// The groups of a crate.
#[derive(Debug)]
pub(crate) struct PackageModel {
    /// The crate.
    pub(crate) package: Package,
    /// Its groups, by name.
    pub(crate) groups: Vec<Group>,
    /// The public paths of its types that have `kind` and `apiVersion` but are not objects, sorted.
    pub(crate) messages: Vec<RustPath>,
}

/// One API group.
#[derive(Debug)]
pub(crate) struct Group {
    /// The name, e.g. `apps`; empty for the core group.
    pub(crate) name: String,
    /// The folder and module, e.g. `core`.
    pub(crate) module: String,
    /// The versions, the preferred one first.
    pub(crate) versions: Vec<Version>,
}

/// One version of a group.
#[derive(Debug)]
pub(crate) struct Version {
    /// The name, e.g. `v1`.
    pub(crate) name: String,
    /// The path of the constant with its priorities in lists; `None` if it declares none.
    pub(crate) priority: Option<RustPath>,
    /// The kinds, by name.
    pub(crate) kinds: Vec<Kind>,
}

impl Version {
    /// True if any of its kinds is served.
    pub(crate) fn is_served(&self) -> bool {
        self.kinds.iter().any(|kind| kind.resource.served)
    }
}

/// A kind in one version.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The path of the declaration; the key for [`Model::structure`].
    pub(crate) path: RustPath,
    /// The path for imports from other crates.
    pub(crate) public: RustPath,
    /// The checked facts.
    pub(crate) resource: ResourceModel,
    /// The struct of the storage version; `None` if this is the storage version.
    pub(crate) hub: Option<RustPath>,
}

/// A struct.
#[allow(dead_code, reason = "the renderers of documents read all of it")]
#[derive(Debug)]
pub(crate) struct Definition {
    /// The path of the declaration.
    pub(crate) path: RustPath,
    /// The file, relative to the workspace.
    pub(crate) file: PathBuf,
    /// The name in error messages and OpenAPI.
    pub(crate) name: String,
    /// The description; paragraphs are separated by an empty line.
    pub(crate) doc: String,
    /// `kind` and `apiVersion`, written before the fields; `None` for none.
    pub(crate) type_meta: Option<TypeMeta>,
    /// True if apply owns and replaces the struct as a whole.
    pub(crate) atomic: bool,
    /// True if at most one of the fields besides the discriminator can be set.
    pub(crate) union: bool,
    /// The fields, in wire order.
    pub(crate) fields: Vec<Field>,
}

/// A field.
#[derive(Debug)]
pub(crate) struct Field {
    /// The declared facts.
    pub(crate) facts: FieldModel,
    /// The type of its values.
    pub(crate) ty: Type,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// `true` or `false`.
    Bool,
    /// Signed 32-bit integer.
    Int32,
    /// Signed 64-bit integer.
    Int64,
    /// 64-bit floating point number.
    Double,
    /// A string.
    String,
    /// A leaf of machinery: bytes, a time, a quantity.
    Leaf(Leaf),
    /// A struct; the key for [`Model::structure`].
    Struct(RustPath),
    /// Zero or more values in order.
    List(Box<Type>),
    /// Values by string key.
    Map(Box<Type>),
    /// A value that can be absent.
    Optional(Box<Type>),
}

impl Type {
    /// Returns the type without `Optional`.
    pub(crate) fn present(&self) -> &Type {
        match self {
            Self::Optional(inner) => inner.present(),
            other => other,
        }
    }

    /// Returns the struct inside lists, maps and options.
    pub(crate) fn structure(&self) -> Option<&RustPath> {
        match self {
            Self::Struct(path) => Some(path),
            Self::List(inner) | Self::Map(inner) | Self::Optional(inner) => inner.structure(),
            Self::Bool | Self::Int32 | Self::Int64 | Self::Double | Self::String | Self::Leaf(_) => None,
        }
    }
}

impl Model {
    /// Reads and checks the definitions of the workspace at `root`.
    ///
    /// # Errors
    ///
    /// The tree cannot be read, or the list of all problems in the definitions.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let mut problems = Vec::new();
        let sources = Sources::read(root, &mut problems)?;
        let model = build::build(&sources, &mut problems);
        if problems.is_empty() {
            check::check(&model, &mut problems);
        }
        if problems.is_empty() {
            Ok(model)
        } else {
            bail!("{}", problem::list(&problems))
        }
    }

    /// Returns the struct declared at `path`.
    pub(crate) fn structure(&self, path: &RustPath) -> &Definition {
        self.structs.get(path).expect("paths in a model lead to its structs")
    }

    /// Returns all structs, including those of machinery.
    pub(crate) fn structures(&self) -> impl Iterator<Item = &Definition> {
        self.structs.values()
    }

    /// Returns all kinds of all crates, with their group and version.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&Group, &Version, &Kind)> {
        let groups = self.packages.iter().flat_map(|package| &package.groups);
        groups.flat_map(|group| {
            let versions = group.versions.iter();
            versions.flat_map(move |version| version.kinds.iter().map(move |kind| (group, version, kind)))
        })
    }
}
