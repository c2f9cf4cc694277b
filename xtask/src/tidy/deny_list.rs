//! The parts of `deny.toml` that are checked where cargo-deny is not installed.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// The file, relative to the workspace.
pub(super) const FILE: &str = "deny.toml";

/// `deny.toml`; keys that only cargo-deny knows are passed over.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct DenyList {
    /// The builds that count.
    #[serde(default)]
    pub(super) graph: Platforms,
    /// The licences.
    pub(super) licenses: Licences,
    /// Packages that are refused, and duplicates.
    pub(super) bans: Bans,
    /// The registries and repositories.
    pub(super) sources: Origins,
}

/// The builds whose packages count.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Platforms {
    /// Target triples; all platforms if there are none.
    #[serde(default)]
    pub(super) targets: Vec<String>,
}

/// The accepted licences.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Licences {
    /// SPDX identifiers.
    pub(super) allow: Vec<String>,
}

/// The refused packages and the tolerated duplicates.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Bans {
    /// Packages that nothing may use.
    pub(super) deny: Vec<Ban>,
    /// Second versions that are tolerated.
    #[serde(default)]
    pub(super) skip: Vec<Ban>,
}

/// One package and the reason for its rule.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Ban {
    /// The name; of duplicates with `@` and the version.
    #[serde(rename = "crate")]
    pub(super) package: String,
    /// The reason; every rule has one.
    #[serde(default)]
    pub(super) reason: String,
}

/// The accepted registries.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Origins {
    /// Their addresses, as in the lock file but without `registry+`.
    pub(super) allow_registry: Vec<String>,
}

impl DenyList {
    /// Reads the list.
    ///
    /// # Errors
    ///
    /// The file cannot be read or lacks one of these parts.
    pub(super) fn load(root: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(root.join(FILE)).with_context(|| format!("reading {FILE}"))?;
        toml::from_str(&text).with_context(|| format!("reading {FILE}"))
    }
}
