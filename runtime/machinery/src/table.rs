//! The Table form of objects that kubectl prints.

mod cells;
mod printed_cells;
mod writer;

pub use crate::resource::{Cell, Completion};

use crate::resource::{Column, ResourceFacts};

pub use cells::cells;
pub use printed_cells::PrintedCells;
pub use writer::{RowObject, TableWriter};

/// The version whose columns are printed for a kind: an older version that declares none prints its storage version's.
#[must_use]
pub fn printed(kind: &'static ResourceFacts) -> &'static ResourceFacts {
    if kind.columns.is_empty() { kind.hub() } else { kind }
}

/// The columns of a kind: those that it or its storage version declares, or its name and age.
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
