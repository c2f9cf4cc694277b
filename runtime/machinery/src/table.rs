//! The Table representation of objects, which kubectl prints.

mod cells;
mod printed_cells;
mod writer;

pub use crate::resource::{Cell, Completion};

use crate::resource::{Column, ResourceFacts};

pub use cells::cells;
pub use printed_cells::PrintedCells;
pub use writer::{RowObject, TableWriter};

/// Returns the version whose columns are printed for a kind: the storage version if an older version declares none.
#[must_use]
pub fn printed(kind: &'static ResourceFacts) -> &'static ResourceFacts {
    if kind.columns.is_empty() { kind.hub() } else { kind }
}

/// Returns the columns of a kind: those that it or its storage version declares, or else name and age.
#[must_use]
pub fn columns(kind: &'static ResourceFacts) -> &'static [Column] {
    const STANDARD: &[Column] = &[Column::NAME, Column::AGE];
    match printed(kind).columns {
        [] => STANDARD,
        declared => declared,
    }
}

#[cfg(test)]
mod tests;
