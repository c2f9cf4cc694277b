//! The crates with definitions, and the locations of their generated files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A crate whose sources are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// The package name, e.g. `planesmith-shop`.
    pub(crate) name: String,
    /// The folder, relative to the workspace.
    pub(crate) folder: PathBuf,
    /// The role of the crate.
    pub(crate) role: Role,
    /// True if it has a module `admission` with its server's plugins.
    pub(crate) has_admission: bool,
    /// True if it has a module `components` with what its server does beyond storing and serving kinds.
    pub(crate) has_components: bool,
    /// True if it has a module `samples` with adjustments of random objects, for tests.
    pub(crate) has_samples: bool,
}

/// The role of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Provides types for definitions; nothing is generated for it.
    Library,
    /// Declares the built-in groups; their files are generated in the `generated` crate.
    BuiltIn,
    /// Declares a user's groups; their files are generated in the crate itself.
    Own,
}

impl Package {
    /// Returns the name in Rust paths, e.g. `planesmith_shop`.
    pub(crate) fn crate_name(&self) -> String {
        self.name.replace('-', "_")
    }
}

/// The crate that provides the types for definitions.
pub(crate) const MACHINERY: &str = "runtime/machinery";
/// The crate of the built-in groups.
pub(crate) const API_DEFS: &str = "api-defs";
/// The folder of crates with custom groups.
pub(crate) const EXAMPLES: &str = "examples";

/// Returns all crates to read, machinery first, then by folder.
pub(crate) fn find(root: &Path) -> Result<Vec<Package>> {
    let mut packages = Vec::new();
    for (folder, role) in [(MACHINERY, Role::Library), (API_DEFS, Role::BuiltIn)] {
        packages.push(package(root, PathBuf::from(folder), role)?);
    }
    let examples = root.join(EXAMPLES);
    if examples.is_dir() {
        let mut folders = Vec::new();
        for entry in std::fs::read_dir(&examples).with_context(|| format!("reading {}", examples.display()))? {
            let folder = Path::new(EXAMPLES).join(entry?.file_name());
            if root.join(&folder).join("Cargo.toml").is_file() {
                folders.push(folder);
            }
        }
        folders.sort();
        for folder in folders {
            packages.push(package(root, folder, Role::Own)?);
        }
    }
    Ok(packages)
}

fn package(root: &Path, folder: PathBuf, role: Role) -> Result<Package> {
    let manifest = root.join(&folder).join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).with_context(|| format!("reading {}", manifest.display()))?;
    let name = package_name(&text).with_context(|| format!("{} has no `name = \"...\"`", manifest.display()))?;
    Ok(Package {
        name: name.to_owned(),
        has_admission: root.join(&folder).join("src/admission.rs").is_file(),
        has_components: root.join(&folder).join("src/components.rs").is_file(),
        has_samples: root.join(&folder).join("src/samples.rs").is_file(),
        folder,
        role,
    })
}

/// Returns the first `name = "..."` of a manifest, which is that of `[package]`.
fn package_name(manifest: &str) -> Option<&str> {
    let value = manifest
        .lines()
        .find_map(|line| line.trim().strip_prefix("name")?.trim().strip_prefix('='))?;
    value.trim().strip_prefix('"')?.strip_suffix('"')
}
