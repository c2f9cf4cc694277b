//! Walks a parsed file and notes its facts.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, FnArg, ImplItem, Item, ItemUse, Lit, LitStr, Meta, Pat, Signature, Token, TraitItem, UseTree,
    Visibility,
};

use super::{DocComment, Module, Name, Opening, Reference, Sort, Source, Word, token_path};

/// The facts about `file`; the number of lines is left at 0.
pub(super) fn visit(file: &syn::File) -> Source {
    let mut visitor = Visitor::default();
    visitor.visit_file(file);
    visitor.source
}

#[derive(Default)]
struct Visitor {
    source: Source,
    /// The modules around the current item.
    inside: Vec<String>,
    /// The number of items around the current one that only tests see.
    tests: usize,
    /// The last line of a doc comment so far.
    doc_line: usize,
    /// The mark that ended it, if any.
    doc_mark: Option<char>,
    /// True inside an example of a doc comment.
    in_example: bool,
}

impl Visitor {
    /// Runs `walk` for `item`, which has `attrs`.
    fn item(&mut self, item: &impl Spanned, attrs: &[Attribute], walk: impl FnOnce(&mut Self)) {
        let tests = usize::from(is_for_tests(attrs));
        if tests > 0 && self.tests == 0 {
            let place = item.span();
            self.source.tests.push(place.start()..place.end());
        }
        self.tests += tests;
        walk(self);
        self.tests -= tests;
    }

    fn name(&mut self, sort: Sort, ident: &Ident) {
        self.named(sort, ident.to_string(), ident);
    }

    fn named(&mut self, sort: Sort, name: String, ident: &Ident) {
        let line = ident.span().start().line;
        self.source.names.push(Name {
            sort,
            ident: name,
            line,
        });
    }

    fn reference(&mut self, path: Vec<String>, line: usize, binds: Option<String>, public: bool) {
        if self.tests == 0 {
            let inside = self.inside.clone();
            self.source.references.push(Reference {
                inside,
                path,
                line,
                binds,
                public,
            });
        }
    }

    fn import(&mut self, tree: &UseTree, mut path: Vec<String>, public: bool) {
        let (imported, bound) = match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                return self.import(&inner.tree, path, public);
            }
            UseTree::Group(group) => {
                let mut trees = group.items.iter();
                return trees.by_ref().for_each(|tree| self.import(tree, path.clone(), public));
            }
            UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                return self.reference(path, line, Some("*".to_owned()), public);
            }
            UseTree::Name(name) => (&name.ident, &name.ident),
            UseTree::Rename(rename) => (&rename.ident, &rename.rename),
        };
        let line = imported.span().start().line;
        if imported != "self" {
            path.push(imported.to_string());
        }
        // `use a::{self}` binds the last name of the path.
        let bound = if bound == "self" {
            path.last().cloned()
        } else {
            Some(bound.to_string())
        };
        self.reference(path, line, bound, public);
    }

    fn word(&mut self, literal: &LitStr) {
        let text = literal.value();
        if self.tests == 0 && !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic()) {
            let line = literal.span().start().line;
            self.source.words.push(Word { text, line });
        }
    }

    /// Notes the words among the literals of a macro or an attribute.
    fn words(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.words(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Lit::Str(literal) = Lit::new(literal) {
                        self.word(&literal);
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        self.words(tokens.clone());
        for (path, line) in token_path::find(tokens) {
            self.reference(path, line, None, false);
        }
    }

    fn doc(&mut self, attribute: &Attribute, text: &str) {
        let line = attribute.pound_token.spans[0].start().line;
        let continues = self.doc_line != 0 && line == self.doc_line + 1;
        self.doc_line = line;
        if !continues {
            self.source.docs.push(DocComment { openings: Vec::new() });
            self.doc_mark = None;
            self.in_example = false;
        }
        if text.trim_start().starts_with("```") {
            self.in_example = !self.in_example;
            return;
        }
        let Some(doc) = self.source.docs.last_mut().filter(|_| !self.in_example) else {
            return;
        };
        for text in text.split_whitespace() {
            if doc.openings.is_empty() || self.doc_mark.is_some() {
                let word = text.trim_matches(|mark: char| !mark.is_alphanumeric()).to_owned();
                let after = self.doc_mark;
                doc.openings.push(Opening { line, word, after });
            }
            self.doc_mark = text.chars().last().filter(|mark| ".;:".contains(*mark));
        }
    }

    /// Notes a function, which may be a test, and its parameters.
    fn function(&mut self, signature: &Signature, attrs: &[Attribute]) {
        let sort = match attrs.iter().any(is_test_attribute) {
            true => Sort::Test,
            false => Sort::Fn,
        };
        self.name(sort, &signature.ident);
        for parameter in &signature.inputs {
            if let FnArg::Typed(parameter) = parameter
                && let Pat::Ident(parameter) = &*parameter.pat
            {
                self.name(Sort::Parameter, &parameter.ident);
            }
        }
    }

    fn module(&mut self, item: &syn::ItemMod) {
        let name = item.ident.to_string();
        self.name(Sort::Mod, &item.ident);
        self.source.modules.push(Module {
            inside: self.inside.clone(),
            name: name.clone(),
            line: item.ident.span().start().line,
            in_file: item.content.is_none(),
            for_tests: self.tests > 0,
        });
        self.inside.push(name);
        visit::visit_item_mod(self, item);
        self.inside.pop();
    }

    /// Notes the name of `item` and walks on.
    fn declaration(&mut self, item: &Item) {
        match item {
            Item::Mod(item) => return self.module(item),
            Item::Use(item) => return self.uses(item),
            Item::Struct(item) => self.name(Sort::Type, &item.ident),
            Item::Enum(item) => {
                self.name(Sort::Type, &item.ident);
                for variant in &item.variants {
                    let name = format!("{}::{}", item.ident, variant.ident);
                    self.named(Sort::Variant, name, &variant.ident);
                }
            }
            Item::Union(item) => self.name(Sort::Type, &item.ident),
            Item::Trait(item) => self.name(Sort::Type, &item.ident),
            Item::Type(item) => self.name(Sort::Type, &item.ident),
            Item::Fn(item) => self.function(&item.sig, &item.attrs),
            Item::Const(item) => self.name(Sort::Const, &item.ident),
            Item::Static(item) => self.name(Sort::Const, &item.ident),
            Item::Macro(item) if item.attrs.iter().any(|attr| attr.path().is_ident("macro_export")) => {
                self.source.macros.extend(item.ident.iter().map(Ident::to_string));
            }
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn uses(&mut self, item: &ItemUse) {
        let path = item.leading_colon.map(|_| String::new());
        let public = !matches!(item.vis, Visibility::Inherited);
        self.import(&item.tree, path.into_iter().collect(), public);
        item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
    }
}

impl<'a> Visit<'a> for Visitor {
    fn visit_item(&mut self, item: &'a Item) {
        self.item(item, attributes(item), |this| this.declaration(item));
    }

    fn visit_impl_item(&mut self, item: &'a ImplItem) {
        let attrs: &[Attribute] = match item {
            ImplItem::Fn(item) => {
                self.function(&item.sig, &item.attrs);
                &item.attrs
            }
            ImplItem::Const(item) => {
                self.name(Sort::Const, &item.ident);
                &item.attrs
            }
            _ => &[],
        };
        self.item(item, attrs, |this| visit::visit_impl_item(this, item));
    }

    fn visit_trait_item(&mut self, item: &'a TraitItem) {
        let attrs: &[Attribute] = match item {
            TraitItem::Fn(item) => {
                self.function(&item.sig, &item.attrs);
                &item.attrs
            }
            TraitItem::Const(item) => {
                self.name(Sort::Const, &item.ident);
                &item.attrs
            }
            _ => &[],
        };
        self.item(item, attrs, |this| visit::visit_trait_item(this, item));
    }

    fn visit_field(&mut self, field: &'a syn::Field) {
        if let Some(ident) = &field.ident {
            self.name(Sort::Field, ident);
        }
        visit::visit_field(self, field);
    }

    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        match &attribute.meta {
            Meta::NameValue(meta) if meta.path.is_ident("doc") => {
                if let Expr::Lit(literal) = &meta.value
                    && let Lit::Str(text) = &literal.lit
                {
                    self.doc(attribute, &text.value());
                }
            }
            Meta::List(list) => self.tokens(list.tokens.clone()),
            _ => {}
        }
    }

    fn visit_macro(&mut self, called: &'a syn::Macro) {
        visit::visit_macro(self, called);
        self.tokens(called.tokens.clone());
    }

    fn visit_lit_str(&mut self, literal: &'a LitStr) {
        self.word(literal);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        // A single name says nothing about modules: its import was counted.
        if path.segments.len() > 1
            && let Some(first) = path.segments.first()
        {
            let line = first.ident.span().start().line;
            let leading = path.leading_colon.map(|_| String::new());
            let segments = path.segments.iter().map(|segment| segment.ident.to_string());
            self.reference(leading.into_iter().chain(segments).collect(), line, None, false);
        }
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'a Visibility) {}
}

/// True for `#[test]` and the likes of `#[tokio::test]`.
fn is_test_attribute(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == "test")
}

/// True if an item exists only in tests.
fn is_for_tests(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        attr.path().is_ident("test")
            || attr.path().is_ident("cfg") && attr.parse_args::<Meta>().is_ok_and(|meta| is_test(&meta))
    })
}

/// True if a condition holds only in tests: `test`, or `all(test, ...)`.
fn is_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|conditions| conditions.iter().any(is_test)),
        _ => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
