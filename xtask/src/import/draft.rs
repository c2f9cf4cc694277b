//! The content of a description, before it is rendered as Rust.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use planesmith_codegen_core::names::version_problem;

/// A version of a group.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) group: String,
    pub(super) version: String,
    /// The kinds and the other types, in the order of the description.
    pub(super) structs: Vec<StructDraft>,
}

impl Draft {
    /// Returns `v1` or `group/version`.
    pub(super) fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Reports content that would be invalid in Rust: duplicate types and illegal names.
    pub(super) fn check(&self) -> Result<()> {
        let place = self.api_version();
        if let Some(problem) = version_problem(&self.version) {
            bail!("{place}: `{}` is not a version: {problem}", self.version);
        }
        let mut known = BTreeSet::new();
        for item in &self.structs {
            if syn::parse_str::<syn::Ident>(&item.name).is_err() {
                bail!("{place}: `{}` cannot be the name of a type", item.name);
            }
            if !known.insert(&item.name) {
                bail!(
                    "{place}: there are two types {}; import them one by one and rename one",
                    item.name
                );
            }
            let mut fields = BTreeSet::new();
            for field in item.fields.iter().filter(|field| !field.name.is_empty()) {
                if !fields.insert(snake(&field.name)) {
                    bail!(
                        "{place}: {} has two fields with the Rust name {}",
                        item.name,
                        snake(&field.name)
                    );
                }
            }
        }
        Ok(())
    }
}

/// A struct.
#[derive(Debug, Default)]
pub(super) struct StructDraft {
    pub(super) name: String,
    pub(super) doc: String,
    /// The keys of `#[resource(...)]`; `None` unless the struct is a kind.
    pub(super) resource: Option<Vec<String>>,
    /// The keys of `#[schema(...)]`.
    pub(super) schema: Vec<String>,
    pub(super) fields: Vec<FieldDraft>,
    /// Content to be added by hand.
    pub(super) marks: Vec<String>,
}

impl StructDraft {
    /// True if an empty struct is refused, because it has a required field.
    pub(super) fn refuses_empty(&self) -> bool {
        let is_missed = |field: &FieldDraft| {
            let has_default = field.keys.iter().any(|key| key.starts_with("default"));
            field.keys.iter().any(|key| key == "required") && !has_default
        };
        self.fields.iter().any(is_missed)
    }
}

/// A field.
#[derive(Debug, Default)]
pub(super) struct FieldDraft {
    /// The JSON name; empty for an inlined struct.
    pub(super) name: String,
    pub(super) ty: String,
    pub(super) doc: String,
    /// The keys of `#[field(...)]` except for `name`.
    pub(super) keys: Vec<String>,
    /// Content to be added by hand.
    pub(super) marks: Vec<String>,
}

/// Returns a string as a Rust literal.
pub(super) fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// Returns a list of strings as a key: `one_of("A", "B")`.
pub(super) fn listed(key: &str, texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| literal(text)).collect();
    format!("{key}({})", texts.join(", "))
}

/// Returns the words of a name as a sentence, such as `Cluster IP.` for `clusterIP`.
pub(super) fn sentence(name: &str) -> String {
    let words = snake(name).replace('_', " ");
    let mut letters = words.trim().chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// Returns the Rust name of a field: `cluster_ip` for `clusterIP`.
pub(super) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(index + 1);
        let starts = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if starts {
            snake.push('_');
        }
        match letter {
            '-' | '.' | '$' => snake.push('_'),
            letter => snake.push(letter.to_ascii_lowercase()),
        }
    }
    let snake = snake.trim_matches('_').to_owned();
    match syn::parse_str::<syn::Ident>(&snake) {
        Ok(_) => snake,
        Err(_) => format!("{snake}_"),
    }
}

/// Returns the type name of a field: `LoadBalancer` for `loadBalancer`.
pub(super) fn upper(name: &str) -> String {
    let parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    parts
        .map(|part| {
            let mut letters = part.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase().to_string());
            first.unwrap_or_default() + letters.as_str()
        })
        .collect()
}
