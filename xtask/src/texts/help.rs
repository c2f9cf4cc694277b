//! The doc comments that clap prints as help.

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Fields, Lit, Meta, Path, Token};

/// The derives that make help of doc comments.
const DERIVES: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];

/// The help of one flag, value or command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Help {
    /// The struct or enum.
    pub(super) owner: String,
    /// The text, behind the name of the field or variant.
    pub(super) text: String,
}

/// Returns the help in `file`.
pub(super) fn find(file: &syn::File) -> Vec<Help> {
    let mut visitor = Visitor::default();
    visitor.visit_file(file);
    visitor.found
}

#[derive(Default)]
struct Visitor {
    found: Vec<Help>,
}

impl Visitor {
    fn add(&mut self, owner: &str, name: &str, attrs: &[Attribute]) {
        let doc = doc(attrs);
        if !doc.is_empty() {
            let text = if name.is_empty() { doc } else { format!("{name}: {doc}") };
            let owner = owner.to_owned();
            self.found.push(Help { owner, text });
        }
    }

    fn fields(&mut self, owner: &str, fields: &Fields) {
        for field in fields {
            let name = field.ident.as_ref().map(ToString::to_string);
            self.add(owner, &name.unwrap_or_default(), &field.attrs);
        }
    }
}

impl<'a> Visit<'a> for Visitor {
    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        if derives_help(&item.attrs) {
            let owner = item.ident.to_string();
            self.add(&owner, "", &item.attrs);
            self.fields(&owner, &item.fields);
        }
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        if derives_help(&item.attrs) {
            let owner = item.ident.to_string();
            self.add(&owner, "", &item.attrs);
            for variant in &item.variants {
                self.add(&owner, &variant.ident.to_string(), &variant.attrs);
                self.fields(&owner, &variant.fields);
            }
        }
        visit::visit_item_enum(self, item);
    }
}

fn derives_help(attrs: &[Attribute]) -> bool {
    let derives = attrs.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let paths = derives.filter_map(|attribute| {
        attribute
            .parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
            .ok()
    });
    paths.flatten().any(|path| {
        let last = path.segments.last();
        last.is_some_and(|last| DERIVES.iter().any(|derive| last.ident == derive))
    })
}

/// The doc comment as clap prints it: lines of a paragraph are joined.
fn doc(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<_> = lines.collect();
    let paragraphs = lines.split(String::is_empty).map(|lines| lines.join(" "));
    let paragraphs: Vec<_> = paragraphs.filter(|paragraph| !paragraph.is_empty()).collect();
    paragraphs.join("\n")
}
