//! Lists of switches: `name=true,other=false,third`.

use std::collections::BTreeMap;
use std::str::FromStr;

/// Named switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    values: BTreeMap<String, bool>,
}

impl Switches {
    /// Returns the switch of `name`; `None` if it is not named.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<bool> {
        self.values.get(name).copied()
    }

    /// Returns these switches, overridden by `later`.
    #[must_use]
    pub fn and(mut self, later: Self) -> Self {
        self.values.extend(later.values);
        self
    }

    /// Returns the same switches, with the names that `rename` returns.
    pub(crate) fn renamed(&self, rename: impl Fn(&str) -> String) -> Self {
        let values = self.values.iter();
        Self {
            values: values.map(|(name, value)| (rename(name), *value)).collect(),
        }
    }

    /// Returns the switched names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

impl FromStr for Switches {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut values = BTreeMap::new();
        for term in text.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            let (name, value) = match term.split_once('=') {
                Some((name, "true" | "True" | "TRUE" | "t" | "T" | "1")) if !name.is_empty() => (name, true),
                Some((name, "false" | "False" | "FALSE" | "f" | "F" | "0")) if !name.is_empty() => (name, false),
                // A name without a value is switched on.
                Some((name, "")) if !name.is_empty() => (name, true),
                None => (term, true),
                _ => return Err(format!("`{term}`: expected NAME=true or NAME=false")),
            };
            values.insert(name.to_owned(), value);
        }
        Ok(Self { values })
    }
}
