//! The printed columns of a kind, and their cells.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use planesmith_wire::json_path::LazyPath;

use super::Text;
use super::object::Object;

/// One printed column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Heading, e.g. `Internal-IP`. A column with an empty heading has cells but no column definition.
    pub name: Text,
    /// OpenAPI type of the cells: `string`, `integer`, `number`, `boolean` or `date`.
    pub ty: Text,
    /// OpenAPI format; `name` marks the column that names the object.
    pub format: Text,
    /// Description.
    pub doc: Text,
    /// Priority: 0 is always printed, a higher value only in wide output.
    pub priority: i32,
    /// Source of the cells.
    pub source: CellSource,
}

impl Column {
    /// The column that names the object; `column(name)` in attributes.
    pub const NAME: Column = Column {
        name: Cow::Borrowed("Name"),
        ty: Cow::Borrowed("string"),
        format: Cow::Borrowed("name"),
        doc: Cow::Borrowed("Name of the object; unique among objects of its kind, in its namespace if it has one."),
        priority: 0,
        source: CellSource::Path("metadata.name"),
    };
    /// The column with the age of the object; `column(age)` in attributes.
    pub const AGE: Column = Column {
        name: Cow::Borrowed("Age"),
        ty: Cow::Borrowed("string"),
        format: Cow::Borrowed(""),
        doc: Cow::Borrowed("Time since the object was created."),
        priority: 0,
        source: CellSource::Path("metadata.creationTimestamp"),
    };
}

/// The source of the cells of a column.
#[derive(Clone, Debug)]
pub enum CellSource {
    /// A dotted path into the object.
    Path(&'static str),
    /// A path into the document of the object, in kubectl's notation.
    JsonPath(&'static LazyPath),
    /// Like [`CellSource::JsonPath`], for a path of a definition.
    DefinedPath(Arc<LazyPath>),
    /// A function beside the kind.
    Function(fn(&dyn Object) -> Cell),
}

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
    /// Text that contains an age, computed at the time when the cell is written.
    Aged {
        /// Text before the age.
        before: String,
        /// Start of the age.
        since: Timestamp,
        /// Text after the age.
        after: &'static str,
    },
}

/// The `Completed` condition of the row of a finished object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Machine-readable reason: one word.
    pub reason: &'static str,
    /// Human-readable message.
    pub message: &'static str,
}
