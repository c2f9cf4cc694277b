//! Descriptions: doc comments as plain text.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Returns the doc comment as text: the lines of a paragraph are joined, paragraphs are separated by an empty line, list items
/// stay on their own lines.
pub(crate) fn doc_text(attrs: &[Attribute]) -> String {
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

/// Returns the text of one `#[doc = "..."]`, which is one line of a doc comment.
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
            /// The place
            /// of a thing:
            /// - here
            /// - there
            ///
            /// Never both.
            struct Place {}
        };
        assert_eq!(
            super::doc_text(&input.attrs),
            "The place of a thing:\n- here\n- there\n\nNever both."
        );
    }
}
