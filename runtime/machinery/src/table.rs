//! The Table form of objects that kubectl prints.

mod cells;
mod printed_cells;
mod writer;

use jiff::Timestamp;

use crate::resource::{Column, ResourceFacts};

pub use cells::cells;
pub use printed_cells::PrintedCells;
pub use writer::{RowObject, TableWriter};

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// Text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A truth value.
    Bool(bool),
    /// Text with the age of something in it, which is that of the moment when the cell is written.
    Aged {
        /// What stands before the age.
        before: String,
        /// What the age is counted from.
        since: Timestamp,
        /// What stands after the age.
        after: &'static str,
    },
}

/// What the row of an object says when the object has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// How, in one word.
    pub reason: &'static str,
    /// How, in a sentence.
    pub message: &'static str,
}

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
