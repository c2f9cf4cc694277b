//! A reference to the facts of a kind, static or made at run time.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::ResourceTable;
use super::object::Object;

/// The facts about a kind in one version: those of a type, or those of a definition, which are freed with the last clone.
/// Cloning is cheap.
///
/// Two values are equal if they refer to the same table: a kind that is defined anew differs from the former one.
#[derive(Clone)]
pub struct ResourceFacts(Source);

#[derive(Clone)]
enum Source {
    Declared(&'static ResourceTable),
    /// One of the versions of a definition, by its index.
    Defined(Arc<DefinedVersions>, usize),
}

struct DefinedVersions {
    tables: Box<[ResourceTable]>,
    /// Index of the storage version.
    hub: usize,
}

impl ResourceFacts {
    /// Returns the facts of a type.
    #[must_use]
    pub const fn declared(table: &'static ResourceTable) -> Self {
        Self(Source::Declared(table))
    }

    /// Returns the facts of the versions of a definition, in the order of `tables`; empty if `hub` is not the index of one.
    #[must_use]
    pub fn defined(tables: Vec<ResourceTable>, hub: usize) -> Vec<Self> {
        if hub >= tables.len() {
            return Vec::new();
        }
        let indexes = 0..tables.len();
        let tables = tables.into_boxed_slice();
        let all = Arc::new(DefinedVersions { tables, hub });
        indexes
            .map(|index| Self(Source::Defined(Arc::clone(&all), index)))
            .collect()
    }

    /// Returns the facts of the storage version.
    #[must_use]
    pub fn hub(&self) -> Self {
        match &self.0 {
            Source::Declared(table) => match &table.conversion {
                None => self.clone(),
                Some(conversion) => (conversion.hub)().clone(),
            },
            Source::Defined(all, _) => Self(Source::Defined(Arc::clone(all), all.hub)),
        }
    }

    /// True if this is the storage version.
    #[must_use]
    pub fn is_hub(&self) -> bool {
        match &self.0 {
            Source::Declared(table) => table
                .conversion
                .as_ref()
                .is_none_or(|conversion| (conversion.hub)() == self),
            Source::Defined(all, index) => *index == all.hub,
        }
    }

    /// True if `other` is a version of the same kind, or this one.
    #[must_use]
    pub fn is_version_of(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Source::Defined(all, _), Source::Defined(others, _)) => Arc::ptr_eq(all, others),
            _ => self.hub() == other.hub(),
        }
    }

    /// Returns the facts of the version `api_version` of a kind that is defined at run time; `None` for a kind with a type.
    #[must_use]
    pub fn defined_version(&self, api_version: &str) -> Option<Self> {
        self.defined_versions()?
            .find(|version| version.api_version == api_version)
    }

    /// Returns the facts of all versions of a kind that is defined at run time, in the order of its definition; `None` for a
    /// kind with a type, whose versions are in a scheme.
    #[must_use]
    pub fn defined_versions(&self) -> Option<impl Iterator<Item = Self> + '_> {
        let Source::Defined(all, _) = &self.0 else {
            return None;
        };
        let indexes = 0..all.tables.len();
        Some(indexes.map(|index| Self(Source::Defined(Arc::clone(all), index))))
    }

    /// Returns a zero object.
    #[must_use]
    pub fn zero(&self) -> Box<dyn Object> {
        match &self.custom {
            None => (self.new)(),
            Some(kind) => kind.zero(self),
        }
    }
}

impl Deref for ResourceFacts {
    type Target = ResourceTable;

    #[inline]
    fn deref(&self) -> &ResourceTable {
        match &self.0 {
            Source::Declared(table) => table,
            Source::Defined(all, index) => &all.tables[*index],
        }
    }
}

impl PartialEq for ResourceFacts {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq::<ResourceTable>(&**self, &**other)
    }
}

impl Eq for ResourceFacts {}

impl fmt::Debug for ResourceFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceFacts")
            .field("api_version", &self.api_version)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
