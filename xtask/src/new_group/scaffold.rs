//! The hand-written files of a new crate.

use super::request::Request;

/// Returns the files by path in the crate.
pub(super) fn files(request: &Request) -> Vec<(String, String)> {
    let Request {
        module, version, file, ..
    } = request;
    [
        ("Cargo.toml".to_owned(), MANIFEST),
        ("README.md".to_owned(), README),
        ("src/lib.rs".to_owned(), LIB),
        ("src/components.rs".to_owned(), COMPONENTS),
        (format!("src/{module}.rs"), GROUP),
        (format!("src/{module}/{version}.rs"), VERSION),
        (format!("src/{module}/{version}/{file}.rs"), KIND),
    ]
    .map(|(path, text)| (path, fill(text, request)))
    .into()
}

/// Inserts the names into a text.
fn fill(text: &str, request: &Request) -> String {
    let Request {
        group,
        version,
        kind,
        name,
        module,
        file,
        package,
    } = request;
    let plural = planesmith_codegen_core::names::plural(&kind.to_lowercase());
    let names = [
        ("GROUP_NAME", group.as_str()),
        ("VERSION_NAME", version),
        ("KIND_NAME", kind),
        ("PLURAL_NAME", &plural),
        ("FOLDER_NAME", name),
        ("MODULE_NAME", module),
        ("FILE_NAME", file),
        ("PACKAGE_NAME", package),
    ];
    names.iter().fold(text.to_owned(), |text, (placeholder, name)| {
        text.replace(placeholder, name)
    })
}

const MANIFEST: &str = r#"[package]
name = "PACKAGE_NAME"
description = "The API group GROUP_NAME and a server for it."
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
publish.workspace = true

[lints]
workspace = true

[dependencies]
# jemalloc is for servers under load; without it the server is smaller and sooner built.
planesmith-control-plane = { workspace = true, features = ["jemalloc"] }
planesmith-machinery.workspace = true
planesmith-rbac.workspace = true
planesmith-server.workspace = true

[dev-dependencies]
planesmith-machinery = { workspace = true, features = ["testing"] }
"#;

const README: &str = r#"# GROUP_NAME

A custom API group and its server.

- `src/MODULE_NAME/VERSION_NAME/FILE_NAME.rs` declares the kind: its fields, attributes and strategy. Edit this file.
- `src/components.rs` lists the parts of the server besides the kind: access by roles and bindings.
- `src/generated.rs`, `src/generated/` and `src/main.rs` are generated from it by `cargo xtask generate`.

Add a field, then:

```sh
cargo xtask generate
cargo run --package PACKAGE_NAME -- --data-dir=FOLDER_NAME-data
```

The server prints its address and the path of its kubeconfig (`--secure-port` selects another port, for a second server). In
another terminal:

```sh
export KUBECONFIG=FOLDER_NAME-data/admin.kubeconfig
kubectl create -f - <<END
apiVersion: GROUP_NAME/VERSION_NAME
kind: KIND_NAME
metadata:
  name: first
spec:
  description: the first one
END
kubectl get PLURAL_NAME
```

To add a version, add a folder next to `VERSION_NAME`, with `storage_version = ...` on the version that is not the storage
version.
"#;

const LIB: &str = r#"//! The API group `GROUP_NAME`.
//!
//! `MODULE_NAME` is written by hand; `generated` is generated from it.

pub mod components;
pub mod generated;
pub mod MODULE_NAME;
"#;

const COMPONENTS: &str = r#"//! The parts of the server besides its own kinds: roles and their bindings, which decide what users may do.

use planesmith_control_plane::Component;

/// The components.
pub const COMPONENTS: &[&dyn Component] = &[planesmith_rbac::COMPONENT];
"#;

const GROUP: &str = r#"//! The versions of `GROUP_NAME`.

pub mod VERSION_NAME;
"#;

const VERSION: &str = r#"//! `GROUP_NAME/VERSION_NAME`.

mod FILE_NAME;

pub use FILE_NAME::{KIND_NAME, KIND_NAMESpec, KIND_NAMEStatus};
"#;

const KIND: &str = r#"//! The kind `KIND_NAME`.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

/// Describe the kind here; `kubectl explain` prints this text.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "GROUP_NAME", version = "VERSION_NAME", status, generation, strategy)]
#[resource(
    column(name),
    column(name = "Phase", type = "string", doc = "The current phase.", path = "status.phase"),
    column(age)
)]
pub struct KIND_NAME {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The desired state.
    #[field(proto = 2)]
    pub spec: KIND_NAMESpec,
    /// The observed state.
    #[field(proto = 3)]
    pub status: KIND_NAMEStatus,
}

/// The desired state.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct KIND_NAMESpec {
    /// A short description.
    #[field(proto = 1, max_length = 200)]
    pub description: String,
    /// The desired number.
    #[field(proto = 2, default = 1, minimum = 0, maximum = 100)]
    pub count: Option<i32>,
}

/// The observed state.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct KIND_NAMEStatus {
    /// The current phase.
    #[field(proto = 1, one_of("", "Pending", "Ready"))]
    pub phase: String,
}

impl Strategy for KIND_NAME {
    fn validate(&self, errors: &mut FieldErrors) {
        let description = self.spec.description.as_str();
        if description.trim() != description {
            errors.invalid("spec.description", description, "must not have spaces around it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_around_a_description_are_refused() {
        let mut object = KIND_NAME::default();
        object.spec.description = " early".to_owned();
        let mut errors = FieldErrors::default();
        object.validate(&mut errors);
        assert_eq!(errors.as_slice().len(), 1);
    }
}
"#;
