//! Writes tables as JSON, row by row.

use super::{Cell, PrintedCells, columns, printed};
use crate::json::{encode, encode_item, encode_text};
use crate::meta::{ListMeta, ObjectMeta, PartialObjectMetadata};
use crate::resource::object::Object;
use crate::resource::{Column, ResourceFacts};
use crate::time::Time;
use crate::value::Struct;

/// The part of the object that a row contains beside the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowObject {
    /// The metadata.
    #[default]
    Metadata,
    /// The whole object.
    Object,
    /// Nothing.
    Nothing,
}

/// A table being written.
///
/// ```
/// # use planesmith_machinery::{meta::ListMeta, object::Resource, table::{RowObject, TableWriter}, time::Time};
/// fn table<R: Resource>(meta: &ListMeta, objects: &[R], now: Time) -> Vec<u8> {
///     let mut table = TableWriter::new(R::RESOURCE, meta, now, true);
///     for object in objects {
///         table.row(object, object, RowObject::Metadata);
///     }
///     table.finish()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct TableWriter {
    out: Vec<u8>,
    rows: usize,
    /// Reference time of ages, in seconds since 1970.
    now: i64,
    /// JSON of the rows of a table without rows, and the end of the document.
    no_rows: &'static [u8],
}

impl TableWriter {
    /// Starts a table whose ages are those at the time `now`. In a watch only the first table contains the column definitions (`with_columns`).
    #[must_use]
    pub fn new(kind: &ResourceFacts, meta: &ListMeta, now: Time, with_columns: bool) -> Self {
        Self::of_columns(columns(&printed(kind)), meta, now, with_columns)
    }

    /// Starts a table whose rows are not objects of a kind; see [`TableWriter::row_of`].
    #[must_use]
    pub fn of_columns(columns: &[Column], meta: &ListMeta, now: Time, with_columns: bool) -> Self {
        let mut out = br#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":"#.to_vec();
        encode_item(meta, &mut out);
        out.extend_from_slice(br#","columnDefinitions":"#);
        if with_columns {
            write_columns(columns, &mut out);
        } else {
            out.extend_from_slice(b"null");
        }
        out.extend_from_slice(br#","rows":"#);
        let no_rows: &[u8] = if are_default_columns(columns) { b"null}" } else { b"[]}" };
        Self {
            out,
            rows: 0,
            now: now.as_second(),
            no_rows,
        }
    }

    /// Appends the row of an object of the kind and version that the table was started with.
    ///
    /// The cells are those of `printed`, the same object in the version that [`super::printed`] returns.
    pub fn row(&mut self, printed: &dyn Object, object: &dyn Object, shown: RowObject) {
        self.row_of_encoded(&PrintedCells::of(printed), object, object.meta(), shown);
    }

    /// Appends the row of `printed` with the metadata `meta` of its object.
    pub fn row_of_metadata(&mut self, printed: &dyn Object, meta: &ObjectMeta) {
        self.row_of_encoded(&PrintedCells::of(printed), printed, meta, RowObject::Metadata);
    }

    /// Appends a row; `meta` is the metadata of `object`.
    pub fn row_of(&mut self, cells: &[Cell], object: &dyn Struct, meta: &ObjectMeta, shown: RowObject) {
        self.row_of_encoded(&PrintedCells::encode(cells), object, meta, shown);
    }

    fn row_of_encoded(&mut self, cells: &[u8], object: &dyn Struct, meta: &ObjectMeta, shown: RowObject) {
        if let Some(cells) = PrintedCells::read(cells) {
            self.begin_row(cells);
        }
        match shown {
            RowObject::Nothing => self.out.extend_from_slice(b"null"),
            RowObject::Object => encode(object, &mut self.out),
            RowObject::Metadata => {
                self.out.extend_from_slice(PartialObjectMetadata::OPEN.as_bytes());
                encode(meta, &mut self.out);
                self.out.push(b'}');
            }
        }
        self.out.push(b'}');
    }

    /// Appends a row with already printed cells; `metadata` is the JSON of the object in the row.
    pub fn row_of_printed(&mut self, cells: PrintedCells<'_>, metadata: &[u8]) {
        self.begin_row(cells);
        for part in [PartialObjectMetadata::OPEN.as_bytes(), metadata, b"}}"] {
            self.out.extend_from_slice(part);
        }
    }

    fn begin_row(&mut self, cells: PrintedCells<'_>) {
        let start: &[u8] = if self.rows == 0 {
            br#"[{"cells":"#
        } else {
            br#",{"cells":"#
        };
        self.rows += 1;
        self.out.extend_from_slice(start);
        cells.write(self.now, &mut self.out);
        self.out.extend_from_slice(br#","object":"#);
    }

    /// Appends the output since the last call: first everything before the rows, then rows, each after the opening
    /// bracket of the array or a comma.
    pub fn take_into(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.out);
    }

    /// Returns the rest of the table as compact JSON without a final newline.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.out
            .extend_from_slice(if self.rows == 0 { self.no_rows } else { b"]}" });
        self.out
    }
}

/// True for the default columns of kinds without a table convertor, whose rows start as a nil slice in kube-apiserver.
fn are_default_columns(columns: &[Column]) -> bool {
    matches!(columns, [name, made] if name.name == "Name" && made.name == "Created At")
}

fn write_columns(columns: &[Column], out: &mut Vec<u8>) {
    out.push(b'[');
    let announced = columns.iter().filter(|column| !column.name.is_empty());
    for (index, column) in announced.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let texts = [
            ("{\"name\":", &column.name),
            (",\"type\":", &column.ty),
            (",\"format\":", &column.format),
            (",\"description\":", &column.doc),
        ];
        for (key, text) in texts {
            out.extend_from_slice(key.as_bytes());
            encode_text(text, out);
        }
        out.extend_from_slice(format!(",\"priority\":{}}}", column.priority).as_bytes());
    }
    out.push(b']');
}
