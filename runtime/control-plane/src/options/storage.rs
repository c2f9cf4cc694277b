//! Kinds of stores.

use std::fmt;

use super::named_value::NamedValue;

/// A value of `--storage`: one of every program, or one of a component, which declares it as a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageKind {
    name: &'static str,
    help: &'static str,
}

impl StorageKind {
    /// Objects are in the data folder.
    pub const SLED: Self = Self::new("sled", "In the data folder");
    /// Objects are in memory.
    pub const MEMORY: Self = Self::new("memory", "In memory only, lost at exit");

    /// The kinds that every program has.
    pub const GENERIC: [Self; 2] = [Self::SLED, Self::MEMORY];

    /// A kind called `name` in the flag; `help` explains it in `--help`.
    #[must_use]
    pub const fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, help }
    }

    /// The name of the kind, as in the flag.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.name
    }
}

impl NamedValue for StorageKind {
    fn name(self) -> &'static str {
        self.name
    }

    fn help(self) -> &'static str {
        self.help
    }
}

impl fmt::Display for StorageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
