//! The location of a value in a document, as messages name it.

use std::fmt;

/// The way from the root of a document to a value; text is made of it only when something is wrong there.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValuePath<'p> {
    /// The document itself.
    Root,
    /// A field that the schema names.
    Field(&'p ValuePath<'p>, &'p str),
    /// A field of a map; behind a dot even at the root.
    Entry(&'p ValuePath<'p>, &'p str),
    /// A field of a map, in brackets.
    Key(&'p ValuePath<'p>, &'p str),
    /// An element of a list.
    Element(&'p ValuePath<'p>, usize),
}

impl ValuePath<'_> {
    pub(super) const fn is_root(&self) -> bool {
        matches!(self, ValuePath::Root)
    }

    /// The field of the document that contains the value; `None` for the document itself.
    pub(super) fn top_field(&self) -> Option<&str> {
        match self {
            ValuePath::Root => None,
            ValuePath::Field(ValuePath::Root, name)
            | ValuePath::Entry(ValuePath::Root, name)
            | ValuePath::Key(ValuePath::Root, name) => Some(name),
            ValuePath::Field(parent, _)
            | ValuePath::Entry(parent, _)
            | ValuePath::Key(parent, _)
            | ValuePath::Element(parent, _) => parent.top_field(),
        }
    }
}

impl fmt::Display for ValuePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValuePath::Root => Ok(()),
            ValuePath::Field(ValuePath::Root, name) => f.write_str(name),
            ValuePath::Field(parent, name) | ValuePath::Entry(parent, name) => write!(f, "{parent}.{name}"),
            ValuePath::Key(parent, name) => write!(f, "{parent}[{name}]"),
            ValuePath::Element(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
