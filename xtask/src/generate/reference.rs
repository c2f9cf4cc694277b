//! Reference pages for users, one per group: its kinds with their fields and columns.

mod page;

use std::path::PathBuf;

use anyhow::Result;

use super::files::Files;
use super::model::{Model, PackageModel};
use super::package::Role;

/// Renders the pages of all crates.
pub(super) fn render(model: &Model, files: &mut Files) -> Result<()> {
    for package in &model.packages {
        let folder = folder(package);
        files.own(folder.clone());
        for group in &package.groups {
            files.add(
                folder.join(format!("{}.md", group.module)),
                page::render(model, package, group),
            )?;
        }
    }
    Ok(())
}

fn folder(package: &PackageModel) -> PathBuf {
    match package.package.role {
        Role::Library | Role::BuiltIn => PathBuf::from("docs/reference"),
        Role::Own => package.package.folder.join("docs/reference"),
    }
}
