//! The row of a new crate in the layers that `cargo xtask tidy` checks.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::request::Request;

/// The file with the layers, relative to the workspace.
pub(super) const FILE: &str = "tidy.toml";

/// The heading of the layers; the first row below it is the uppermost crate.
const HEADING: &str = "[crates]\n";

/// The crates that a new crate uses.
const USES: [&str; 4] = [
    "planesmith-control-plane",
    "planesmith-machinery",
    "planesmith-rbac",
    "planesmith-server",
];

/// Declares the new crate, which no other uses. Returns false if the workspace declares no layers.
///
/// # Errors
///
/// The file cannot be read or written.
pub(super) fn declare(root: &Path, request: &Request) -> Result<bool> {
    let path = root.join(FILE);
    if !path.exists() {
        return Ok(false);
    }
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {FILE}"))?;
    let Some(text) = with_row(&text, &request.package) else {
        return Ok(false);
    };
    std::fs::write(&path, text).with_context(|| format!("writing {FILE}"))?;
    Ok(true)
}

/// Returns `text` with a row for `package`; `None` if it declares no layers, or the package already.
fn with_row(text: &str, package: &str) -> Option<String> {
    if text.lines().any(|line| line.starts_with(&format!("{package} = "))) {
        return None;
    }
    let (start, rows) = text.split_once(HEADING)?;
    let uses = USES.map(|name| format!("\"{name}\"")).join(", ");
    Some(format!("{start}{HEADING}{package} = {{ uses = [{uses}] }}\n{rows}"))
}

#[cfg(test)]
mod tests {
    use super::super::scaffold;
    use super::*;

    fn request() -> Request {
        Request::read("library.example.com/v1", "Book", None).expect("good names")
    }

    #[test]
    fn the_row_lists_the_crates_of_the_manifest() {
        let manifest = scaffold::files(&request());
        let (_, manifest) = manifest
            .iter()
            .find(|(path, _)| path == "Cargo.toml")
            .expect("a manifest");
        let manifest: toml::Table = manifest.parse().expect("TOML");
        let dependencies = manifest["dependencies"].as_table().expect("a table");
        assert!(dependencies.keys().eq(USES), "{dependencies:?}");
    }

    #[test]
    fn a_crate_is_declared_once_and_other_rows_stay() {
        let tree = tempfile::tempdir().expect("a temporary folder");
        let path = tree.path().join(FILE);
        assert!(!declare(tree.path(), &request()).expect("no file"));
        std::fs::write(&path, "# Layers.\n[crates]\na = { uses = [] }\n").expect("a file");
        assert!(declare(tree.path(), &request()).expect("a row"));
        assert!(!declare(tree.path(), &request()).expect("no second row"));
        let text = std::fs::read_to_string(&path).expect("a file");
        let declared: toml::Table = text.parse().expect("TOML");
        let names: Vec<_> = declared["crates"].as_table().expect("a table").keys().collect();
        assert_eq!(names, ["a", "planesmith-library"], "{text}");
        assert!(text.starts_with("# Layers.\n[crates]\nplanesmith-library = "), "{text}");
    }
}
