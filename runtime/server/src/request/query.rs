//! The parameters of a query.

use std::borrow::Cow;

use super::info::decode;

/// The parameters of a query, in order; a name may stand more than once.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    text: &'q str,
}

impl<'q> Query<'q> {
    /// Reads what stands behind the question mark.
    #[must_use]
    pub fn new(text: &'q str) -> Self {
        Self { text }
    }

    /// All parameters, decoded.
    pub fn pairs(self) -> impl Iterator<Item = (Cow<'q, str>, Cow<'q, str>)> {
        self.text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
    }

    /// Every value of the parameter `name`.
    pub fn all(self, name: &str) -> impl Iterator<Item = Cow<'q, str>> {
        self.pairs()
            .filter(move |(found, _)| found == name)
            .map(|(_, value)| value)
    }

    /// The first value of the parameter `name`.
    #[must_use]
    pub fn first(self, name: &str) -> Option<Cow<'q, str>> {
        self.all(name).next()
    }
}
