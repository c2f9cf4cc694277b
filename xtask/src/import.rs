//! `cargo xtask import`: drafts the Rust files of a group from a description of its types.
//!
//! [`crd`] and [`openapi`] read schemas (sharing [`schema`]), [`facts`] reads lists of Go types. All of them create a
//! [`draft::Draft`], which [`mod@write`] turns into files, to be edited by hand. Parts that have no equivalent are marked
//! ([`mark`]) and reported ([`report`]).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

pub(crate) use self::document::documents;
use self::document::{EXPECTED, Found};
use self::draft::Draft;
use self::report::Report;

mod column;
mod crd;
mod document;
mod draft;
mod facts;
mod mark;
mod openapi;
mod report;
mod schema;
mod write;

#[cfg(test)]
mod end_to_end;
#[cfg(test)]
mod measure;
#[cfg(test)]
mod tests;

/// Drafts the Rust files of a group: one file per kind with its nested types.
///
/// Each FILE is a CustomResourceDefinition (YAML or JSON), an OpenAPI v3 document, or facts about Go types (`{"group",
/// "version", "types"}`). A file can contain several documents; other objects are skipped. The kinds of a group version are
/// drafted together, so pass all files of a group to one command.
///
/// Parts of a description without an equivalent attribute, such as CEL rules, are marked in the files with `TODO(import)`, and
/// all marks are listed at the end.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// The input files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// The folder for the modules of the group, such as examples/shop/src. Existing files are not overwritten.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Import {
    pub(crate) fn run(&self) -> Result<()> {
        let mut drafts = Vec::new();
        for file in &self.files {
            let text = std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
            let found = Found::read(&text).with_context(|| file.display().to_string())?;
            for skipped in &found.skipped {
                println!("skipped in {}: {skipped}", file.display());
            }
            drafts.extend(found.drafts);
        }
        let drafts = merged(drafts)?;
        let mut report = Report::from_drafts(&drafts);
        report.crate_root(&self.out, &drafts);
        for (path, text) in write::files(&drafts) {
            self.write(&path, &text, &mut report)?;
        }
        // Long names can need another layout; formatting is optional, so a missing rustfmt is ignored.
        let files = report.files();
        let _ = Command::new("rustfmt").args(["--edition", "2024"]).args(files).output();
        report.read_marks()?;
        print!("{}", report.render());
        Ok(())
    }

    /// Writes a file, unless it already exists.
    fn write(&self, path: &Path, text: &str, report: &mut Report) -> Result<()> {
        let path = self.out.join(path);
        if path.exists() {
            println!("kept the existing file {}", path.display());
            let present =
                std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            report.record_existing(&path, &present, text);
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
        }
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
        println!("wrote {}", path.display());
        report.written(path);
        Ok(())
    }
}

/// Merges drafts of the same group version, and checks the results.
fn merged(drafts: Vec<Draft>) -> Result<Vec<Draft>> {
    let mut merged: BTreeMap<(String, String), Draft> = BTreeMap::new();
    for mut draft in drafts {
        let place = (draft.group.clone(), draft.version.clone());
        match merged.entry(place) {
            Entry::Occupied(mut known) => known.get_mut().structs.append(&mut draft.structs),
            Entry::Vacant(free) => drop(free.insert(draft)),
        }
    }
    let drafts: Vec<Draft> = merged.into_values().collect();
    if drafts.is_empty() {
        bail!("no kind is described; {EXPECTED}");
    }
    let mut modules: BTreeMap<String, &str> = BTreeMap::new();
    for draft in &drafts {
        draft.check()?;
        let module = write::module(&draft.group);
        let known = modules.entry(module.clone()).or_insert(&draft.group);
        if *known != draft.group {
            bail!(
                "the groups {known} and {} would share the module {module}; import them into two crates",
                draft.group
            );
        }
    }
    Ok(drafts)
}
