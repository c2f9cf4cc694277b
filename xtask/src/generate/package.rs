//! The crates that hold definitions, and where the text generated from them goes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A crate whose sources are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Package name, e.g. `planesmith-shop`.
    pub(crate) name: String,
    /// The folder, relative to the workspace.
    pub(crate) folder: PathBuf,
    /// What it is read for.
    pub(crate) role: Role,
    /// Whether it has a module `admission` with the plugins of its server.
    pub(crate) has_admission: bool,
}

/// What a crate is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Types that definitions may use; nothing is generated for them.
    Library,
    /// The built-in groups; what is generated goes into the `generated` crate.
    BuiltIn,
    /// A user's own groups; what is generated goes into the crate itself.
    Own,
}

impl Package {
    /// The name in Rust paths, e.g. `planesmith_shop`.
    pub(crate) fn crate_name(&self) -> String {
        self.name.replace('-', "_")
    }
}

/// The crate whose types definitions are made of.
pub(crate) const MACHINERY: &str = "runtime/machinery";
/// The crate of the built-in groups.
pub(crate) const API_DEFS: &str = "api-defs";
/// The folder of crates with groups of their own.
pub(crate) const EXAMPLES: &str = "examples";

/// All crates to read, machinery first, then by folder.
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
        folder,
        role,
    })
}

/// The first `name = "..."` of a manifest, which is that of `[package]`.
fn package_name(manifest: &str) -> Option<&str> {
    let value = manifest
        .lines()
        .find_map(|line| line.trim().strip_prefix("name")?.trim().strip_prefix('='))?;
    value.trim().strip_prefix('"')?.strip_suffix('"')
}
