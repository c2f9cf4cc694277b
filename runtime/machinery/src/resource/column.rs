//! The printed columns of a kind, and their cells.

use jiff::Timestamp;
use planesmith_wire::json_path::LazyPath;

use super::object::Object;

/// One printed column.
#[derive(Debug)]
pub struct Column {
    /// Heading in words, e.g. `Internal-IP`; a column without one has cells but is not announced.
    pub name: &'static str,
    /// OpenAPI type of the cells: `string`, `integer`, `number`, `boolean` or `date`.
    pub ty: &'static str,
    /// OpenAPI format; `name` marks the column that names the object.
    pub format: &'static str,
    /// Description.
    pub doc: &'static str,
    /// 0 is always shown; more only in wide output.
    pub priority: i32,
    /// The source of the cells.
    pub source: CellSource,
}

impl Column {
    /// The column that names the object; `column(name)` in attributes.
    pub const NAME: Column = Column {
        name: "Name",
        ty: "string",
        format: "name",
        doc: "Name of the object; unique among objects of its kind, in its namespace if it has one.",
        priority: 0,
        source: CellSource::Path("metadata.name"),
    };
    /// The column that shows how long ago the object was made; `column(age)` in attributes.
    pub const AGE: Column = Column {
        name: "Age",
        ty: "string",
        format: "",
        doc: "Time since the object was created.",
        priority: 0,
        source: CellSource::Path("metadata.creationTimestamp"),
    };
}

/// The source of the cells of a column.
#[derive(Clone, Copy, Debug)]
pub enum CellSource {
    /// A dotted path into the object.
    Path(&'static str),
    /// A path into the document of the object, in kubectl's notation.
    JsonPath(&'static LazyPath),
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
    /// Text with the age of something in it, which is that of the moment when the cell is written.
    Aged {
        /// The text before the age.
        before: String,
        /// The time that the age is counted from.
        since: Timestamp,
        /// The text after the age.
        after: &'static str,
    },
}

/// The end of an object, as its row shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The reason, in one word.
    pub reason: &'static str,
    /// The reason, in a sentence.
    pub message: &'static str,
}
