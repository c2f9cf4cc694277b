//! What the definitions say, with every name resolved.
//!
//! How a renderer uses it:
//!
//! - [`Model::packages`] -> [`PackageModel::groups`] -> [`Group::versions`] -> [`Version::kinds`] walks what is served,
//!   sorted; versions come in the order in which clients prefer them.
//! - A [`Kind`] holds the checked `#[resource(...)]` facts ([`ResourceModel`], the text form of `ResourceFacts`) and the
//!   path of its struct.
//! - [`Model::structure`] gives the [`Definition`] of a path: its fields with their facts and resolved [`Type`]s. A
//!   [`Type::Struct`] holds the path of another definition, so recursion is possible: keep a set of visited paths.
//! - [`Definition::fields`] has inlined structs as fields with `facts.inline`; [`Model::json_fields`] has them flat.
//! - [`Model::at`] walks a dotted path.
//!
//! A model only exists when the checks that need several types at once have passed ([`check`]).

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

/// Everything that was found.
#[derive(Debug)]
pub(crate) struct Model {
    /// The crates with groups: `api-defs` first, then those of `examples` by folder.
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
    /// The paths by which other crates import its types that say what they are and are no objects, sorted.
    pub(crate) messages: Vec<RustPath>,
}

/// One API group.
#[derive(Debug)]
pub(crate) struct Group {
    /// E.g. `apps`; empty for the core group.
    pub(crate) name: String,
    /// Its folder and module, e.g. `core`.
    pub(crate) module: String,
    /// Its versions, the preferred one first.
    pub(crate) versions: Vec<Version>,
}

/// One version of a group.
#[derive(Debug)]
pub(crate) struct Version {
    /// E.g. `v1`.
    pub(crate) name: String,
    /// Its kinds, by name.
    pub(crate) kinds: Vec<Kind>,
}

impl Version {
    /// Whether clients reach any of its kinds.
    pub(crate) fn is_served(&self) -> bool {
        self.kinds.iter().any(|kind| kind.resource.served)
    }
}

/// One kind in one version.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Where the struct is declared; the key for [`Model::structure`].
    pub(crate) path: RustPath,
    /// The path by which other crates import it.
    pub(crate) public: RustPath,
    /// The checked facts.
    pub(crate) resource: ResourceModel,
    /// The struct of the storage version; `None` when this is the storage version.
    pub(crate) hub: Option<RustPath>,
}

/// One struct.
#[allow(dead_code, reason = "the renderers of documents read all of it")]
#[derive(Debug)]
pub(crate) struct Definition {
    /// Where it is declared.
    pub(crate) path: RustPath,
    /// The file, relative to the workspace.
    pub(crate) file: PathBuf,
    /// The name that error messages and OpenAPI show.
    pub(crate) name: String,
    /// Description; paragraphs are separated by an empty line.
    pub(crate) doc: String,
    /// `kind` and `apiVersion` in front of the fields.
    pub(crate) type_meta: Option<TypeMeta>,
    /// Owned and replaced as a whole.
    pub(crate) atomic: bool,
    /// At most one of the fields besides the discriminator is set.
    pub(crate) union: bool,
    /// The fields, in wire order.
    pub(crate) fields: Vec<Field>,
}

/// One field.
#[derive(Debug)]
pub(crate) struct Field {
    /// What was declared about it.
    pub(crate) facts: FieldModel,
    /// What it holds.
    pub(crate) ty: Type,
}

/// What a field holds.
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
    /// Text.
    String,
    /// A leaf of machinery: bytes, a time, a quantity.
    Leaf(Leaf),
    /// A struct; the key for [`Model::structure`].
    Struct(RustPath),
    /// Zero or more values in order.
    List(Box<Type>),
    /// Values by text key.
    Map(Box<Type>),
    /// A value that can be absent.
    Optional(Box<Type>),
}

impl Type {
    /// The type without the possibility of absence.
    pub(crate) fn present(&self) -> &Type {
        match self {
            Self::Optional(inner) => inner.present(),
            other => other,
        }
    }

    /// The struct at the bottom of lists, maps and options.
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
    /// When the tree cannot be read, or with the list of everything that is wrong with the definitions.
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

    /// The struct declared at `path`.
    pub(crate) fn structure(&self, path: &RustPath) -> &Definition {
        self.structs.get(path).expect("paths in a model lead to its structs")
    }

    /// All structs by path, those of machinery included.
    pub(crate) fn structures(&self) -> impl Iterator<Item = &Definition> {
        self.structs.values()
    }

    /// All kinds of all crates, with the group and version that they are in.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&Group, &Version, &Kind)> {
        let groups = self.packages.iter().flat_map(|package| &package.groups);
        groups.flat_map(|group| {
            let versions = group.versions.iter();
            versions.flat_map(move |version| version.kinds.iter().map(move |kind| (group, version, kind)))
        })
    }
}
