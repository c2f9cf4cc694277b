//! The faults that are tolerated for now. The list only gets shorter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// The file, relative to the workspace.
pub(super) const FILE: &str = "tidy-debts.toml";

const HEADING: &str = "\
# The faults that `cargo xtask tidy` tolerates for now. The list only gets shorter: a new fault fails, and so does an entry
# that is not true any more. `cargo xtask tidy --shrink` removes such entries; it never adds one.
#
# docs: doc comments of a crate with a sentence or clause that opens with a question word.
# names: declarations of a crate with a name that tidy.toml refuses.
# knots: edges between modules of a crate that are part of a circle.
";

/// The tolerated faults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Debts {
    /// By crate: the number of doc comments that open with a question word.
    #[serde(default)]
    pub(super) docs: BTreeMap<String, usize>,
    /// By crate and refused name: the number of its declarations.
    #[serde(default)]
    pub(super) names: BTreeMap<String, BTreeMap<String, usize>>,
    /// By library or program: edges in circles, as `from -> to`.
    #[serde(default)]
    pub(super) knots: BTreeMap<String, BTreeSet<String>>,
}

impl Debts {
    /// Reads the list; `None` if there is no file.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is not such a list.
    pub(super) fn load(root: &Path) -> Result<Option<Self>> {
        let file = root.join(FILE);
        if !file.exists() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(file).with_context(|| format!("reading {FILE}"))?;
        toml::from_str(&text)
            .with_context(|| format!("reading {FILE}"))
            .map(Some)
    }

    /// Writes the list.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) fn store(&self, root: &Path) -> Result<()> {
        std::fs::write(root.join(FILE), self.render()?).with_context(|| format!("writing {FILE}"))
    }

    fn render(&self) -> Result<String> {
        Ok(format!("{HEADING}\n{}", toml::to_string_pretty(self)?))
    }

    /// The part of this list that `now` still owes.
    pub(super) fn shrunk_to(&self, now: &Self) -> Self {
        let docs = least(&self.docs, &now.docs);
        let names = self.names.iter().filter_map(|(owner, names)| {
            let names = least(names, now.names.get(owner)?);
            (!names.is_empty()).then(|| (owner.clone(), names))
        });
        let knots = self.knots.iter().filter_map(|(owner, edges)| {
            let edges: BTreeSet<_> = edges & now.knots.get(owner)?;
            (!edges.is_empty()).then(|| (owner.clone(), edges))
        });
        Self {
            docs,
            names: names.collect(),
            knots: knots.collect(),
        }
    }
}

fn least(tolerated: &BTreeMap<String, usize>, now: &BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    let pairs = tolerated
        .iter()
        .filter_map(|(key, tolerated)| Some((key, tolerated.min(now.get(key)?))));
    pairs
        .filter(|(_, count)| **count > 0)
        .map(|(key, count)| (key.clone(), *count))
        .collect()
}
