//! The cells of an object's row, computed once for all tables until the object changes.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::table::{PrintedCells, TableWriter};
use planesmith_store::Entry;

use crate::encodings::{Caching, Encoding, Encodings};

/// Bytes of the metadata's position: its start and its end.
const POSITION: usize = 2 * size_of::<u64>();

/// The cells of a row, and the position of the metadata in the entry.
pub(super) struct CachedRow<'e> {
    entry: &'e Arc<Entry>,
    /// The metadata, if it is not a part of the entry's bytes.
    metadata: Option<Bytes>,
    /// The position, and the cells as [`PrintedCells`] encodes them.
    bytes: Bytes,
}

impl<'e> CachedRow<'e> {
    /// The row of `entry`, which is stored in the endpoint's version and printed in it.
    pub(super) fn of(entry: &'e Arc<Entry>, encodings: &Encodings, caching: Caching) -> ApiResult<Self> {
        let bytes = encodings.cached(entry, Encoding::Row, caching, |_| {
            let cells = PrintedCells::of(&*encodings.object_to_print(entry)?);
            let place = match encodings.metadata_place() {
                Some(place) => place(&entry.bytes())?,
                None => 0..0,
            };
            let mut bytes = Vec::with_capacity(256);
            for end in [place.start, place.end] {
                bytes.extend_from_slice(&(end as u64).to_le_bytes());
            }
            bytes.extend_from_slice(&cells);
            Ok(Bytes::from(bytes))
        })?;
        let metadata = match encodings.metadata_place() {
            Some(_) => None,
            None => Some(encodings.metadata(entry, caching)?),
        };
        Ok(Self { entry, metadata, bytes })
    }

    /// Appends the row to a table of its kind and version.
    pub(super) fn append_to(&self, table: &mut TableWriter) -> ApiResult<()> {
        let unreadable = || ApiError::internal("unable to read the cached row of a table");
        let (position, cells) = self.bytes.split_at_checked(POSITION).ok_or_else(unreadable)?;
        let json;
        let metadata = match &self.metadata {
            Some(metadata) => Some(&metadata[..]),
            None => {
                json = self.entry.bytes();
                range(position).and_then(|place| json.get(place))
            }
        };
        let cells = PrintedCells::read(cells);
        let (cells, metadata) = cells.zip(metadata).ok_or_else(unreadable)?;
        table.row_of_printed(cells, metadata);
        Ok(())
    }
}

fn range(position: &[u8]) -> Option<Range<usize>> {
    let (start, end) = position.split_first_chunk()?;
    let end = end.first_chunk()?;
    let number = |bytes: &[u8; 8]| usize::try_from(u64::from_le_bytes(*bytes)).ok();
    Some(number(start)?..number(end)?)
}
