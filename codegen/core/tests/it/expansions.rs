//! Expansions of the derives as committed files: `tests/expansions/<name>.rs` and `<name>.expanded.rs`.
//!
//! `BLESS=1 cargo test -p planesmith-codegen-core --test it` rewrites the expansions; review the diff.

use std::path::Path;

use planesmith_codegen_core::{resource, structure};
use similar::TextDiff;
use syn::DeriveInput;

/// Expands each item in a file and compares the result with the committed one.
#[track_caller]
fn check(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expansions");
    let input = std::fs::read_to_string(folder.join(name).with_extension("rs")).expect("an input");
    let expanded = expand(&input);
    let path = folder.join(name).with_extension("expanded.rs");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expanded).expect("a writable folder");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if committed != expanded {
        let diff = TextDiff::from_lines(committed.as_str(), expanded.as_str());
        panic!(
            "{} is stale; set BLESS=1 to write it\n{}",
            path.display(),
            diff.unified_diff()
        );
    }
}

fn expand(input: &str) -> String {
    let file = syn::parse_file(input).expect("an input that parses");
    let mut output = String::new();
    for item in file.items {
        let item = quote::ToTokens::into_token_stream(item);
        let input: DeriveInput = syn::parse2(item).expect("an input with structs");
        let is_kind = input.attrs.iter().any(|attr| attr.path().is_ident("resource"));
        let tokens = if is_kind {
            resource::derive(&input)
        } else {
            structure::derive(&input)
        };
        let file = syn::parse2(tokens).expect("an expansion that parses");
        output.push_str(&prettyplease::unparse(&file));
    }
    output
}

#[test]
fn a_nested_struct() {
    check("nested_struct");
}

#[test]
fn a_kind_with_everything() {
    check("kind_with_everything");
}

#[test]
fn the_smallest_kind() {
    check("smallest_kind");
}

#[test]
fn stubs_beside_errors() {
    check("stubs_beside_errors");
}

/// Thin expansions keep builds fast: a workspace has more than a thousand structs.
#[test]
fn expansions_stay_small() {
    let kind = "#[resource(group = \"\", version = \"v1\")] struct Thing { metadata: ObjectMeta }";
    let [empty, one_field] = ["struct Thing {}", "struct Thing { size: i32 }"].map(|input| expand(input).len());
    assert!(empty < 3_000, "a struct costs {empty} bytes");
    assert!(one_field - empty < 400, "a field costs {} bytes", one_field - empty);
    assert!(expand(kind).len() < 5_450, "a kind costs {} bytes", expand(kind).len());
}
