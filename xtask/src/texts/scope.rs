//! The calls, attributes and items that literals are in, as tokens say.

use std::fmt;

use proc_macro2::{Delimiter, Group, Ident, TokenTree};

/// One thing around a literal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// A function that is called, or a struct that is made, such as `Failure::bad_request`.
    Call(String),
    /// A method that is called.
    Method(String),
    /// A macro that is called.
    Macro(String),
    /// An attribute.
    Attribute(String),
    /// An item that is declared: its keyword and its name; for an `impl`, the type.
    Item(&'static str, String),
}

impl Scope {
    /// The name without its path.
    pub(super) fn name(&self) -> &str {
        let (Self::Call(path) | Self::Method(path) | Self::Macro(path) | Self::Attribute(path) | Self::Item(_, path)) =
            self;
        path.rsplit("::").next().unwrap_or(path)
    }

    /// The name with the type or module before it.
    pub(super) fn qualified(&self) -> &str {
        let (Self::Call(path) | Self::Method(path) | Self::Macro(path) | Self::Attribute(path) | Self::Item(_, path)) =
            self;
        path
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(path) => formatter.write_str(path),
            Self::Method(name) => write!(formatter, ".{name}"),
            Self::Macro(path) => write!(formatter, "{path}!"),
            Self::Attribute(name) => write!(formatter, "#[{name}]"),
            Self::Item(keyword, name) => write!(formatter, "{keyword} {name}"),
        }
    }
}

/// The tokens before a group that say what the group belongs to.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// The last path, such as `Failure::bad_request`.
    path: String,
    /// True if two colons follow the path.
    continues: bool,
    /// The mark before the path.
    before: Option<char>,
    /// The mark after the path.
    after: Option<char>,
    /// The item whose body has not come yet.
    item: Option<PendingItem>,
}

#[derive(Debug)]
struct PendingItem {
    keyword: &'static str,
    name: String,
    /// The number of open angle brackets.
    angles: usize,
    /// True if the name is complete.
    named: bool,
}

/// The keywords of items with a body, and of constants, whose values have literals.
const KEYWORDS: [&str; 8] = [
    "fn",
    "impl",
    "trait",
    "enum",
    "struct",
    "const",
    "static",
    "macro_rules",
];

impl Head {
    /// Takes an identifier or a keyword.
    pub(super) fn ident(&mut self, ident: &Ident) {
        let text = ident.to_string();
        self.item_ident(&text);
        if self.continues {
            self.path.push_str("::");
        } else {
            self.path.clear();
            self.before = self.after.take();
        }
        self.path.push_str(&text);
        (self.continues, self.after) = (false, None);
    }

    fn item_ident(&mut self, text: &str) {
        if let Some(keyword) = KEYWORDS.into_iter().find(|keyword| *keyword == text) {
            // `<const N: usize>`, `*const T`, `'static`, `-> impl Trait` and the like begin no item.
            let goes_on = self
                .item
                .as_ref()
                .is_some_and(|item| item.named && item.keyword != "const");
            if !goes_on && !matches!(self.after, Some('*' | '<' | '\'')) {
                self.item = Some(PendingItem {
                    keyword,
                    name: String::new(),
                    angles: 0,
                    named: false,
                });
            }
            return;
        }
        let Some(item) = self.item.as_mut().filter(|item| item.angles == 0) else {
            return;
        };
        match (item.keyword, text) {
            // `impl Trait for Type where ...`: the last name counts, and none behind `where`.
            ("impl", "where") => item.named = true,
            ("impl", "for" | "dyn" | "mut") => {}
            ("impl", _) if !item.named => text.clone_into(&mut item.name),
            (_, "mut") => {}
            _ if !item.named => {
                text.clone_into(&mut item.name);
                item.named = true;
            }
            _ => {}
        }
    }

    /// Takes a punctuation mark.
    pub(super) fn punct(&mut self, mark: char) {
        let arrow = mark == '>' && matches!(self.after, Some('-' | '='));
        if let Some(item) = &mut self.item {
            match mark {
                '<' => item.angles += 1,
                '>' if !arrow => item.angles = item.angles.saturating_sub(1),
                ';' => self.item = None,
                _ => {}
            }
        }
        // Two colons continue a path, one ends it.
        self.continues = mark == ':' && self.after == Some(':') && !self.path.is_empty();
        if mark != ':' && mark != '!' {
            self.path.clear();
        }
        self.after = Some(mark);
    }

    /// Forgets the path before a token that ends it.
    pub(super) fn end_path(&mut self) {
        self.path.clear();
        (self.continues, self.after) = (false, None);
    }

    /// Takes a group; a block is the body of the item before it, unless that is a constant.
    pub(super) fn group(&mut self, delimiter: Delimiter) {
        if delimiter == Delimiter::Brace && self.constant().is_none() {
            self.item = None;
        }
        self.end_path();
    }

    /// The constant whose value is being written.
    pub(super) fn constant(&self) -> Option<Scope> {
        let item = self.item.as_ref().filter(|item| item.is_constant() && item.named)?;
        Some(Scope::Item(item.keyword, item.name.clone()))
    }

    /// The meaning of `group` behind these tokens; `None` if it is only a block, an array or a pair of parentheses.
    pub(super) fn scope(&self, group: &Group) -> Option<Scope> {
        if group.delimiter() == Delimiter::Bracket && self.path.is_empty() && matches!(self.after, Some('#')) {
            return Some(Scope::Attribute(attribute(group)));
        }
        if group.delimiter() == Delimiter::Bracket && self.path.is_empty() && self.after == Some('!') {
            return Some(Scope::Attribute(attribute(group))); // `#![...]`
        }
        if group.delimiter() == Delimiter::Brace
            && let Some(item) = self.item.as_ref().filter(|item| !item.is_constant())
        {
            return Some(Scope::Item(item.keyword, item.name.clone()));
        }
        if self.path.is_empty() || self.continues {
            return None;
        }
        let path = self.path.clone();
        match (self.after, group.delimiter()) {
            (Some('!'), _) if !is_keyword(&path) => Some(Scope::Macro(path)),
            (None, Delimiter::Parenthesis) if self.before == Some('.') => Some(Scope::Method(path)),
            (None, Delimiter::Parenthesis) if !is_keyword(&path) => Some(Scope::Call(path)),
            (None, Delimiter::Brace) if is_type(&path) => Some(Scope::Call(path)),
            _ => None,
        }
    }
}

impl PendingItem {
    fn is_constant(&self) -> bool {
        matches!(self.keyword, "const" | "static")
    }
}

/// The path at the start of an attribute.
fn attribute(group: &Group) -> String {
    let mut path = String::new();
    for token in group.stream() {
        match token {
            TokenTree::Ident(ident) => path.push_str(&ident.to_string()),
            TokenTree::Punct(mark) if mark.as_char() == ':' => path.push(':'),
            _ => break,
        }
    }
    path
}

/// True if a path names a type or a variant, in whose braces are fields.
fn is_type(path: &str) -> bool {
    let name = path.rsplit("::").next().unwrap_or(path);
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

/// True for keywords before parentheses that are no calls.
fn is_keyword(path: &str) -> bool {
    matches!(
        path,
        "if" | "in" | "match" | "return" | "while" | "let" | "else" | "for" | "move" | "mut" | "ref" | "pub" | "await"
    )
}
