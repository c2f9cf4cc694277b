//! `cargo xtask generate`: what the structs imply, written out.
//!
//! The steps, in order: [`package`] finds the crates that hold definitions, [`source`] parses them and resolves names,
//! [`model`] is what the definitions say (checked across types), the renderers ([`RENDERERS`]) turn it into text, and
//! [`files`] compares the text with the tree. Nothing is read from the network, the clock or the environment, and
//! everything is sorted, so the same sources always give the same bytes.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::cargo::workspace;
pub(crate) use crd::QUANTITY;
use difference::Difference;
use files::Files;
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

/// What `--check` answers with when the tree is not what the definitions imply.
const OUT_OF_DATE: u8 = 4;

/// Writes what the definitions in `api-defs` and `examples` imply: registration, routes, the server, documents.
///
/// Finds the definitions by itself. Files that are already right are left alone, and generated files whose definition
/// is gone are removed.
#[derive(Debug, clap::Args)]
pub(crate) struct Generate {
    /// Write nothing; list what is missing, stale or orphaned with diffs, and exit with 4 if there is anything.
    #[arg(long)]
    check: bool,
}

impl Generate {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        if !self.check {
            let stamp = Stamp::of(workspace());
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
            println!("{}; run `cargo xtask generate`", difference::summary(&differences));
            ExitCode::from(OUT_OF_DATE)
        })
    }
}

/// Brings the tree up to date; answers with what was changed.
pub(crate) fn write(root: &Path) -> Result<Vec<Difference>> {
    let differences = render(root)?.compare(root)?;
    for difference in &differences {
        difference.resolve(root)?;
    }
    Ok(differences)
}

/// One step that turns the model into files.
///
/// A renderer adds text with [`Files::add`] under paths relative to the workspace, and declares with [`Files::own`] the
/// folders in which nothing else may lie, so that files of removed definitions are found. It must not look at anything
/// but the model.
type Renderer = fn(&Model, &mut Files) -> Result<()>;

/// All renderers. Each one gets the same model; their order does not matter.
const RENDERERS: &[Renderer] = &[
    rust::render,
    openapi::render,
    discovery::render,
    crd::render,
    reference::render,
];

/// Everything that belongs in the tree under `root`.
fn render(root: &Path) -> Result<Files> {
    let model = Model::load(root)?;
    let mut files = Files::default();
    for renderer in RENDERERS {
        renderer(&model, &mut files)?;
    }
    Ok(files)
}

/// The kinds of one's own in the tree under `root`, as custom resource definitions.
#[cfg(test)]
pub(crate) fn definitions(root: &Path) -> Result<Vec<serde_json::Value>> {
    Ok(crd::definitions(&Model::load(root)?))
}

#[cfg(test)]
pub(crate) mod tests;
