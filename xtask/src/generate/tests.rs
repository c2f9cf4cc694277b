//! Small workspaces, and the files or problems that result from them.

use std::path::Path;

use super::*;

/// Returns the manifest of a package called `name`.
fn manifest(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\n")
}

/// Creates a workspace with `files` and the minimum that every workspace needs.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let tree = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        let path = tree.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("runtime/machinery/Cargo.toml", &manifest("planesmith-machinery"));
    write(
        "runtime/machinery/src/lib.rs",
        "pub mod meta;\npub mod byte_string { pub struct ByteString; }\n",
    );
    write(
        "runtime/machinery/src/meta.rs",
        "#[derive(Struct)]\npub struct ObjectMeta { pub name: String }\n",
    );
    write("api-defs/Cargo.toml", &manifest("planesmith-api-defs"));
    write("api-defs/src/lib.rs", "");
    write("examples/shop/Cargo.toml", &manifest("planesmith-shop"));
    write("examples/shop/src/lib.rs", "pub mod generated;\npub mod v1;\n");
    write("examples/shop/src/v1.rs", "");
    for (path, text) in files {
        write(path, text);
    }
    tree
}

/// Creates a shop whose `v1.rs` contains `text`, after the imports that it needs.
fn shop(text: &str) -> tempfile::TempDir {
    let text = format!("use planesmith_machinery::meta::ObjectMeta;\n{text}");
    tree(&[("examples/shop/src/v1.rs", &text)])
}

/// Returns the problems of a tree; empty if it renders.
fn problems(tree: &Path) -> String {
    render(tree).err().map(|error| error.to_string()).unwrap_or_default()
}

/// Asserts that a shop with these files renders; `files` are relative to the workspace.
pub(crate) fn renders(files: &[(String, &str)]) {
    let lib = "pub mod generated;\npub mod shop;\npub mod v1;\n";
    let mut all: Vec<(&str, &str)> = vec![("examples/shop/src/lib.rs", lib)];
    all.extend(files.iter().map(|(path, text)| (path.as_str(), *text)));
    let tree = tree(&all);
    assert_eq!(problems(tree.path()), "");
}

/// Asserts that there is one problem whose text contains all of `parts`.
#[track_caller]
fn reports(tree: &tempfile::TempDir, parts: &[&str]) {
    let problems = problems(tree.path());
    assert!(problems.starts_with("one problem"), "{problems}");
    for part in parts {
        assert!(problems.contains(part), "no {part:?} in:\n{problems}");
    }
}

const ORDER: &str = "#[derive(Resource)]\n#[resource(group = \"shop.example.com\", version = \"v1\")]\npub struct Order \
                     { pub metadata: ObjectMeta }\n";

#[test]
fn the_tree_is_what_the_definitions_imply() {
    let differences = render(workspace()).and_then(|files| files.compare(workspace()));
    let differences = differences.expect("the workspace renders");
    let shown: String = differences.iter().map(ToString::to_string).collect();
    assert!(differences.is_empty(), "{shown}\nrun `cargo xtask generate`");
}

#[test]
fn rendering_twice_gives_the_same_bytes() {
    let render = || render(workspace()).expect("the workspace renders");
    assert!(render() == render());
}

#[test]
fn a_group_of_ones_own_is_registered_inside_its_crate() {
    let tree = shop(ORDER);
    let written = write(tree.path()).expect("a tree that renders");
    let paths: Vec<String> = written.iter().map(|file| file.path.display().to_string()).collect();
    for path in [
        "examples/shop/src/generated.rs",
        "examples/shop/src/generated/shop/v1.rs",
    ] {
        assert!(paths.contains(&path.to_owned()), "{paths:?}");
    }
    let text = std::fs::read_to_string(tree.path().join("examples/shop/src/generated/shop/v1.rs")).expect("a file");
    assert!(text.contains("use crate::v1::Order;\n"), "{text}");
    assert!(text.contains("    scheme.add::<Order>();\n"), "{text}");
    assert_eq!(
        write(tree.path()).expect("the same tree"),
        [],
        "a second run has nothing to do"
    );
}

#[test]
fn files_of_a_removed_version_are_orphaned() {
    let tree = shop(ORDER);
    write(tree.path()).expect("a tree that renders");
    std::fs::write(tree.path().join("examples/shop/src/v1.rs"), "").expect("a file");
    let differences = render(tree.path())
        .and_then(|files| files.compare(tree.path()))
        .expect("a tree that renders");
    let orphaned: Vec<String> = differences
        .iter()
        .filter(|file| matches!(file.change, difference::Change::Orphaned))
        .map(|file| file.path.display().to_string())
        .collect();
    for left in [
        "docs/reference/",
        "generated/crds/",
        "generated/discovery/",
        "generated/openapi/",
        "src/generated/",
    ] {
        assert!(
            orphaned.iter().any(|path| path.contains(left)),
            "{left} in {orphaned:?}"
        );
    }
}

#[test]
fn names_are_found_through_imports_and_reexports() {
    let tree = tree(&[
        ("api-defs/src/lib.rs", "pub mod apps;\n"),
        (
            "api-defs/src/apps.rs",
            "pub mod v1;\nmod shared { #[derive(Struct)] pub struct Shared { pub a: i32 } }\n",
        ),
        (
            "api-defs/src/apps/v1.rs",
            "mod job;\npub use job::{Job, Spec as JobSpec};\npub use super::shared::*;\n",
        ),
        (
            "api-defs/src/apps/v1/job.rs",
            "use planesmith_machinery::{meta, byte_string::ByteString};\nuse super::{JobSpec as Renamed, Shared};\n\
             type Nested = Option<Vec<Shared>>;\n\
             #[derive(Clone, planesmith_machinery::Resource)]\n#[resource(group = \"apps\", version = \"v1\")]\n\
             pub struct Job { pub metadata: meta::ObjectMeta, pub spec: Renamed }\n\
             #[derive(Struct)]\npub struct Spec { pub nested: Nested, pub bytes: ByteString, pub again: Vec<crate::apps::v1::JobSpec> }\n",
        ),
    ]);
    let model = Model::load(tree.path()).expect("every name is found");
    let (group, version, kind) = model.kinds().next().expect("a kind");
    assert_eq!((group.module.as_str(), version.name.as_str()), ("apps", "v1"));
    assert_eq!(kind.public.to_string(), "planesmith_api_defs::apps::v1::Job");
    assert_eq!(kind.path.to_string(), "planesmith_api_defs::apps::v1::job::Job");
    let job = model.structure(&kind.path);
    let leads = |path: &str| {
        model
            .at(job, path)
            .map(|ty| format!("{:?}", ty.structure().map(ToString::to_string)))
    };
    assert_eq!(
        leads("spec.nested"),
        Ok("Some(\"planesmith_api_defs::apps::shared::Shared\")".to_owned())
    );
    assert_eq!(
        leads("spec.again"),
        Ok("Some(\"planesmith_api_defs::apps::v1::job::Spec\")".to_owned())
    );
    assert_eq!(
        leads("metadata.nam"),
        Err("`ObjectMeta` has no field \"nam\"; did you mean \"name\"?".to_owned())
    );
}

#[test]
fn errors_of_derives_are_reported_here_too() {
    let tree = shop(&ORDER.replace("version", "verson"));
    let problems = problems(tree.path());
    assert!(
        problems.contains("examples/shop/src/v1.rs: `Order`: unknown key `verson`"),
        "{problems}"
    );
    assert!(problems.contains("help: did you mean `version`?"), "{problems}");
}

#[test]
fn usual_values_are_read_from_the_constant_that_lists_them() {
    let order = ORDER.replace("metadata: ObjectMeta", "metadata: ObjectMeta, pub spec: Spec");
    let spec = "#[derive(Struct)]\npub struct Spec { #[field(known = sizes::ALL)] pub size: String }\n";
    let sizes = "mod sizes { pub const ALL: &[&str] = &[\"small\", \"large\"]; pub const NO: [u8; 1] = [1]; }\n";
    let tree = shop(&format!("{order}{spec}{sizes}"));
    let files = write(tree.path()).expect("a tree that renders");
    let texts = files
        .iter()
        .map(|file| std::fs::read_to_string(tree.path().join(&file.path)).unwrap_or_default());
    let schemas: Vec<String> = texts.filter(|text| text.contains(r#""large","small""#)).collect();
    assert!(!schemas.is_empty(), "OpenAPI lists the values");

    let tree = shop(&format!("{order}{}{sizes}", spec.replace("ALL", "NO")));
    reports(
        &tree,
        &["`Spec.size`", "`known` names `sizes::NO`, which is not a list of texts"],
    );
}

#[test]
fn a_type_that_cannot_be_found_is_reported() {
    let tree = shop(&format!(
        "{ORDER}#[derive(Struct)]\npub struct Spec {{ pub size: Quantiti }}\n"
    ));
    reports(&tree, &["`Spec.size`", "the type of the field cannot be found"]);
}

#[test]
fn a_kind_that_cannot_be_imported_is_reported() {
    let tree = shop(&format!("mod order {{ use super::ObjectMeta;\n{ORDER} }}\n"));
    reports(&tree, &["`Order`", "other crates cannot reach", "pub use ...::Order;"]);
}

#[test]
fn a_kind_in_the_module_of_another_version_is_reported() {
    let tree = shop(&ORDER.replace("\"v1\"", "\"v2\""));
    reports(
        &tree,
        &["the kind is `planesmith_shop::v1::Order`, but its version is `v2`"],
    );
}

#[test]
fn map_keys_and_merge_keys_must_be_fields_of_the_elements() {
    let item = "#[derive(Struct)]\npub struct Item { pub article: String }\n#[derive(Struct)]\npub struct Spec {\n";
    let tree = shop(&format!(
        "{item}#[field(list_type = map, list_map_keys(\"artcle\"))] pub items: Vec<Item> }}\n"
    ));
    reports(
        &tree,
        &[
            "`Spec.items`",
            "`list_map_keys` names \"artcle\"",
            "did you mean \"article\"?",
        ],
    );
    let tree = shop(&format!(
        "{item}#[field(patch_strategy(merge), patch_merge_key = \"id\")] pub items: Vec<Item> }}\n"
    ));
    reports(&tree, &["`patch_merge_key` names \"id\"", "its fields are article"]);
}

#[test]
fn paths_of_a_kind_must_lead_to_fields() {
    for (key, problem) in [
        ("selectable(\"spec.stat\")", "`selectable` names \"spec.stat\""),
        ("rows_by = \"spec.stat\"", "`rows_by` names \"spec.stat\""),
    ] {
        let kind = ORDER
            .replace("\"v1\"", &format!("\"v1\", {key}"))
            .replace("}", ", pub spec: Spec }");
        let tree = shop(&format!(
            "{kind}#[derive(Struct)]\npub struct Spec {{ pub state: String }}\n"
        ));
        reports(&tree, &[problem, "did you mean \"state\"?"]);
    }
}

#[test]
fn fields_of_an_inlined_struct_must_not_clash_with_others() {
    let tree = shop(
        "#[derive(Struct)]\npub struct In { pub size: i32 }\n\
         #[derive(Struct)]\npub struct Out { #[field(inline)] pub inner: In, pub size: i32 }\n",
    );
    reports(&tree, &["`Out`", "two fields are called \"size\""]);
}

#[test]
fn versions_must_convert_to_a_storage_version_of_their_kind() {
    let older = |attributes: &str, fields: &str| {
        let older = format!(
            "use planesmith_machinery::meta::ObjectMeta;\n#[derive(Resource)]\n#[resource(group = \"shop.example.com\", \
             version = \"v1alpha1\", {attributes})]\npub struct Order {{ pub metadata: ObjectMeta {fields} }}\n"
        );
        let newer = format!(
            "use planesmith_machinery::meta::ObjectMeta;\n{ORDER}{}",
            ORDER.replace("Order", "Cart")
        );
        tree(&[
            (
                "examples/shop/src/lib.rs",
                "pub mod generated;\npub mod v1;\npub mod v1alpha1;\n",
            ),
            ("examples/shop/src/v1.rs", &newer),
            ("examples/shop/src/v1alpha1.rs", &older),
        ])
    };
    assert_eq!(problems(older("storage_version = crate::v1::Order", "").path()), "");
    reports(
        &older("storage_version = super::v1::Cart", ""),
        &["the storage version is of another kind: Cart"],
    );
    reports(
        &older("storage_version = super::v1::Basket", ""),
        &["`super::v1::Basket` is not a kind"],
    );
    reports(
        &older("storage_version = super::v1::Order, cluster", ""),
        &["write `cluster` in both or in none"],
    );
    let moved = ", #[field(moved_to = \"spec.size\")] pub size: i32";
    reports(
        &older("storage_version = super::v1::Order", moved),
        &["`Order.size`", "`Order` has no field \"spec\""],
    );
}

#[test]
fn two_structs_cannot_be_the_same_kind() {
    let tree = shop(&format!(
        "{ORDER}{}",
        ORDER
            .replace("Order", "Purchase")
            .replace("\"v1\"", "\"v1\", kind = \"Order\"")
    ));
    reports(&tree, &["has the same kind, Order"]);
}

#[test]
fn a_module_without_a_file_is_reported() {
    let tree = tree(&[(
        "examples/shop/src/lib.rs",
        "pub mod v1;\npub mod v2;\nmod generated;\n#[cfg(test)]\nmod tests;\n",
    )]);
    reports(&tree, &["`mod v2`", "write examples/shop/src/v2.rs"]);
}

#[test]
fn a_file_that_no_module_names_is_reported() {
    let tree = tree(&[
        (
            "examples/shop/src/lib.rs",
            "pub mod v1;\nmod inner { mod leaf; }\n#[cfg(test)]\nmod tests;\n",
        ),
        ("examples/shop/src/inner/leaf.rs", ""),
        ("examples/shop/src/tests.rs", "mod more;\n"),
        ("examples/shop/src/tests/more.rs", ""),
        ("examples/shop/src/main.rs", "fn main() {}\n"),
        ("examples/shop/src/v1/order.rs", ORDER),
    ]);
    reports(
        &tree,
        &[
            "examples/shop/src/v1/order.rs: no module names this file",
            "add `mod order;`",
        ],
    );
}

#[test]
fn a_crate_that_leaves_out_what_is_generated_is_reported() {
    let order = format!("use planesmith_machinery::meta::ObjectMeta;\n{ORDER}");
    let tree = tree(&[
        ("examples/shop/src/lib.rs", "pub mod v1;\n"),
        ("examples/shop/src/v1.rs", &order),
    ]);
    reports(&tree, &["examples/shop/src/lib.rs", "add `pub mod generated;`"]);
}

/// Creates a shop with these kinds in v1 and v2.
fn versions(v1: &str, v2: &str) -> tempfile::TempDir {
    let import = "use planesmith_machinery::meta::ObjectMeta;\n";
    tree(&[
        (
            "examples/shop/src/lib.rs",
            "pub mod generated;\npub mod v1;\npub mod v2;\n",
        ),
        ("examples/shop/src/v1.rs", &format!("{import}{v1}")),
        ("examples/shop/src/v2.rs", &format!("{import}{v2}")),
    ])
}

/// Returns the kind `kind` of a version, with more keys.
fn kind_of(version: &str, kind: &str, keys: &str) -> String {
    format!(
        "#[derive(Resource)]\n#[resource(group = \"shop.example.com\", version = \"{version}\"{keys})]\npub struct {kind} \
         {{ pub metadata: ObjectMeta }}\n"
    )
}

#[test]
fn a_kind_has_one_storage_version() {
    let tree = versions(&kind_of("v1", "Order", ""), &kind_of("v2", "Order", ""));
    let expected = [
        "v1.rs",
        "`planesmith_shop::v2::Order` is a storage version of Order as well",
        "add `storage_version = planesmith_shop::v2::Order` to its `#[resource(...)]`",
    ];
    reports(&tree, &expected);
    let hub = ", storage_version = crate::v2::Order";
    let tree = versions(&kind_of("v1", "Order", hub), &kind_of("v2", "Order", ""));
    assert_eq!(problems(tree.path()), "");
}

#[test]
fn a_short_name_leads_to_one_kind_in_all_versions() {
    let short = ", short(\"o\")";
    let tree = versions(&kind_of("v1", "Offer", short), &kind_of("v2", "Order", short));
    reports(
        &tree,
        &["v1.rs", "clients call `planesmith_shop::v2::Order` \"o\", too"],
    );
}
