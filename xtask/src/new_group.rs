//! `cargo xtask new-group`: creates a crate for a new API group.

#[cfg(test)]
mod end_to_end;
mod layer;
mod request;
mod scaffold;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use planesmith_codegen_core::names;

use crate::cargo::{cargo, workspace};
use crate::generate;
use request::Request;

/// Creates a crate with a custom kind and a server for it.
///
/// The crate is created in `examples`, and its generated files with it; `tidy.toml` gets its row. Existing files are never
/// overwritten.
#[derive(Debug, clap::Args)]
pub(crate) struct NewGroup {
    /// The group and version, such as shop.example.com/v1.
    #[arg(value_name = "GROUP/VERSION")]
    group_version: String,

    /// The kind, in upper camel case, such as Order.
    #[arg(long)]
    kind: String,

    /// The folder in `examples` and the module in the crate. Default: the first part of the group.
    #[arg(long)]
    name: Option<String>,
}

impl NewGroup {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let request = Request::read(&self.group_version, &self.kind, self.name.as_deref())?;
        for path in write(workspace(), &request)? {
            println!("wrote {path}");
        }
        if layer::declare(workspace(), &request)? {
            println!("added a row to {}", layer::FILE);
        }
        for difference in generate::write(workspace())? {
            println!("{}", difference.done());
        }
        // Long names can need another layout; formatting is optional, so a missing rustfmt is ignored.
        let _ = cargo().args(["fmt", "--package", &request.package]).status();
        print!("\n{}", next_steps(&request));
        Ok(ExitCode::SUCCESS)
    }
}

fn next_steps(request: &Request) -> String {
    let Request {
        name,
        module,
        version,
        file,
        kind,
        package,
        ..
    } = request;
    let plural = names::plural(&kind.to_lowercase());
    format!(
        "next:\n  edit examples/{name}/src/{module}/{version}/{file}.rs\n  cargo xtask generate\n  cargo run --package \
         {package} -- --data-dir={name}-data\n  kubectl --kubeconfig {name}-data/admin.kubeconfig get {plural}\n"
    )
}

/// Writes the files of a new crate; returns their paths. Writes nothing if one of them exists.
fn write(root: &Path, request: &Request) -> Result<Vec<String>> {
    let folder = format!("examples/{}", request.name);
    if root.join(&folder).exists() {
        bail!("{folder} exists already; choose another folder with --name, or add the kind to it by hand");
    }
    let files = scaffold::files(request);
    let mut written = Vec::new();
    for (path, text) in files {
        let path = format!("{folder}/{path}");
        let full = root.join(&path);
        let parent = full.parent().context("a file in a folder")?;
        std::fs::create_dir_all(parent).with_context(|| format!("writing {}", parent.display()))?;
        std::fs::write(&full, text).with_context(|| format!("writing {}", full.display()))?;
        written.push(path);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(group_version: &str, kind: &str, name: Option<&str>) -> String {
        let error = Request::read(group_version, kind, name).expect_err("a bad name");
        error.to_string()
    }

    #[test]
    fn bad_names_are_refused_with_what_to_type() {
        for (group_version, kind, name, part) in [
            (
                "shop.example.com",
                "Order",
                None,
                "write GROUP/VERSION, such as shop.example.com/v1",
            ),
            (
                "Shop.example.com/v1",
                "Order",
                None,
                "\"Shop.example.com\" is not an API group",
            ),
            ("shop.example.com/1", "Order", None, "\"1\" is not an API version"),
            ("shop.example.com/v1/x", "Order", None, "\"v1/x\" is not an API version"),
            ("shop.example.com/v1", "order", None, "\"order\" is not a kind"),
            ("shop.example.com/v1", "OrderList", None, "ends with List"),
            ("/v1", "Order", None, "the core group is reserved"),
            ("apps/v1", "Order", None, "needs a dot"),
            ("type.example.com/v1", "Order", None, "--name"),
            ("1st.example.com/v1", "Order", None, "--name"),
            (
                "shop.example.com/v1",
                "Order",
                Some("../shop"),
                "\"../shop\" is not a name",
            ),
            (
                "shop.example.com/v1",
                "Order",
                Some("generated"),
                "\"generated\" is not a name",
            ),
        ] {
            let message = refused(group_version, kind, name);
            assert!(message.contains(part), "{group_version} {kind}: {message}");
        }
    }

    #[test]
    fn names_in_the_crate_follow_from_the_group_and_the_kind() {
        let request = Request::read("my-shop.example.com/v1beta1", "HTTPOrder", None).expect("good names");
        assert_eq!((request.name.as_str(), request.module.as_str()), ("my-shop", "my_shop"));
        assert_eq!(
            (request.file.as_str(), request.package.as_str()),
            ("http_order", "planesmith-my-shop")
        );
        let request = Request::read("shop.example.com/v1", "Match", Some("games")).expect("good names");
        assert_eq!(
            (request.module.as_str(), request.file.as_str()),
            ("games", "match_kind")
        );
    }

    #[test]
    fn an_existing_folder_is_left_alone() {
        let tree = tempfile::tempdir().expect("a temporary folder");
        let request = Request::read("shop.example.com/v1", "Order", None).expect("good names");
        let written = write(tree.path(), &request).expect("an empty tree");
        assert!(
            written.contains(&"examples/shop/src/shop/v1/order.rs".to_owned()),
            "{written:?}"
        );
        let kind = tree.path().join("examples/shop/src/shop/v1/order.rs");
        std::fs::write(&kind, "mine").expect("a file");
        let error = write(tree.path(), &request).expect_err("a folder that exists");
        assert!(error.to_string().contains("examples/shop exists already"), "{error}");
        assert_eq!(std::fs::read_to_string(kind).expect("a file"), "mine");
    }

    #[test]
    fn a_new_group_is_formatted_rust_that_the_generator_reads() {
        let request = Request::read("shop.example.com/v1", "Order", None).expect("good names");
        for (path, text) in scaffold::files(&request) {
            assert!(text.ends_with('\n') && !text.contains("\n\n\n"), "{path}");
            if path.ends_with(".rs") {
                syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
                assert!(text.lines().all(|line| line.len() <= 120), "{path}");
            }
        }
    }
}
