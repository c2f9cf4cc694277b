//! `cargo xtask generate`: generates the code and documents that follow from the definitions.
//!
//! The steps, in order: [`package`] finds the crates with definitions, [`source`] parses them and resolves names, [`model`]
//! holds the definitions, checked across types, the renderers ([`RENDERERS`]) turn it into text, and [`files`] compares the
//! text with the tree. Neither network nor clock nor environment is read, and all output is sorted, so that the same sources
//! always produce the same bytes.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::cargo::workspace;
pub(crate) use crd::QUANTITY;
pub(crate) use difference::{Difference, summary};
pub(crate) use files::Files;
use model::Model;
use stamp::Stamp;

mod crd;
mod difference;
mod discovery;
mod files;
pub(crate) mod model;
mod openapi;
mod package;
mod problem;
mod reference;
mod rust;
mod source;
mod stamp;

/// The exit code of `--check` if the tree is out of date.
pub(crate) const OUT_OF_DATE: u8 = 4;

/// Generates registrations, routes, servers and documents from the definitions in `api-defs` and `examples`.
///
/// Definitions are discovered automatically. Up-to-date files are not rewritten, and generated files without a definition are
/// removed.
#[derive(Debug, clap::Args)]
pub(crate) struct Generate {
    /// Write nothing; list missing, stale and orphaned files with diffs, and exit with 4 if there are any.
    #[arg(long)]
    check: bool,
}

impl Generate {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        if !self.check {
            let stamp = Stamp::read(workspace());
            if stamp.is_current() {
                return Ok(ExitCode::SUCCESS);
            }
            for difference in write(workspace())? {
                println!("{}", difference.done());
            }
            stamp.renew();
            return Ok(ExitCode::SUCCESS);
        }
        let differences = render(workspace())?.compare(workspace())?;
        for difference in &differences {
            print!("{difference}");
        }
        Ok(if differences.is_empty() {
            ExitCode::SUCCESS
        } else {
            println!("{}; run `cargo xtask generate`", summary(&differences));
            ExitCode::from(OUT_OF_DATE)
        })
    }
}

/// Updates the tree; returns the changes.
pub(crate) fn write(root: &Path) -> Result<Vec<Difference>> {
    let differences = render(root)?.compare(root)?;
    for difference in &differences {
        difference.resolve(root)?;
    }
    Ok(differences)
}

/// A step that renders the model to files.
///
/// A renderer adds text with [`Files::add`] under paths relative to the workspace. With [`Files::own`] it declares the folders
/// that contain only generated files, so that files of removed definitions are found. Its only input is the model.
type Renderer = fn(&Model, &mut Files) -> Result<()>;

/// All renderers, in arbitrary order. Each one receives the same model.
const RENDERERS: &[Renderer] = &[
    rust::render,
    openapi::render,
    discovery::render,
    crd::render,
    reference::render,
];

/// Renders all files of the tree under `root`.
fn render(root: &Path) -> Result<Files> {
    let model = Model::load(root)?;
    let mut files = Files::default();
    for renderer in RENDERERS {
        renderer(&model, &mut files)?;
    }
    Ok(files)
}

/// Returns the custom kinds in the tree under `root`, as custom resource definitions.
#[cfg(test)]
pub(crate) fn definitions(root: &Path) -> Result<Vec<serde_json::Value>> {
    Ok(crd::definitions(&Model::load(root)?))
}

#[cfg(test)]
pub(crate) mod tests;
