//! Paths in the tokens of macros and attributes, which are not parsed.

use proc_macro2::{TokenStream, TokenTree};

/// The paths in `tokens` that start at the crate, at the module around or at the current one, with their lines.
pub(super) fn find(tokens: TokenStream) -> Vec<(Vec<String>, usize)> {
    let mut found = Vec::new();
    walk(tokens, &mut found);
    found
}

fn walk(tokens: TokenStream, found: &mut Vec<(Vec<String>, usize)>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let ident = match token {
            TokenTree::Group(group) => {
                walk(group.stream(), found);
                continue;
            }
            TokenTree::Ident(ident) => ident,
            _ => continue,
        };
        let first = ident.to_string();
        if !matches!(first.as_str(), "crate" | "super" | "self") {
            continue;
        }
        let mut path = vec![first];
        let mut colons = 0;
        // `a::b` is an identifier, two colons, an identifier.
        while let Some(next) = tokens.peek() {
            match next {
                TokenTree::Punct(mark) if mark.as_char() == ':' && colons < 2 => colons += 1,
                TokenTree::Ident(ident) if colons == 2 => {
                    path.push(ident.to_string());
                    colons = 0;
                }
                _ => break,
            }
            tokens.next();
        }
        if path.len() > 1 {
            found.push((path, ident.span().start().line));
        }
    }
}
