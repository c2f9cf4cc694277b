//! The rules of `cargo xtask tidy`, as `tidy.toml` declares them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::sources::{Name, Sort};

/// The file, relative to the workspace.
pub(super) const FILE: &str = "tidy.toml";

/// The declared rules.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Policy {
    /// By crate: the crates that it may use.
    pub(super) crates: BTreeMap<String, Uses>,
    /// By package of a registry (`*` at the end stands for any rest): the crates that may use it.
    #[serde(default)]
    pub(super) foreign: BTreeMap<String, Vec<String>>,
    /// The question words with which no sentence and no clause of a doc comment opens.
    #[serde(default)]
    pub(super) question_words: Vec<String>,
    /// Words with which no name of a test begins.
    #[serde(default)]
    pub(super) test_words: Vec<String>,
    /// Names of modules that say nothing.
    #[serde(default)]
    pub(super) module_names: Vec<String>,
    /// The most lines that a source file may have.
    pub(super) most_lines: usize,
    /// Paths of single machines, which no file may hold.
    #[serde(default)]
    pub(super) machine_paths: Vec<String>,
    /// Refused names.
    #[serde(default)]
    pub(super) names: Vec<RefusedName>,
    /// Refused words of names, in lower case.
    #[serde(default)]
    pub(super) words: Vec<RefusedName>,
    /// Names of built-in kinds.
    #[serde(default)]
    pub(super) kinds: KindNames,
}

/// The crates that must not know built-in kinds, and what they may know.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KindNames {
    /// By crate: the names that it may have in texts, because of its paragraph in ARCHITECTURE.md.
    #[serde(default)]
    pub(super) crates: BTreeMap<String, Vec<String>>,
    /// Files that have further names.
    #[serde(default)]
    pub(super) files: Vec<KindException>,
}

/// Names of kinds that one file may have.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KindException {
    /// The file, relative to the workspace.
    pub(super) file: String,
    /// The names.
    pub(super) names: Vec<String>,
    /// The reason.
    #[serde(rename = "reason")]
    _reason: String,
}

/// The crates that one crate may use.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Uses {
    /// Everywhere.
    pub(super) uses: Vec<String>,
    /// In tests as well.
    #[serde(default)]
    pub(super) tests: Vec<String>,
}

/// A name, or a word of names, that no item may have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RefusedName {
    /// The identifier; `Enum::Variant` for a variant of one enum only. Modules, fields and parameters are refused in any
    /// spelling of it, such as `trust_anchors` for `TrustAnchors`.
    pub(super) name: String,
    /// The name to use.
    pub(super) say: String,
    /// The sorts of items that it is refused for; all but parameters and tests if there are none.
    #[serde(default)]
    pub(super) sorts: Vec<Sort>,
    /// The crates that it is refused in; all if there are none.
    #[serde(default)]
    pub(super) only: Vec<String>,
    /// The crates and the variants (as `Enum::Variant`) that may have it, because the name is the field's there.
    #[serde(default)]
    pub(super) except: Vec<String>,
}

impl Policy {
    /// Reads the rules.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is not such a list.
    pub(super) fn load(root: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(root.join(FILE)).with_context(|| format!("reading {FILE}"))?;
        toml::from_str(&text).with_context(|| format!("reading {FILE}"))
    }
}

impl RefusedName {
    /// True if `name` is this name, or a spelling of it.
    pub(super) fn names(&self, name: &Name) -> bool {
        let last = name.ident.rsplit("::").next().unwrap_or_default();
        let is_spelling = || match name.sort {
            Sort::Mod | Sort::Field | Sort::Parameter => letters(last).eq(letters(&self.name)),
            Sort::Type | Sort::Fn | Sort::Variant | Sort::Const | Sort::Test => false,
        };
        name.ident == self.name || last == self.name || is_spelling()
    }

    /// True if this is one of the words of `name`.
    pub(super) fn is_word_of(&self, name: &Name) -> bool {
        let last = name.ident.rsplit("::").next().unwrap_or_default();
        words(last).any(|word| word == self.name)
    }

    /// True if the item `name`, which has this name, may not have it in the crate `owner`.
    pub(super) fn refuses(&self, owner: &str, name: &Name) -> bool {
        let lists = |names: &[String], wanted: &str| names.iter().any(|name| name == wanted);
        let is_refused_sort = match self.sorts.is_empty() {
            true => !matches!(name.sort, Sort::Parameter | Sort::Test),
            false => self.sorts.contains(&name.sort),
        };
        is_refused_sort
            && (self.only.is_empty() || lists(&self.only, owner))
            && !lists(&self.except, owner)
            && !lists(&self.except, &name.ident)
    }
}

/// The words of a name in lower case: `MaxCached`, `max_cached` and `MAX_CACHED` have the same.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = '_';
    for letter in name.chars() {
        let begins = before == '_' || letter.is_uppercase() && before.is_lowercase();
        match words.last_mut() {
            Some(word) if !begins => word.extend(letter.to_lowercase()),
            _ if letter == '_' => {}
            _ => words.push(letter.to_lowercase().collect()),
        }
        before = letter;
    }
    words.into_iter().map(|word| word.trim_end_matches('_').to_owned())
}

/// The letters of a name in lower case, without the marks between its words.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|letter| *letter != '_')
        .flat_map(char::to_lowercase)
}
