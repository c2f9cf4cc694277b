//! Moving a content into a store, with verification.

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use planesmith_machinery::scheme::StorageMediaType;
use planesmith_server::stores::RegistryCodec;
use planesmith_store::log::Record;
use planesmith_store::{
    Amount, BackupHeader, Draft, LoadedSource, Revision, RevisionShift, Source, TransferError, transfer,
};

use super::work::Work;
use crate::store_scheme::OpenStore;

/// The result of a transfer.
#[derive(Debug)]
pub(super) struct Moved {
    pub(super) amount: Amount,
    pub(super) revision: Revision,
    /// Notes of the target, for people.
    pub(super) notes: Vec<String>,
    /// Keys of objects that no kind of the program can read. They were moved as they are.
    pub(super) unreadable: Vec<String>,
}

/// Moves `source`, whose objects are in canonical bytes if `is_canonical`, into `target`, and compares the copy object by
/// object. After an error or an interruption the target is as it was before.
pub(super) fn into_store(
    source: &mut dyn Source,
    is_canonical: bool,
    target: &mut dyn OpenStore,
    plan: &Plan,
    work: &Work<'_>,
) -> Result<Moved> {
    let place = target.place();
    target.begin(plan.revision).with_context(|| place.clone())?;
    match fill(source, is_canonical, target, plan, work) {
        Ok(moved) => Ok(moved),
        Err(error) => {
            let left = target.abandon();
            let error = Err(error);
            match left {
                Ok(()) => error,
                Err(left) => error.with_context(|| format!("{place} is incomplete: {left}; repeat the command")),
            }
        }
    }
}

/// The numbers of a transfer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plan {
    /// Added to all revisions.
    pub(super) shift: RevisionShift,
    /// The least revision of the target afterwards.
    pub(super) revision: Revision,
    /// The encoding of objects in the target, if that has several.
    pub(super) media_type: StorageMediaType,
}

fn fill(
    source: &mut dyn Source,
    is_canonical: bool,
    target: &mut dyn OpenStore,
    plan: &Plan,
    work: &Work<'_>,
) -> Result<Moved> {
    let place = target.place();
    let header = source.header().clone();
    let codec = work.codec(plan.media_type);
    let mut unreadable = Vec::new();
    let becomes_canonical = target.is_canonical();
    let mut translated = Translated {
        header: header.clone(),
        source,
        translate: &mut |record| match (is_canonical, becomes_canonical) {
            (true, true) | (false, false) => Ok(record),
            (true, false) => encoded(&codec, record, &mut unreadable),
            (false, true) => Ok(decoded(&codec, record, &mut unreadable)),
        },
    };
    let mut part = work.part("writing", header.bytes);
    let mut amount = Amount::default();
    let ledger = {
        let mut receiver = target.target().with_context(|| place.clone())?;
        transfer(&mut translated, &mut *receiver, plan.shift, &mut |done| {
            amount = done;
            part.note(done)
        })
        .with_context(|| place.clone())?
    };
    drop(part);
    let mut part = work.part("raising the revision", 0);
    target
        .raise_revision(&mut |done, total| part.note_revisions(done, total))
        .with_context(|| place.clone())?;
    drop(part);
    let mut part = work.part("reading the copy", header.bytes);
    let mut copy = target
        .reread(work.now(), &mut |done, total| part.note_of(done, total))
        .with_context(|| place.clone())?;
    drop(part);
    let revision = copy.revision();
    let mut part = work.part("comparing", header.bytes);
    let mismatch = ledger.verify(&mut copy, target.fidelity(), &mut |done| part.note(done))?;
    drop(part);
    if let Some(mismatch) = mismatch {
        bail!("the copy in {place} was not written correctly: {mismatch}");
    }
    work.check()?;
    let notes = target.commit().with_context(|| place.clone())?;
    Ok(Moved {
        amount,
        revision,
        notes,
        unreadable,
    })
}

/// A source whose objects are translated.
struct Translated<'a> {
    header: BackupHeader,
    source: &'a mut dyn Source,
    translate: &'a mut dyn FnMut(Record) -> Result<Record, TransferError>,
}

impl Source for Translated<'_> {
    fn header(&self) -> &BackupHeader {
        &self.header
    }

    fn next(&mut self) -> Result<Option<Record>, TransferError> {
        match self.source.next()? {
            Some(record) => (self.translate)(record).map(Some),
            None => Ok(None),
        }
    }
}

/// The object of `record` in the bytes that kube-apiserver stores.
fn encoded(codec: &RegistryCodec, record: Record, unreadable: &mut Vec<String>) -> Result<Record, TransferError> {
    if !codec.is_legible(&record.key, &record.bytes) {
        unreadable.push(record.key.to_string());
    }
    let gap = record.gap.map(|gap| gap as usize);
    let bytes = codec.encode(&record.key, &record.bytes, gap, record.revision.digits());
    let bytes = bytes.map_err(|error| TransferError::Target(format!("{}: {error}", record.key)))?;
    Ok(Record {
        bytes: Bytes::from(bytes),
        gap: None,
        ..record
    })
}

/// The object of `record` in canonical bytes.
fn decoded(codec: &RegistryCodec, record: Record, unreadable: &mut Vec<String>) -> Record {
    let canonical = codec.decode(&record.key, &record.bytes);
    if !canonical.is_legible {
        unreadable.push(record.key.to_string());
    }
    let draft = match canonical.gap {
        Some(gap) => Draft::new(canonical.bytes, gap),
        None => Draft::gapless(canonical.bytes),
    };
    record.with_object(draft)
}

/// The content of a store in canonical bytes.
pub(super) fn canonical(source: LoadedSource, work: &Work<'_>) -> Result<(LoadedSource, Vec<String>)> {
    let codec = work.codec(StorageMediaType::default());
    let mut unreadable = Vec::new();
    let mut part = work.part("decoding", source.header().bytes);
    let translated = source.translated(|record| Ok(decoded(&codec, record, &mut unreadable)), &mut |done| {
        part.note(done)
    })?;
    drop(part);
    Ok((translated, unreadable))
}
