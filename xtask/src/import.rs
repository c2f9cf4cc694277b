//! `cargo xtask import`: the first draft of a group's Rust files, from a description of its types.
//!
//! [`crd`] and [`openapi`] read schemas ([`schema`] has what they share), [`facts`] reads lists of Go types; all make a
//! [`draft::Draft`], which [`mod@write`] turns into files. What is written is edited by hand from then on.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use planesmith_machinery::yaml;
use serde_json::Value;

mod crd;
mod draft;
mod facts;
mod openapi;
mod schema;
mod write;

#[cfg(test)]
mod tests;

/// Drafts the Rust files of a group: one file per kind with its nested types.
///
/// FILE is a CustomResourceDefinition (YAML or JSON), an OpenAPI v3 document, or facts about Go types
/// (`{"group", "version", "types"}`). Several documents in one file are several groups or versions.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// What to read.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where the modules of the group go, such as examples/shop/src. Files that are there already are left alone.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Import {
    pub(crate) fn run(&self) -> Result<()> {
        let text = std::fs::read(&self.file).with_context(|| format!("{} cannot be read", self.file.display()))?;
        let files = files(&text).with_context(|| self.file.display().to_string())?;
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

/// The files of what `text` describes, by path below the folder of the modules.
fn files(text: &[u8]) -> Result<Vec<(PathBuf, String)>> {
    let mut drafts = Vec::new();
    for document in documents(text)? {
        drafts.extend(drafts_of(&document)?);
    }
    if drafts.is_empty() {
        bail!("no kind is described; expected a CustomResourceDefinition, an OpenAPI v3 document or facts about types");
    }
    Ok(write::files(&drafts))
}

fn drafts_of(document: &Value) -> Result<Vec<draft::Draft>> {
    if document["kind"] == "CustomResourceDefinition" {
        return crd::drafts(document);
    }
    if document["openapi"].is_string() {
        return Ok(openapi::drafts(document));
    }
    if document["types"].is_object() {
        return Ok(vec![facts::draft(document)]);
    }
    bail!("neither a CustomResourceDefinition, nor an OpenAPI v3 document, nor facts about types");
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
