//! Generations of the first format, which are read until the first merge replaces them.
//!
//! Their database is one tree: the keys are 12 bytes, big-endian, the revision of a write (8) and the part of its record (4);
//! the values are the parts.

use std::path::Path;

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{LogError, Record};

use super::database::{close, open, sled_error};
use super::summary::{Sum, Summary};
use crate::errors::damaged;
use crate::frame;
use crate::worker::Pulse;

/// No write has the revision 0, so its key is free for the summary.
const SUMMARY: Revision = Revision::ZERO;

/// Reads the whole database at `path`, which sled may write to, and compares it with `expected`.
pub(super) fn read(
    path: &Path,
    expected: &Summary,
    pulse: &Pulse,
    mut visit: impl FnMut(Record) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let sled = open(path)?;
    let mut sum = Sum::default();
    let mut summary = None;
    let mut bytes = Vec::new();
    let mut current = SUMMARY;
    let mut parts = 0;
    let mut finish = |revision: Revision, bytes: Vec<u8>| {
        if revision == SUMMARY {
            summary = Some(bytes);
            return Ok(());
        }
        sum.add(&bytes);
        let record = frame::decode_record_alone(&Bytes::from(bytes));
        let record = record.filter(|record| record.revision == revision);
        visit(record.ok_or_else(|| damaged(path, &format!("revision {revision} cannot be read")))?)
    };
    for item in sled.iter() {
        pulse.beat()?;
        let (key, value) = item.map_err(|error| sled_error(path, &error))?;
        let (revision, part) = place_of(&key).ok_or_else(|| damaged(path, "it has an unknown key"))?;
        if revision != current {
            finish(current, std::mem::take(&mut bytes))?;
            (current, parts) = (revision, 0);
        }
        if part != parts {
            return Err(damaged(path, &format!("a part of revision {revision} is missing")));
        }
        parts += 1;
        bytes.extend_from_slice(&value);
    }
    finish(current, bytes)?;
    close(path, sled)?;
    let found = Summary {
        through: expected.through,
        ..sum.summary()
    };
    if found != *expected || summary.as_deref() != Some(&*expected.encode()) {
        return Err(damaged(path, "its records are not those that its summary lists"));
    }
    Ok(())
}

fn place_of(key: &[u8]) -> Option<(Revision, u32)> {
    let (revision, rest) = key.split_first_chunk()?;
    let part = rest.try_into().ok()?;
    Some((Revision(u64::from_be_bytes(*revision)), u32::from_be_bytes(part)))
}

/// Writes a database of the first format.
#[cfg(test)]
pub(super) fn write(path: &Path, records: &[Record], through: Revision) -> Summary {
    let sled = open(path).unwrap();
    let place = |revision: Revision, part: u32| {
        let mut place = revision.0.to_be_bytes().to_vec();
        place.extend_from_slice(&part.to_be_bytes());
        place
    };
    let mut sum = Sum::default();
    for record in records {
        let mut bytes = Vec::new();
        frame::encode_record(record, &mut bytes);
        sum.add(&bytes);
        for (part, bytes) in (0..).zip(bytes.chunks(4 << 10)) {
            sled.insert(place(record.revision, part), bytes).unwrap();
        }
    }
    let summary = Summary {
        through,
        ..sum.summary()
    };
    sled.insert(place(SUMMARY, 0), summary.encode()).unwrap();
    sled.flush().unwrap();
    close(path, sled).unwrap();
    summary
}
