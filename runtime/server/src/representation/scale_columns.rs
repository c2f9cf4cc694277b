//! The columns of Scales in tables.

use std::borrow::Cow;

use planesmith_machinery::resource::{CellSource, Column};
use planesmith_machinery::table::Cell;

/// The columns of Scales; their cells are computed here, because a Scale is only a view of an object.
#[derive(Debug)]
pub(crate) struct ScaleColumns {
    pub(crate) columns: [Column; 4],
    /// The number of desired replicas if it is 0.
    pub(crate) zero: Cell,
}

/// The columns of Scales of declared kinds.
pub(super) static SCALE_COLUMNS: ScaleColumns = ScaleColumns {
    columns: [
        Column {
            name: Column::NAME.name,
            ty: Column::NAME.ty,
            format: Cow::Borrowed(""),
            doc: Column::NAME.doc,
            priority: 0,
            source: Column::NAME.source,
        },
        number("Desired", "How many replicas there should be."),
        number("Available", "How many replicas there are."),
        Column::AGE,
    ],
    zero: Cell::Integer(0),
};

/// The columns of Scales of custom kinds. kube-apiserver's are paths into the document of a Scale, which does not contain 0
/// desired replicas.
pub(super) static CUSTOM_SCALE_COLUMNS: ScaleColumns = ScaleColumns {
    columns: [
        Column::NAME,
        number("Desired", "Number of desired replicas"),
        number("Available", "Number of actual replicas"),
        Column {
            name: Column::AGE.name,
            ty: Cow::Borrowed("date"),
            format: Column::AGE.format,
            doc: Column::AGE.doc,
            priority: 0,
            source: Column::AGE.source,
        },
    ],
    zero: Cell::Null,
};

const fn number(name: &'static str, doc: &'static str) -> Column {
    Column {
        name: Cow::Borrowed(name),
        ty: Cow::Borrowed("integer"),
        format: Cow::Borrowed(""),
        doc: Cow::Borrowed(doc),
        priority: 0,
        source: CellSource::Path(""),
    }
}
