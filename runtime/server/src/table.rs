//! Objects as the rows of a table.

mod kept_row;

use std::sync::Arc;

use planesmith_machinery::age;
use planesmith_machinery::meta::ListMeta;
use planesmith_machinery::resource::{CellSource, Column, ResourceFacts};
use planesmith_machinery::scale::v1::Scale;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::table::{self, Cell, RowObject, TableWriter};
use planesmith_machinery::value;
use planesmith_store::Entry;

use self::kept_row::KeptRow;
use crate::endpoint::{Forms, Subject};
use crate::request::Query;

/// Reads `includeObject`: what each row shows of its object beside the cells.
///
/// # Errors
///
/// 400 when it is none of the known words.
pub(crate) fn shown(query: Query<'_>) -> ApiResult<RowObject> {
    match &*query.first("includeObject").unwrap_or_default() {
        "" | "Metadata" => Ok(RowObject::Metadata),
        "Object" => Ok(RowObject::Object),
        "None" => Ok(RowObject::Nothing),
        other => {
            let quoted = planesmith_machinery::go_format::quote(other);
            Err(ApiError::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {quoted}: must be 'Metadata', \
                 'Object', 'None', or empty"
            )))
        }
    }
}

/// Marks the bookmark behind the initial events of a watch, which is told even to those who want rows without objects.
pub(crate) const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// The table of one object; the columns are told unless the client knows them already.
pub(crate) fn of_one(
    facts: &'static ResourceFacts,
    subject: Subject<'_>,
    forms: &Forms,
    shown: RowObject,
    with_columns: bool,
) -> ApiResult<Vec<u8>> {
    let meta = ListMeta {
        resource_version: subject.resource_version(forms)?,
        ..ListMeta::default()
    };
    let mut table = TableWriter::new(facts, &meta, with_columns);
    append(&mut table, facts, subject, forms, shown)?;
    Ok(table.finish())
}

/// The table of a list, in the order of names unless the kind declares another.
pub(crate) fn of_list(
    facts: &'static ResourceFacts,
    meta: &ListMeta,
    entries: &[Arc<Entry>],
    forms: &Forms,
    shown: RowObject,
) -> ApiResult<Vec<u8>> {
    let mut table = TableWriter::new(facts, meta, true);
    match table::printed(facts).behavior.rows_by {
        "" => {
            for entry in entries {
                append(&mut table, facts, Subject::Entry(entry), forms, shown)?;
            }
        }
        path => {
            for entry in by_number(entries, forms, path)? {
                append(&mut table, facts, Subject::Entry(entry), forms, shown)?;
            }
        }
    }
    Ok(table.finish())
}

/// The entries by the number at `path` of each object; equal ones stay as they are, which is by name.
fn by_number<'a>(entries: &'a [Arc<Entry>], forms: &Forms, path: &str) -> ApiResult<Vec<&'a Arc<Entry>>> {
    let mut numbered = Vec::with_capacity(entries.len());
    for entry in entries {
        let object = Subject::Entry(entry).object(forms)?;
        numbered.push((value::number_at(&*object, path).unwrap_or(0), entry));
    }
    numbered.sort_by_key(|(number, _)| *number);
    Ok(numbered.into_iter().map(|(_, entry)| entry).collect())
}

fn append(
    table: &mut TableWriter,
    facts: &'static ResourceFacts,
    subject: Subject<'_>,
    forms: &Forms,
    shown: RowObject,
) -> ApiResult<()> {
    if let (Subject::Entry(entry), RowObject::Metadata) = (subject, shown)
        && forms.is_as_stored(entry)
    {
        return KeptRow::of(entry, forms)?.append_to(table);
    }
    let printed = subject.printed(facts, forms)?;
    if let (Some(printed), RowObject::Metadata) = (&printed, shown) {
        // It has the metadata that is shown, so the object is made in no other version.
        table.row_of_metadata(&**printed, &forms.bare_meta(&**printed)?);
        return Ok(());
    }
    let object = subject.object(forms)?;
    let printed = printed.as_deref().unwrap_or(&*object);
    let ends_initial_events = || {
        let mark = object.meta().annotations.get(INITIAL_EVENTS_END);
        mark.is_some_and(|mark| mark == "true")
    };
    match shown {
        RowObject::Nothing if ends_initial_events() => {
            table.row_of_metadata(printed, &forms.bare_meta(&*object)?);
        }
        RowObject::Metadata => table.row_of_metadata(printed, &forms.bare_meta(&*object)?),
        RowObject::Object | RowObject::Nothing => table.row(printed, &*object, shown),
    }
    Ok(())
}

/// The columns of Scales; their cells are made by hand, because a Scale is only a view of an object.
const SCALE_COLUMNS: [Column; 4] = [
    Column {
        format: "",
        ..Column::NAME
    },
    number("Desired", "How many replicas there should be."),
    number("Available", "How many replicas there are."),
    Column::AGE,
];

const fn number(name: &'static str, doc: &'static str) -> Column {
    Column {
        name,
        ty: "integer",
        format: "",
        doc,
        priority: 0,
        source: CellSource::Path(""),
    }
}

/// The table of a Scale.
pub(crate) fn of_scale(scale: &Scale, shown: RowObject) -> Vec<u8> {
    let meta = ListMeta {
        resource_version: scale.metadata.resource_version.clone(),
        ..ListMeta::default()
    };
    let cells = [
        Cell::Text(scale.metadata.name.clone()),
        Cell::Integer(scale.spec.replicas.into()),
        Cell::Integer(scale.status.replicas.into()),
        age::cell(scale.metadata.creation_timestamp.timestamp()),
    ];
    let mut table = TableWriter::of_columns(&SCALE_COLUMNS, &meta, true);
    table.row_of(&cells, scale, &scale.metadata, shown);
    table.finish()
}
