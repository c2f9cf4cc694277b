//! The place of a value in a document, as messages name it.

use std::fmt;

/// The way from the root of a document to a value; text is made of it only when something is wrong there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'p> {
    /// The document itself.
    Root,
    /// A field that the schema names.
    Field(&'p Place<'p>, &'p str),
    /// A field of a map; behind a dot even at the root.
    Entry(&'p Place<'p>, &'p str),
    /// A field of a map, in brackets.
    Key(&'p Place<'p>, &'p str),
    /// An element of a list.
    Element(&'p Place<'p>, usize),
}

impl Place<'_> {
    pub(super) const fn is_root(&self) -> bool {
        matches!(self, Place::Root)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Root => Ok(()),
            Place::Field(Place::Root, name) => f.write_str(name),
            Place::Field(parent, name) | Place::Entry(parent, name) => write!(f, "{parent}.{name}"),
            Place::Key(parent, name) => write!(f, "{parent}[{name}]"),
            Place::Element(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
