//! One step into an object.

use std::borrow::Cow;
use std::fmt;

use super::key_value::KeyValue;

/// One step into an object: to a field, or to an element of a list.
///
/// The order is the one of `managedFields`: fields by name, then elements by keys, by value and by index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement<'a> {
    /// `f:name`: a field of a struct or an entry of a map.
    Field(Cow<'a, str>),
    /// `k:{...}`: the element of a keyed list with these keys, which are sorted by name.
    Key(Vec<(Cow<'a, str>, KeyValue<'a>)>),
    /// `v:...`: an element of a set.
    Value(KeyValue<'a>),
    /// `i:...`: the element at an index.
    Index(i64),
}

impl<'a> PathElement<'a> {
    /// The step to a field or entry.
    pub fn field(name: impl Into<Cow<'a, str>>) -> Self {
        Self::Field(name.into())
    }

    /// The same step without borrowed parts.
    #[must_use]
    pub fn into_owned(self) -> PathElement<'static> {
        match self {
            Self::Field(name) => PathElement::Field(Cow::Owned(name.into_owned())),
            Self::Key(keys) => {
                let owned =
                    |(name, value): (Cow<'a, str>, KeyValue<'a>)| (Cow::Owned(name.into_owned()), value.into_owned());
                PathElement::Key(keys.into_iter().map(owned).collect())
            }
            Self::Value(value) => PathElement::Value(value.into_owned()),
            Self::Index(index) => PathElement::Index(index),
        }
    }
}

/// As messages about conflicts show it: `.name`, `[a="b"]`, `[="v"]`, `[3]`.
impl fmt::Display for PathElement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                for (index, (name, value)) in keys.iter().enumerate() {
                    let start = if index == 0 { "[" } else { "," };
                    write!(f, "{start}{name}={value}")?;
                }
                f.write_str("]")
            }
            Self::Value(value) => write!(f, "[={value}]"),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}
