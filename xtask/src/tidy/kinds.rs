//! Names of built-in kinds in crates that must not know which kinds exist.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::finding::Finding;
use super::policy::{self, KindNames};
use crate::sources::Sources;

/// The folder with the generated discovery documents, which name all built-in kinds, relative to the workspace.
const DOCUMENTS: &str = "generated/discovery";

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    kind: String,
    name: String,
}

/// Returns the names of the built-in kinds and of their resources.
///
/// # Errors
///
/// The generated documents cannot be read.
pub(super) fn built_in(root: &Path) -> Result<BTreeSet<String>> {
    let folder = root.join(DOCUMENTS);
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("reading {DOCUMENTS}"))? {
        let path = entry?.path();
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let document: Document = serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
        for Resource { kind, name } in document.resources {
            names.extend([kind, name]);
        }
    }
    Ok(names)
}

/// The findings about texts of the crate `owner` that are names in `built_in`, and about permissions that it does not use.
pub(super) fn check(owner: &str, sources: &Sources, rule: &KindNames, built_in: &BTreeSet<String>) -> Vec<Finding> {
    let Some(allowed) = rule.crates.get(owner) else {
        return Vec::new();
    };
    let (mut findings, mut used) = (Vec::new(), BTreeSet::new());
    let production = sources.iter().filter(|(file, _)| !is_for_tests(file));
    for (file, source) in production {
        let words = source.words.iter().filter(|word| built_in.contains(&word.text));
        for word in words {
            let exception = rule.files.iter().find(|exception| exception.file == *file);
            if exception.is_some_and(|exception| exception.names.contains(&word.text)) {
                used.insert((Some(file.as_str()), word.text.as_str()));
            } else if allowed.contains(&word.text) {
                used.insert((None, word.text.as_str()));
            } else {
                let fault = format!("{owner} must not know the kind of \"{}\"", word.text);
                let help = "make it a fact of the kind, or let a component bring it";
                findings.push(Finding::new((file, word.line), fault, help));
            }
        }
    }
    let of_crate = allowed.iter().map(|name| (None, name));
    let files = rule
        .files
        .iter()
        .filter(|exception| sources.contains_key(&exception.file));
    let of_files = files.flat_map(|exception| exception.names.iter().map(|name| (Some(exception.file.as_str()), name)));
    let unused = of_crate
        .chain(of_files)
        .filter(|(file, name)| !used.contains(&(*file, name.as_str())));
    findings.extend(unused.map(|(file, name)| {
        let place = file.unwrap_or(owner);
        let fault = format!("\"{name}\" is permitted in {place}, which does not have it");
        Finding::new((policy::FILE, 0), fault, "remove the permission")
    }));
    findings
}

/// True if only tests compile a file.
fn is_for_tests(file: &str) -> bool {
    file.ends_with("tests.rs")
        || ["/tests/", "/testing/", "/examples/"]
            .iter()
            .any(|folder| file.contains(folder))
}
