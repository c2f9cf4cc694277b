//! Descriptions: doc comments as plain paragraphs.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comment as text: lines of a paragraph are joined, paragraphs are separated by an empty line, items of a
/// list keep their line.
pub(crate) fn text(attrs: &[Attribute]) -> String {
    let mut text = String::new();
    let mut open = false;
    for line in attrs
        .iter()
        .filter_map(content)
        .flat_map(|doc| doc.split('\n').map(str::to_owned).collect::<Vec<_>>())
    {
        let line = line.trim();
        if line.is_empty() {
            open = false;
            continue;
        }
        if !text.is_empty() {
            let item = line.starts_with("- ") || line.starts_with("* ");
            text.push_str(match (open, item) {
                (true, true) => "\n",
                (true, false) => " ",
                (false, _) => "\n\n",
            });
        }
        text.push_str(line);
        open = true;
    }
    text
}

/// The text of one `#[doc = "..."]`, which is what a line of a doc comment is.
fn content(attr: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attr.meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) if pair.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    #[test]
    fn lines_are_joined_and_paragraphs_kept() {
        let input: syn::DeriveInput = parse_quote! {
            /// Where a thing
            /// lives:
            /// - here
            /// - there
            ///
            /// Never both.
            struct Place {}
        };
        assert_eq!(
            super::text(&input.attrs),
            "Where a thing lives:\n- here\n- there\n\nNever both."
        );
    }
}
