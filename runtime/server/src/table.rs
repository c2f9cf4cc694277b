//! Objects as the rows of a table.

mod cached_row;

use std::sync::Arc;

use planesmith_machinery::age;
use planesmith_machinery::meta::ListMeta;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scale::v1::Scale;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::table::{self, Cell, RowObject, TableWriter};
use planesmith_machinery::time::Time;
use planesmith_machinery::value;
use planesmith_store::Entry;

use self::cached_row::CachedRow;
use crate::encodings::{Caching, Encodings, Subject};
use crate::list_stream::{NumberOf, TextList, WriteItem};
use crate::negotiation::Output;
use crate::representation::ScaleColumns;
use crate::request::Query;

/// Reads `includeObject`: the part of its object that each row includes beside the cells.
///
/// # Errors
///
/// 400 when the value is unknown.
pub(crate) fn row_object(query: Query<'_>) -> ApiResult<RowObject> {
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

/// Marks the bookmark after the initial events of a watch, which is sent even to clients that requested rows without
/// objects.
pub(crate) const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// The table of one object, with its age at the time `now`; with the columns unless the client has them already.
pub(crate) fn of_one(
    facts: &ResourceFacts,
    subject: Subject<'_>,
    encodings: &Arc<Encodings>,
    row_object: RowObject,
    now: Time,
    with_columns: bool,
) -> ApiResult<Vec<u8>> {
    let meta = ListMeta {
        resource_version: subject.resource_version(encodings)?,
        ..ListMeta::default()
    };
    let rows = Rows {
        facts: facts.clone(),
        encodings: Arc::clone(encodings),
        row_object,
        now,
        caching: Caching::Keep,
    };
    let mut table = TableWriter::new(facts, &meta, now, with_columns);
    rows.append(&mut table, subject)?;
    Ok(table.finish())
}

/// The table without any rows.
pub(crate) fn empty(facts: &ResourceFacts, meta: &ListMeta) -> Vec<u8> {
    TableWriter::new(facts, meta, Time::ZERO, true).finish()
}

/// Turns objects into rows.
pub(crate) struct Rows {
    /// The kind in the endpoint's version.
    pub(crate) facts: ResourceFacts,
    /// Its encodings.
    pub(crate) encodings: Arc<Encodings>,
    /// The part of its object that each row includes beside the cells.
    pub(crate) row_object: RowObject,
    /// Time of the table, for ages.
    pub(crate) now: Time,
    /// Decides if the cells are cached for the next table.
    pub(crate) caching: Caching,
}

impl Rows {
    /// The table of a list that is not empty, in the order of names unless the kind declares another.
    pub(crate) fn of_list(self, output: Output, meta: &ListMeta, entries: Vec<Arc<Entry>>) -> TextList {
        let mut table = TableWriter::new(&self.facts, meta, self.now, true);
        let mut head = Vec::new();
        table.take_into(&mut head);
        head.push(b'[');
        let path = table::printed(&self.facts).behavior.rows_by;
        let number = (!path.is_empty()).then(|| self.number_at(path));
        let mut row = Vec::new();
        let write: WriteItem = Box::new(move |entry, out| {
            self.append(&mut table, Subject::Entry(entry))?;
            row.clear();
            table.take_into(&mut row);
            // Behind the bracket or comma.
            out.extend_from_slice(row.get(1..).unwrap_or_default());
            Ok(())
        });
        TextList::new(output, (head, b"]}".to_vec()), entries, write, number)
    }

    /// The number at `path` of an object, by which rows are sorted.
    fn number_at(&self, path: &'static str) -> NumberOf {
        let encodings = Arc::clone(&self.encodings);
        Box::new(move |entry| {
            let object = encodings.object_of(entry)?;
            Ok(value::number_at(&*object, path).unwrap_or(0))
        })
    }

    fn append(&self, table: &mut TableWriter, subject: Subject<'_>) -> ApiResult<()> {
        let (encodings, row_object) = (&*self.encodings, self.row_object);
        if let (Subject::Entry(entry), RowObject::Metadata) = (subject, row_object)
            && encodings.is_as_stored(entry)
        {
            return CachedRow::of(entry, encodings, self.caching)?.append_to(table);
        }
        let printed = subject.printed(&self.facts, encodings)?;
        if let (Some(printed), RowObject::Metadata) = (&printed, row_object) {
            // The object has the rendered metadata, so it is converted to no other version.
            table.row_of_metadata(&**printed, &encodings.bare_meta(&**printed)?);
            return Ok(());
        }
        let object = subject.object(encodings)?;
        let printed = printed.as_deref().unwrap_or(&*object);
        let ends_initial_events = || {
            let mark = object.meta().annotations.get(INITIAL_EVENTS_END);
            mark.is_some_and(|mark| mark == "true")
        };
        match row_object {
            RowObject::Nothing if ends_initial_events() => {
                table.row_of_metadata(printed, &encodings.bare_meta(&*object)?);
            }
            RowObject::Metadata => table.row_of_metadata(printed, &encodings.bare_meta(&*object)?),
            RowObject::Object | RowObject::Nothing => table.row(printed, &*object, row_object),
        }
        Ok(())
    }
}

/// The table of a Scale, with its age at the time `now`.
pub(crate) fn of_scale(scale: &Scale, columns: &ScaleColumns, row_object: RowObject, now: Time) -> Vec<u8> {
    let meta = ListMeta {
        resource_version: scale.metadata.resource_version.clone(),
        ..ListMeta::default()
    };
    let cells = [
        Cell::Text(scale.metadata.name.clone()),
        match scale.spec.replicas {
            0 => columns.zero.clone(),
            replicas => Cell::Integer(replicas.into()),
        },
        Cell::Integer(scale.status.replicas.into()),
        age::cell(scale.metadata.creation_timestamp.timestamp()),
    ];
    let mut table = TableWriter::of_columns(&columns.columns, &meta, now, true);
    table.row_of(&cells, scale, &scale.metadata, row_object);
    table.finish()
}
