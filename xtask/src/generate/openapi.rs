//! OpenAPI documents in versions 3 and 2, one per group version.
//!
//! Paths outside of group versions have their own documents, created by [`mod@entrances`].
//!
//! Both versions have the same content: [`names`] assigns names to definitions, [`schema`] converts structs to schemas,
//! [`operation`] defines the operations of each path, [`v3`] and [`v2`] write the documents, [`layout`] writes each definition
//! or path on one line, which keeps diffs readable. The server sends the files unchanged.

mod definitions;
mod entrances;
mod layout;
mod names;
mod operation;
mod parameter;
mod paths;
pub(super) mod schema;
mod v2;
mod v3;

use std::path::{Path, PathBuf};

use anyhow::Result;

use self::entrances::Entrance;
use super::files::Files;
use super::model::{Group, Model, PackageModel, Version};
use super::package::Role;
use super::rust::text::pairs;

#[cfg(test)]
mod tests;

/// Renders the documents of all crates, and for each crate the Rust file that embeds them.
pub(super) fn render(model: &Model, files: &mut Files) -> Result<()> {
    for package in &model.packages {
        let folder = folder(package);
        files.own(folder.clone());
        if package.groups.is_empty() {
            continue;
        }
        let mut embedded = Vec::new();
        for group in &package.groups {
            for version in group.versions.iter().filter(|version| version.is_served()) {
                let document = definitions::Document::of(model, group, version);
                let path = served_path(group, version);
                let name = file_name(&path);
                files.add(folder.join("v3").join(&name), v3::render(&document))?;
                files.add(folder.join("v2").join(&name), v2::render(&document))?;
                embedded.push(Embedded {
                    path,
                    constant: format!("{}_{}", group.module, version.name).to_uppercase(),
                    file: name,
                });
            }
        }
        for (constant, entrance) in entrances(package) {
            let name = file_name(&entrance.path);
            files.add(folder.join("v3").join(&name), entrance.v3(model))?;
            files.add(folder.join("v2").join(&name), entrance.v2(model))?;
            embedded.push(Embedded {
                path: entrance.path,
                constant,
                file: name,
            });
        }
        files.add(module_file(package), module(package, &embedded))?;
    }
    Ok(())
}

/// A document in the Rust file.
struct Embedded {
    /// The path below `/openapi/v3/`.
    path: String,
    /// The prefix of the constants' names.
    constant: String,
    /// The file name.
    file: String,
}

/// Returns the folder for the documents of a crate.
fn folder(package: &PackageModel) -> PathBuf {
    match package.package.role {
        Role::Library | Role::BuiltIn => PathBuf::from("generated/openapi"),
        Role::Own => package.package.folder.join("generated/openapi"),
    }
}

/// Returns the path of the Rust file that embeds the documents of a crate.
fn module_file(package: &PackageModel) -> PathBuf {
    match package.package.role {
        Role::Library | Role::BuiltIn => PathBuf::from("generated/src/openapi.rs"),
        Role::Own => package.package.folder.join("src/generated/openapi.rs"),
    }
}

/// Returns the path below `/openapi/v3/`: `api/v1` or `apis/apps/v1`.
fn served_path(group: &Group, version: &Version) -> String {
    match group.name.as_str() {
        "" => format!("api/{}", version.name),
        name => format!("apis/{name}/{}", version.name),
    }
}

fn file_name(path: &str) -> String {
    format!("{}.json", path.replace('/', "__"))
}

/// Returns the documents of a crate besides its group versions, with the prefixes of the constants' names.
fn entrances(package: &PackageModel) -> Vec<(String, Entrance)> {
    let served = |group: &&Group| !group.name.is_empty() && group.versions.iter().any(Version::is_served);
    let groups = package.groups.iter().filter(served);
    let mut entrances: Vec<(String, Entrance)> = groups
        .map(|group| (group.module.to_uppercase(), Entrance::of_group(group)))
        .collect();
    if package.package.role == Role::BuiltIn {
        entrances.extend(Entrance::of_servers().into_iter().map(|entrance| {
            let name = entrance.path.trim_start_matches('.').replace(['/', '-'], "_");
            (format!("SERVER_{}", name.to_uppercase()), entrance)
        }));
    }
    entrances
}

/// Renders the Rust file that embeds the documents.
fn module(package: &PackageModel, embedded: &[Embedded]) -> String {
    let (sources, form) = match package.package.role {
        Role::Library | Role::BuiltIn => (
            Path::new("api-defs/src"),
            "the JSON text, compressed by the build script",
        ),
        Role::Own => (package.package.folder.as_path(), "the JSON text"),
    };
    let mut text = format!("//! OpenAPI documents: the path below `/openapi/v3/` and {form}.\n//!\n");
    text.push_str(&format!(
        "//! Generated by `cargo xtask generate` from `{}/`; edit those files instead.\n",
        sources.display()
    ));
    if package.package.role != Role::Own {
        text.push_str(COMPRESSED);
    }
    for dialect in ["v3", "v2"] {
        let upper = dialect.to_uppercase();
        let listed = embedded
            .iter()
            .map(|Embedded { path, constant, .. }| (format!("\"{path}\""), format!("{constant}_{upper}")));
        text.push_str(&format!(
            "\n/// Documents of OpenAPI {dialect}.\npub static {upper}: &[(&str, &[u8])] = {};\n\n",
            pairs(&listed.collect::<Vec<_>>())
        ));
        for Embedded { file, constant, .. } in embedded {
            let declared = format!("const {constant}_{upper}: &[u8] =");
            let included = included(package.package.role, dialect, file);
            // The line width set in `rustfmt.toml`.
            let between = if declared.len() + 1 + included.len() <= 120 {
                " "
            } else {
                "\n    "
            };
            text.push_str(&format!("{declared}{between}{included}\n"));
        }
    }
    text
}

/// The macro that embeds a document of the built-in groups.
const COMPRESSED: &str = r#"
/// A document as the build script has compressed it.
macro_rules! compressed {
    ($path:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/openapi/", $path, ".gz"))
    };
}
"#;

/// Returns the expression of an embedded document. Those of the built-in groups are compressed, because they are large.
fn included(role: Role, dialect: &str, file: &str) -> String {
    match role {
        Role::Library | Role::BuiltIn => {
            format!("compressed!(\"{dialect}/{file}\");")
        }
        Role::Own => format!("include_bytes!(\"../../generated/openapi/{dialect}/{file}\");"),
    }
}
