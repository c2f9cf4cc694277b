//! No input makes the derives panic: a panic would point at the derive instead of the mistake.

use std::path::{Path, PathBuf};

use planesmith_codegen_core::{resource, structure};
use proc_macro2::{Group, TokenStream, TokenTree};
use syn::DeriveInput;

/// Returns the files with mistakes and those with expansions.
fn inputs() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("../tests/ui"), here.join("tests/expansions")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of inputs") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// Returns all variants with one token removed, at any depth.
fn without_one(tokens: &TokenStream) -> Vec<TokenStream> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut mangled = Vec::new();
    for (index, tree) in trees.iter().enumerate() {
        let replaced = |with: Option<TokenTree>| {
            let before = trees[..index].iter().cloned();
            before
                .chain(with)
                .chain(trees[index + 1..].iter().cloned())
                .collect::<TokenStream>()
        };
        mangled.push(replaced(None));
        if let TokenTree::Group(group) = tree {
            let inner = without_one(&group.stream()).into_iter();
            mangled.extend(inner.map(|inner| replaced(Some(Group::new(group.delimiter(), inner).into()))));
        }
    }
    mangled
}

#[test]
fn inputs_with_a_missing_token_expand_or_are_reported() {
    let mut expanded = 0;
    for path in inputs() {
        let text = std::fs::read_to_string(&path).expect("a readable input");
        let file = syn::parse_file(&text).expect("an input that parses");
        for item in file
            .items
            .iter()
            .filter(|item| matches!(item, syn::Item::Struct(_) | syn::Item::Enum(_)))
        {
            for tokens in without_one(&quote::ToTokens::to_token_stream(item)) {
                // Tokens that are no longer an item never reach a derive.
                let Ok(input) = syn::parse2::<DeriveInput>(tokens) else {
                    continue;
                };
                let is_kind = text.contains("#[resource");
                let output = if is_kind {
                    resource::derive(&input)
                } else {
                    structure::derive(&input)
                };
                assert!(syn::parse2::<syn::File>(output).is_ok(), "{}", path.display());
                expanded += 1;
            }
        }
    }
    assert!(expanded > 2_000, "only {expanded} inputs were tried");
}
