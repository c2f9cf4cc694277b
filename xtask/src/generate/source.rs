//! The sources of all crates with definitions: their modules, items and imports.
//!
//! A crate is read from `lib.rs` along its `mod` items, as by the compiler. Only information that name resolution needs is
//! stored.

mod module;
mod names;
mod reader;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::Result;

use super::package::{self, Package, Role};
use super::problem::Problem;
pub(crate) use module::{Derive, Item, Module, PRIORITY, Written};
use reader::Reader;

/// The absolute path of an item: `planesmith_api_defs::core::v1::ConfigMap`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RustPath(pub(crate) Vec<String>);

impl RustPath {
    /// Returns the path of a child.
    pub(crate) fn join(&self, name: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(name.to_owned());
        Self(segments)
    }

    /// Returns the path of the parent; `None` for a crate.
    pub(crate) fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_last()?;
        (!rest.is_empty()).then(|| Self(rest.to_vec()))
    }

    /// Returns the last segment.
    pub(crate) fn name(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    /// Returns the first segment.
    pub(crate) fn crate_name(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }
}

impl fmt::Display for RustPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.join("::"))
    }
}

/// All modules of all crates with definitions.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The crates, machinery first.
    pub(crate) packages: Vec<Package>,
    modules: BTreeMap<RustPath, Module>,
    /// The public paths of definitions; computed on first use.
    public: OnceCell<BTreeMap<RustPath, RustPath>>,
}

impl Sources {
    /// Reads the crates of the workspace at `root`; syntax errors are added to `problems`.
    pub(crate) fn read(root: &Path, problems: &mut Vec<Problem>) -> Result<Self> {
        let packages = package::find(root)?;
        let mut reader = Reader::new(root, problems);
        for package in &packages {
            reader.package(package)?;
        }
        let modules = reader.modules;
        Ok(Self {
            packages,
            modules,
            public: OnceCell::new(),
        })
    }

    /// Returns the module at `path`.
    pub(crate) fn module(&self, path: &RustPath) -> Option<&Module> {
        self.modules.get(path)
    }

    /// Returns all modules of a crate, by path.
    pub(crate) fn modules_of(&self, package: &Package) -> impl Iterator<Item = (&RustPath, &Module)> {
        let name = package.crate_name();
        self.modules.iter().filter(move |(path, _)| path.crate_name() == name)
    }

    /// True if the crate's types can come from macros, which are not expanded.
    fn is_library(&self, crate_name: &str) -> bool {
        self.packages
            .iter()
            .any(|package| package.role == Role::Library && package.crate_name() == crate_name)
    }
}
