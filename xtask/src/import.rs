//! `cargo xtask import`: the first draft of a group's Rust files, from a description of its types.
//!
//! [`crd`] and [`openapi`] read schemas ([`schema`] has what they share), [`facts`] reads lists of Go types; all make a
//! [`draft::Draft`], which [`mod@write`] turns into files. What is written is edited by hand from then on.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use planesmith_machinery::yaml;
use serde_json::Value;

use self::draft::Draft;

mod crd;
mod draft;
mod facts;
mod openapi;
mod schema;
mod write;

#[cfg(test)]
mod end_to_end;
#[cfg(test)]
mod tests;

/// Drafts the Rust files of a group: one file per kind with its nested types.
///
/// Each FILE is a CustomResourceDefinition (YAML or JSON), an OpenAPI v3 document, or facts about Go types
/// (`{"group", "version", "types"}`); one file may hold several documents. Kinds of one group version go together, so all
/// files of a group belong into one command.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// What to read.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Where the modules of the group go, such as examples/shop/src. Files that are there already are left alone.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Import {
    pub(crate) fn run(&self) -> Result<()> {
        let mut drafts = Vec::new();
        for file in &self.files {
            let text = std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
            drafts.extend(drafts_of_text(&text).with_context(|| file.display().to_string())?);
        }
        let files = files(drafts)?;
        for (path, text) in files {
            let path = self.out.join(path);
            if path.exists() {
                println!("kept {}, which is there already", path.display());
                continue;
            }
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
            }
            std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
            println!("wrote {}", path.display());
        }
        println!("next: declare the group's module in lib.rs, fill in what is marked, and run cargo xtask generate");
        Ok(())
    }
}

/// The files of `drafts`, by path below the folder of the modules.
fn files(drafts: Vec<Draft>) -> Result<Vec<(PathBuf, String)>> {
    let mut merged: BTreeMap<(String, String), Draft> = BTreeMap::new();
    for mut draft in drafts {
        let place = (draft.group.clone(), draft.version.clone());
        match merged.entry(place) {
            Entry::Occupied(mut known) => known.get_mut().structs.append(&mut draft.structs),
            Entry::Vacant(free) => drop(free.insert(draft)),
        }
    }
    let drafts: Vec<Draft> = merged.into_values().collect();
    for draft in &drafts {
        draft.check()?;
    }
    Ok(write::files(&drafts))
}

/// What the documents in `text` describe.
fn drafts_of_text(text: &[u8]) -> Result<Vec<Draft>> {
    let documents = documents(text)?;
    let several = documents.len() > 1;
    let mut drafts = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let found = drafts_of(document);
        drafts.extend(match several {
            true => found.with_context(|| format!("document {}", index + 1))?,
            false => found?,
        });
    }
    if drafts.is_empty() {
        bail!("no kind is described; expected a CustomResourceDefinition, an OpenAPI v3 document or facts about types");
    }
    Ok(drafts)
}

fn drafts_of(document: &Value) -> Result<Vec<Draft>> {
    let drafts = match document["kind"].as_str() {
        Some("CustomResourceDefinition") => crd::drafts(document)?,
        Some(kind) => {
            bail!("a {kind}; expected a CustomResourceDefinition, an OpenAPI v3 document or facts about types")
        }
        None if document["openapi"].is_string() => openapi::drafts(document),
        None if document["swagger"].is_string() => {
            bail!("an OpenAPI v2 document; expected version 3, as a server has it at /openapi/v3/apis/GROUP/VERSION")
        }
        None if document["types"].is_object() => vec![facts::draft(document)?],
        None => bail!("neither a CustomResourceDefinition, nor an OpenAPI v3 document, nor facts about types"),
    };
    if drafts.is_empty() {
        bail!("no kind is described: there is none with x-kubernetes-group-version-kind and metadata");
    }
    Ok(drafts)
}

/// The documents of a YAML stream; JSON is YAML too.
pub(crate) fn documents(text: &[u8]) -> Result<Vec<Value>> {
    let text = std::str::from_utf8(text).context("not UTF-8")?;
    if text.trim_start().starts_with('{') {
        return Ok(vec![serde_json::from_str(text).context("not JSON")?]);
    }
    let mut documents = Vec::new();
    let mut part = String::new();
    for line in text.lines().chain(["---"]) {
        if line.trim_end() != "---" {
            part.push_str(line);
            part.push('\n');
            continue;
        }
        let json = yaml::to_json(std::mem::take(&mut part).as_bytes()).map_err(|error| anyhow::anyhow!("{error}"))?;
        let document: Value = serde_json::from_slice(&json.json).context("not YAML")?;
        if !document.is_null() {
            documents.push(document);
        }
    }
    Ok(documents)
}
