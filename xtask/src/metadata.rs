//! The crates of the workspace and the packages that they are built with.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::cargo::cargo;

/// The answer of `cargo metadata`.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_root: String,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
}

/// One package: a crate of the workspace, or one from a registry.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Package {
    /// The name.
    pub(crate) name: String,
    /// The version.
    pub(crate) version: String,
    /// The name, version and source in one.
    pub(crate) id: String,
    /// The registry or repository; `None` for a folder.
    pub(crate) source: Option<String>,
    /// The licence as an SPDX expression; `None` if the package names none.
    pub(crate) license: Option<String>,
    /// The manifest.
    pub(crate) manifest_path: String,
    /// The libraries, programs and tests.
    pub(crate) targets: Vec<Target>,
    /// The dependencies as the manifest declares them.
    pub(crate) dependencies: Vec<Dependency>,
}

/// One dependency in a manifest.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Dependency {
    /// The name of the package.
    pub(crate) name: String,
    /// `None` for what every build needs, `Some("dev")` for tests, `Some("build")` for build scripts.
    pub(crate) kind: Option<String>,
    /// The folder; `None` for packages of registries.
    pub(crate) path: Option<String>,
}

/// One thing that cargo builds from a package.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Target {
    name: String,
    kind: Vec<String>,
    src_path: String,
}

/// A crate of the workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crate {
    /// The name of the package.
    pub(crate) name: String,
    /// The folder, relative to the workspace, with a slash at its end.
    pub(crate) folder: String,
    /// The roots of its library and its programs.
    pub(crate) roots: Vec<Root>,
    /// The dependencies as the manifest declares them.
    pub(crate) dependencies: Vec<Dependency>,
}

/// The root module of a library or a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Root {
    /// The name under which a graph is shown: that of the crate, with `/main` behind it for a program.
    pub(crate) name: String,
    /// The file, relative to the workspace.
    pub(crate) file: String,
    /// The name by which a library may call itself (`extern crate self as`); `None` for programs.
    pub(crate) library: Option<String>,
}

impl Metadata {
    /// Asks cargo about the workspace, without the network.
    ///
    /// # Errors
    ///
    /// The lock file is out of date, or cargo does not run.
    pub(crate) fn load(platforms: &[String]) -> Result<Self> {
        let mut command = cargo();
        command.args(["metadata", "--format-version", "1", "--locked"]);
        for platform in platforms {
            command.args(["--filter-platform", platform]);
        }
        let output = command.output().context("starting cargo metadata")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cargo metadata failed: {}", said.trim());
        serde_json::from_slice(&output.stdout).context("reading the answer of cargo metadata")
    }

    /// The packages that a build for any of the platforms uses.
    pub(crate) fn used(&self) -> impl Iterator<Item = &Package> {
        let used: BTreeSet<&str> = self.resolve.nodes.iter().map(|node| node.id.as_str()).collect();
        self.packages
            .iter()
            .filter(move |package| used.contains(package.id.as_str()))
    }

    /// The crates of the workspace, by name.
    pub(crate) fn crates(&self) -> Vec<Crate> {
        let root = Path::new(&self.workspace_root);
        let members = self.packages.iter().filter(|package| package.source.is_none());
        let mut crates: Vec<_> = members.map(|package| Crate::from_package(package, root)).collect();
        crates.sort_by(|one, other| one.name.cmp(&other.name));
        crates
    }
}

impl Crate {
    fn from_package(package: &Package, workspace: &Path) -> Self {
        let manifest = relative(&package.manifest_path, workspace);
        let roots = package.targets.iter().filter_map(|target| {
            let kind = target.kind.first()?.as_str();
            let (name, library) = match kind {
                "lib" | "proc-macro" => (package.name.clone(), Some(target.name.clone())),
                "bin" => (format!("{}/main", package.name), None),
                _ => return None,
            };
            let file = relative(&target.src_path, workspace);
            Some(Root { name, file, library })
        });
        Self {
            name: package.name.clone(),
            folder: manifest.trim_end_matches("Cargo.toml").to_owned(),
            roots: roots.collect(),
            dependencies: package.dependencies.clone(),
        }
    }
}

fn relative(path: &str, workspace: &Path) -> String {
    let path = Path::new(path);
    path.strip_prefix(workspace).unwrap_or(path).display().to_string()
}
