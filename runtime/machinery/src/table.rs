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
pub fn printed(kind: &ResourceFacts) -> ResourceFacts {
    if kind.columns.is_empty() {
        kind.hub()
    } else {
        kind.clone()
    }
}

/// Returns the columns of a kind that is `printed`: those that it declares, or else name and age.
#[must_use]
pub fn columns(printed: &ResourceFacts) -> &[Column] {
    const STANDARD: &[Column] = &[Column::NAME, Column::AGE];
    match &*printed.columns {
        [] => STANDARD,
        declared => declared,
    }
}

#[cfg(test)]
mod tests;
