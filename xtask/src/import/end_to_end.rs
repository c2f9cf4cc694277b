//! Drafts compile, and drafts of built-in groups agree with their definitions.
//!
//! Works on a copy of the workspace that shares its target folder, like the test of new groups.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use planesmith_e2e::binary::cargo;
use planesmith_e2e::skip::skip;

use super::document::Found;
use super::{merged, tests, write as written};
use crate::cargo::workspace;
use crate::generate::model::{Definition, Field, Model};
use crate::workspace_copy::{copy, succeeded, target};

/// The manifest of the crate for the drafts.
const MANIFEST: &str = r#"[package]
name = "planesmith-imported"
version.workspace = true
edition.workspace = true
publish.workspace = true

[dependencies]
planesmith-machinery.workspace = true
"#;

/// Groups whose facts are drafted and compared with their definitions.
const PACKAGES: [&str; 4] = ["apps", "networking", "policy", "storage"];

/// Facts of a small group, in addition to those of the reference.
const FACTS: &str = r#"{"group": "facts.example.com", "version": "v1", "types": {
    "Crate": {"kind": "struct", "fields": [
        {"go": "TypeMeta", "inline": true, "type": "metav1.TypeMeta"},
        {"go": "ObjectMeta", "json": "metadata", "type": "metav1.ObjectMeta", "omit": "omitempty", "proto": "bytes,1,opt,name=metadata"},
        {"go": "Spec", "json": "spec", "type": "CrateSpec", "proto": "bytes,2,opt,name=spec"}]},
    "CrateSpec": {"kind": "struct", "fields": [
        {"go": "Size", "json": "size", "type": "*int32", "omit": "omitempty", "proto": "varint,1,opt,name=size", "markers": ["+default=3"]},
        {"go": "Lid", "json": "lid", "type": "Lid", "proto": "bytes,2,opt,name=lid,casttype=Lid"},
        {"go": "Inner", "json": "inner", "type": "[]CrateSpec", "omit": "omitempty", "proto": "bytes,3,rep,name=inner", "markers": ["+listType=atomic"]},
        {"go": "Until", "json": "until", "type": "*metav1.Time", "omit": "omitempty", "proto": "bytes,4,opt,name=until"}]},
    "Lid": {"kind": "alias", "of": "string", "markers": ["+enum"], "values": ["Shut", "Open"]}}}"#;

#[test]
fn drafts_compile() -> Result<()> {
    let mut texts = vec![tests::CRD.as_bytes().to_vec(), FACTS.as_bytes().to_vec()];
    let openapi = workspace().join("generated/openapi/v3/apis__batch__v1.json");
    texts.push(std::fs::read(&openapi).with_context(|| openapi.display().to_string())?);
    match reference("kubernetes/types") {
        Some(types) => {
            for package in PACKAGES {
                texts.push(std::fs::read(types.join(format!("{package}.v1.json")))?);
            }
        }
        None => skip(
            "drafts of facts of Kubernetes",
            "there is no ../shared/kubernetes/types",
        ),
    }
    match reference("crds") {
        Some(folder) => texts.extend(definitions(&folder)?),
        None => skip("drafts of definitions of other projects", "there is no ../shared/crds"),
    }

    let folder = tempfile::tempdir()?;
    let root = folder.path();
    copy(workspace(), root)?;
    let package = root.join("examples/imported");
    let mut drafts = Vec::new();
    for text in &texts {
        drafts.extend(Found::read(text)?.drafts);
    }
    let mut lib = "//! Drafts.\n\npub mod generated;\n".to_owned();
    for (path, text) in written::files(&merged(drafts)?) {
        if let (Some(module), 1) = (path.file_stem(), path.components().count()) {
            lib.push_str(&format!("pub mod {};\n", module.display()));
        }
        write(&package.join("src").join(path), &text)?;
    }
    write(&package.join("src/lib.rs"), &lib)?;
    write(&package.join("src/generated.rs"), "//! Nothing yet.\n")?;
    write(&package.join("Cargo.toml"), MANIFEST)?;
    let checked = cargo()
        .args(["check", "--quiet", "--offline", "--package", "planesmith-imported"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target()?)
        .output()?;
    succeeded("checking the drafts", &checked)?;

    let differences = differences(&Model::load(root)?);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    Ok(())
}

/// Returns the differences between drafts of built-in groups and their definitions.
fn differences(model: &Model) -> Vec<String> {
    let of = |crate_name: &str| {
        let crate_name = crate_name.to_owned();
        model
            .structures()
            .filter(move |definition| definition.path.crate_name() == crate_name)
    };
    let mut found = Vec::new();
    for drafted in of("planesmith_imported") {
        let place = |definition: &Definition| definition.path.0.get(1..3).map(<[String]>::to_vec);
        let declared = of("planesmith_api_defs")
            .find(|declared| declared.name == drafted.name && place(declared) == place(drafted));
        let Some(declared) = declared else { continue };
        // Only facts contain field numbers.
        if drafted.fields.iter().all(|field| field.facts.proto == 0) {
            continue;
        }
        let (ours, theirs) = (described(declared), described(drafted));
        if ours != theirs {
            found.push(format!("{}:\n  declared {ours:?}\n  drafted  {theirs:?}", drafted.name));
        }
    }
    found
}

fn described(definition: &Definition) -> Vec<String> {
    definition.fields.iter().map(field).collect()
}

fn field(field: &Field) -> String {
    let facts = &field.facts;
    format!(
        "{} {} {:?} {} {:?} {} {:?}",
        facts.name, facts.proto, facts.omit, facts.inline, facts.list, facts.atomic, facts.patch
    )
}

/// Returns all definition files below a folder.
pub(super) fn definitions(folder: &Path) -> Result<Vec<Vec<u8>>> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            texts.extend(definitions(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = std::fs::read(&path)?;
            if text.windows(30).any(|part| part == b"kind: CustomResourceDefinition") {
                texts.push(text);
            }
        }
    }
    Ok(texts)
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

/// Returns the path of reference data next to the workspace.
pub(super) fn reference(name: &str) -> Option<PathBuf> {
    let folder = workspace().join("../shared").join(name);
    folder.is_dir().then_some(folder)
}
