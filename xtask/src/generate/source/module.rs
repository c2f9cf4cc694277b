//! The names in a module.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DataStruct, DeriveInput, Expr, ExprLit, Item as SynItem, ItemStruct, Lit, Token, UseTree,
    Visibility,
};

/// One module.
#[derive(Debug)]
pub(crate) struct Module {
    /// The file, relative to the workspace.
    pub(crate) file: PathBuf,
    /// True if declared with `pub mod`.
    pub(crate) public: bool,
    /// The items declared here, including modules.
    pub(crate) items: BTreeMap<String, Item>,
    /// Imported names and their targets.
    pub(crate) uses: BTreeMap<String, Use>,
    /// The targets of glob imports.
    pub(crate) globs: Vec<Use>,
}

impl Module {
    /// Returns the names of the `pub` structs with one of our derives.
    pub(crate) fn public_definitions(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|(name, item)| match item {
            Item::Definition(written) if written.public => Some(name.as_str()),
            _ => None,
        })
    }
}

/// A declared item.
#[derive(Debug)]
pub(crate) enum Item {
    /// A module.
    Module,
    /// A struct with one of our derives.
    Definition(Box<Written>),
    /// `type Name = ...;`
    Alias(Box<syn::Type>),
    /// A constant list of texts: `const NAMES: [&str; 2] = ["a", "b"];`
    Texts(Vec<String>),
    /// The priorities of a group version: `pub const PRIORITY: GroupVersionPriority = ...;`
    Priority,
    /// Anything else.
    Other,
}

/// A struct with one of our derives, as written.
#[derive(Debug)]
pub(crate) struct Written {
    /// The input of the derive.
    pub(crate) input: DeriveInput,
    /// The derive.
    pub(crate) derive: Derive,
    /// True if declared with `pub`.
    pub(crate) public: bool,
}

/// The derive of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Derive {
    /// `#[derive(Struct)]`
    Struct,
    /// `#[derive(Resource)]`
    Resource,
}

/// The name of the constant with the priorities of a group version, in the module of the version.
pub(crate) const PRIORITY: &str = "PRIORITY";

/// An import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The path as written, relative to the module.
    pub(crate) target: Vec<String>,
    /// True for `pub use`.
    pub(crate) public: bool,
}

impl Module {
    /// Collects the names of parsed items.
    pub(super) fn read(file: &Path, public: bool, items: &[SynItem]) -> Self {
        let (items_, uses, globs) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut module = Self {
            file: file.to_owned(),
            public,
            items: items_,
            uses,
            globs,
        };
        for item in items {
            module.add(item);
        }
        module
    }

    fn add(&mut self, item: &SynItem) {
        let (name, item) = match item {
            SynItem::Struct(item) if is_for_tests(&item.attrs) => return,
            SynItem::Struct(item) => (&item.ident, definition(item)),
            SynItem::Enum(item) => (&item.ident, Item::Other),
            SynItem::Trait(item) => (&item.ident, Item::Other),
            SynItem::Const(item) if item.ident == PRIORITY && is_public(&item.vis) => (&item.ident, Item::Priority),
            SynItem::Const(item) => match texts(&item.expr) {
                Some(texts) => (&item.ident, Item::Texts(texts)),
                None => return,
            },
            SynItem::Type(item) => (&item.ident, Item::Alias(item.ty.clone())),
            SynItem::Mod(item) if !is_for_tests(&item.attrs) => (&item.ident, Item::Module),
            SynItem::Use(item) => {
                let public = is_public(&item.vis);
                let mut target = Vec::new();
                if item.leading_colon.is_some() {
                    target.push(String::new());
                }
                self.import(&item.tree, target, public);
                return;
            }
            _ => return,
        };
        self.items.insert(name.to_string(), item);
    }

    fn import(&mut self, tree: &UseTree, mut target: Vec<String>, public: bool) {
        match tree {
            UseTree::Path(path) => {
                target.push(path.ident.to_string());
                self.import(&path.tree, target, public);
            }
            UseTree::Name(name) => self.bind(&name.ident.to_string(), &name.ident.to_string(), target, public),
            UseTree::Rename(rename) => self.bind(&rename.rename.to_string(), &rename.ident.to_string(), target, public),
            UseTree::Glob(_) => self.globs.push(Use { target, public }),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, target.clone(), public);
                }
            }
        }
    }

    fn bind(&mut self, name: &str, imported: &str, mut target: Vec<String>, public: bool) {
        // `use a::{self}` binds the last name of the path.
        let name = if name == "self" {
            target.last().cloned().unwrap_or_default()
        } else {
            name.to_owned()
        };
        if imported != "self" {
            target.push(imported.to_owned());
        }
        self.uses.insert(name, Use { target, public });
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// True if an item exists only in tests.
pub(super) fn is_for_tests(attrs: &[Attribute]) -> bool {
    let is_test = |attr: &Attribute| {
        attr.path().is_ident("cfg")
            && attr
                .parse_args::<syn::Ident>()
                .is_ok_and(|condition| condition == "test")
    };
    attrs.iter().any(is_test)
}

fn definition(item: &ItemStruct) -> Item {
    let Some(derive) = derive_of(&item.attrs) else {
        return Item::Other;
    };
    let data = DataStruct {
        struct_token: item.struct_token,
        fields: item.fields.clone(),
        semi_token: item.semi_token,
    };
    let input = DeriveInput {
        attrs: item.attrs.clone(),
        vis: item.vis.clone(),
        ident: item.ident.clone(),
        generics: item.generics.clone(),
        data: Data::Struct(data),
    };
    Item::Definition(Box::new(Written {
        input,
        derive,
        public: is_public(&item.vis),
    }))
}

/// Returns the elements of a list of texts; `None` for any other expression.
fn texts(expression: &Expr) -> Option<Vec<String>> {
    match expression {
        Expr::Reference(inner) => texts(&inner.expr),
        Expr::Array(list) => list.elems.iter().map(literal_text).collect(),
        _ => None,
    }
}

fn literal_text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) => Some(text.value()),
        _ => None,
    }
}

fn derive_of(attrs: &[Attribute]) -> Option<Derive> {
    let lists = attrs.iter().filter(|attr| attr.path().is_ident("derive"));
    let paths = lists.filter_map(|attr| {
        attr.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated)
            .ok()
    });
    paths
        .flatten()
        .find_map(|path| match path.segments.last()?.ident.to_string().as_str() {
            "Struct" => Some(Derive::Struct),
            "Resource" => Some(Derive::Resource),
            _ => None,
        })
}
