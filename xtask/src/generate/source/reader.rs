//! Reads a crate from `lib.rs` along its `mod` items, as the compiler does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::RustPath;
use super::module::{Module, is_for_tests};
use crate::generate::files;
use crate::generate::package::{Package, Role};
use crate::generate::problem::Problem;

/// Reads modules into a map; errors in them are reported as problems.
pub(super) struct Reader<'a> {
    root: &'a Path,
    problems: &'a mut Vec<Problem>,
    /// The modules read so far.
    pub(super) modules: BTreeMap<RustPath, Module>,
    /// Files that belong to a module, including modules that are not read.
    met: BTreeSet<PathBuf>,
    /// Folders of modules that are not read.
    passed: Vec<PathBuf>,
}

/// A module to be read.
struct ModuleFile<'a> {
    path: RustPath,
    file: &'a Path,
    /// The folder of its child modules.
    folder: PathBuf,
    public: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(root: &'a Path, problems: &'a mut Vec<Problem>) -> Self {
        Self {
            root,
            problems,
            modules: BTreeMap::new(),
            met: BTreeSet::new(),
            passed: Vec::new(),
        }
    }

    /// Reads a crate. In crates with definitions, files that belong to no module are reported.
    pub(super) fn package(&mut self, package: &Package) -> Result<()> {
        let sources = package.folder.join("src");
        let lib = sources.join("lib.rs");
        let path = RustPath(vec![package.crate_name()]);
        self.file(ModuleFile {
            path,
            file: &lib,
            folder: sources.clone(),
            public: true,
        })?;
        if package.role != Role::Library {
            self.report_forgotten(&sources)?;
        }
        Ok(())
    }

    fn file(&mut self, module_file: ModuleFile<'_>) -> Result<()> {
        let full = self.root.join(module_file.file);
        let text = std::fs::read_to_string(&full).with_context(|| format!("reading {}", full.display()))?;
        self.met.insert(module_file.file.to_owned());
        match syn::parse_file(&text) {
            Ok(parsed) => self.module(module_file, &parsed.items),
            Err(error) => {
                self.passed.push(module_file.folder);
                self.report(
                    module_file.file,
                    String::new(),
                    format!("not Rust: {error}"),
                    "`cargo check` shows the line".to_owned(),
                );
                Ok(())
            }
        }
    }

    /// Adds a module and its descendants.
    fn module(&mut self, module_file: ModuleFile<'_>, items: &[syn::Item]) -> Result<()> {
        let module = Module::read(module_file.file, module_file.public, items);
        for child in items {
            let syn::Item::Mod(child) = child else { continue };
            let name = child.ident.to_string();
            let public = matches!(child.vis, syn::Visibility::Public(_));
            let (path, folder) = (module_file.path.join(&name), module_file.folder.join(&name));
            let for_tests = is_for_tests(&child.attrs);
            match &child.content {
                Some(_) if for_tests => {}
                Some((_, items)) => self.module(
                    ModuleFile {
                        path,
                        file: module_file.file,
                        folder,
                        public,
                    },
                    items,
                )?,
                None => {
                    let candidates = [folder.with_extension("rs"), folder.join("mod.rs")];
                    let file = candidates.iter().find(|candidate| self.root.join(candidate).is_file());
                    match file {
                        Some(file) if for_tests => {
                            self.met.insert(file.clone());
                            self.passed.push(folder);
                        }
                        Some(file) => self.file(ModuleFile {
                            path,
                            file,
                            folder,
                            public,
                        })?,
                        // A generated module does not exist before the first run.
                        None if name == "generated" || for_tests => {}
                        None => {
                            let help = format!("write {}", candidates[0].display());
                            let what = "the module has no file".to_owned();
                            self.report(module_file.file, format!("mod {name}"), what, help);
                        }
                    }
                }
            }
        }
        self.modules.insert(module_file.path, module);
        Ok(())
    }

    /// Reports files that belong to no module: their definitions would silently be missing.
    fn report_forgotten(&mut self, sources: &Path) -> Result<()> {
        let mut files = BTreeSet::new();
        files::list(self.root, sources, &mut files)?;
        let binaries = [
            sources.join("main.rs"),
            sources.join("bin"),
            sources.join("generated"),
            sources.join("generated.rs"),
        ];
        for file in files {
            let is_rust = file.extension().is_some_and(|extension| extension == "rs");
            let below = |folders: &[PathBuf]| folders.iter().any(|folder| file.starts_with(folder));
            if !is_rust || self.met.contains(&file) || below(&self.passed) || below(&binaries) {
                continue;
            }
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let help = format!("add `mod {name};` to the module above it, or remove the file");
            self.report(&file, String::new(), "no module names this file".to_owned(), help);
        }
        Ok(())
    }

    fn report(&mut self, file: &Path, item: String, what: String, help: String) {
        self.problems.push(Problem {
            file: file.to_owned(),
            item,
            what,
            help,
        });
    }
}
