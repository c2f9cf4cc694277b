//! The sources of all crates with definitions: their modules, items and imports.
//!
//! A crate is followed from `lib.rs` along its `mod` items, as the compiler does. Only what names need is kept.

mod module;
mod names;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::package::{self, Package, Role};
use super::problem::Problem;
pub(crate) use module::{Derive, Item, Module, Written};

/// A path to an item, from its crate on: `planesmith_api_defs::core::v1::ConfigMap`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RustPath(pub(crate) Vec<String>);

impl RustPath {
    /// The path one step down.
    pub(crate) fn join(&self, name: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(name.to_owned());
        Self(segments)
    }

    /// The path one step up; `None` for a crate.
    pub(crate) fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_last()?;
        (!rest.is_empty()).then(|| Self(rest.to_vec()))
    }

    /// The last segment.
    pub(crate) fn name(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    /// The first segment.
    pub(crate) fn crate_name(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }
}

impl fmt::Display for RustPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.join("::"))
    }
}

/// All modules of all crates that were read.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The crates, machinery first.
    pub(crate) packages: Vec<Package>,
    modules: BTreeMap<RustPath, Module>,
}

impl Sources {
    /// Reads the crates of the workspace at `root`; what does not parse is a problem, not an error.
    pub(crate) fn read(root: &Path, problems: &mut Vec<Problem>) -> Result<Self> {
        let mut sources = Self {
            packages: package::find(root)?,
            modules: BTreeMap::new(),
        };
        for package in sources.packages.clone() {
            let lib = package.folder.join("src/lib.rs");
            let path = RustPath(vec![package.crate_name()]);
            sources.read_file(root, &lib, path, true, problems)?;
        }
        Ok(sources)
    }

    /// The module at `path`.
    pub(crate) fn module(&self, path: &RustPath) -> Option<&Module> {
        self.modules.get(path)
    }

    /// All modules of a crate, by path.
    pub(crate) fn modules_of(&self, package: &Package) -> impl Iterator<Item = (&RustPath, &Module)> {
        let name = package.crate_name();
        self.modules.iter().filter(move |(path, _)| path.crate_name() == name)
    }

    /// Whether the types of a crate may come from macros, which are not read.
    fn is_library(&self, crate_name: &str) -> bool {
        self.packages
            .iter()
            .any(|package| package.role == Role::Library && package.crate_name() == crate_name)
    }

    fn read_file(
        &mut self,
        root: &Path,
        file: &Path,
        path: RustPath,
        public: bool,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        let full = root.join(file);
        let text = std::fs::read_to_string(&full).with_context(|| format!("reading {}", full.display()))?;
        match syn::parse_file(&text) {
            Ok(parsed) => self.add_module(root, file, path, public, &parsed.items, problems),
            Err(error) => {
                problems.push(Problem {
                    file: file.to_owned(),
                    item: String::new(),
                    what: format!("not Rust: {error}"),
                    help: "`cargo check` shows the line".to_owned(),
                });
                Ok(())
            }
        }
    }

    /// Adds a module and those below it.
    fn add_module(
        &mut self,
        root: &Path,
        file: &Path,
        path: RustPath,
        public: bool,
        items: &[syn::Item],
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        let module = Module::read(file, public, items);
        for child in items {
            let syn::Item::Mod(child) = child else { continue };
            if module::is_for_tests(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let public = matches!(child.vis, syn::Visibility::Public(_));
            let below = path.join(&name);
            if let Some((_, items)) = &child.content {
                self.add_module(root, file, below, public, items, problems)?;
                continue;
            }
            let candidates = module_files(file, &name);
            match candidates.iter().find(|candidate| root.join(candidate).is_file()) {
                Some(found) => self.read_file(root, found, below, public, problems)?,
                // A module that is itself generated is missing on the first run.
                None if name == "generated" => {}
                None => problems.push(Problem {
                    file: file.to_owned(),
                    item: format!("mod {name}"),
                    what: "the module has no file".to_owned(),
                    help: format!("write {}", candidates[0].display()),
                }),
            }
        }
        self.modules.insert(path, module);
        Ok(())
    }
}

/// Where `mod name;` in `file` may be: `foo/name.rs`, then `foo/name/mod.rs`.
fn module_files(file: &Path, name: &str) -> [PathBuf; 2] {
    let is_root = file
        .file_name()
        .is_some_and(|file| file == "lib.rs" || file == "main.rs" || file == "mod.rs");
    let folder = if is_root {
        file.parent().unwrap_or(file).to_owned()
    } else {
        file.with_extension("")
    };
    [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")]
}
