//! Moving a content into a store, with verification.

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use planesmith_machinery::scheme::StorageMediaType;
use planesmith_server::stores::RegistryCodec;
use planesmith_store::log::Record;
use planesmith_store::{
    Amount, BackupHeader, Draft, LoadedSource, Revision, RevisionShift, Source, TransferError, is_encrypted, transfer,
};

use super::encrypted_values::EncryptedValues;
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

/// The bytes of the objects in a store or a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// True if objects are in canonical bytes, false if they are as kube-apiserver stores them.
    is_canonical: bool,
    /// The name of `/registry/`, with which encrypted values are authenticated.
    root: String,
}

/// The beginning of the keys of all objects.
const ROOT: &str = "/registry/";

impl Layout {
    /// The layout of backups, and of folders.
    pub(super) fn canonical() -> Self {
        Self {
            is_canonical: true,
            root: ROOT.to_owned(),
        }
    }

    /// The layout of `store`.
    pub(super) fn of(store: &dyn OpenStore) -> Self {
        Self {
            is_canonical: store.is_canonical(),
            root: store.stored_key(ROOT).into_owned(),
        }
    }

    fn name(&self, key: &str) -> String {
        match key.strip_prefix(ROOT) {
            Some(rest) => format!("{}{rest}", self.root),
            None => key.to_owned(),
        }
    }
}

/// Moves `source`, whose objects have the layout `from`, into `target`, and compares the copy object by
/// object. After an error or an interruption the target is as it was before.
pub(super) fn into_store(
    source: &mut dyn Source,
    from: &Layout,
    target: &mut dyn OpenStore,
    plan: &Plan,
    work: &Work<'_>,
) -> Result<Moved> {
    let place = target.place();
    target.begin(plan.revision).with_context(|| place.clone())?;
    match fill(source, from, target, plan, work) {
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
    from: &Layout,
    target: &mut dyn OpenStore,
    plan: &Plan,
    work: &Work<'_>,
) -> Result<Moved> {
    let place = target.place();
    let header = source.header().clone();
    let codec = work.codec(plan.media_type);
    let values = EncryptedValues::of(work)?;
    let mut unreadable = Vec::new();
    let into = Layout::of(target);
    let mut translated = Translated {
        header: header.clone(),
        source,
        translate: &mut |record| translated(record, (from, &into), (&codec, &values), &mut unreadable),
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

/// The object of `record` with another layout, encrypted by the flags of the command. Without keys an encrypted object stays as it is
/// if that can be read there.
fn translated(
    record: Record,
    (from, into): (&Layout, &Layout),
    (codec, values): (&RegistryCodec, &EncryptedValues),
    unreadable: &mut Vec<String>,
) -> Result<Record, TransferError> {
    if values.transformers().is_none() {
        if from == into {
            return Ok(record);
        }
        // Every store reads canonical bytes.
        if from.is_canonical && from.root == into.root && is_encrypted(&record.bytes) {
            return Ok(Record { gap: None, ..record });
        }
    }
    let name = from.name(&record.key);
    let record = values.open(record, &name, codec)?;
    let record = match (from.is_canonical, into.is_canonical) {
        (true, true) | (false, false) => record,
        (true, false) => encoded(codec, record, unreadable)?,
        (false, true) => decoded(codec, record, unreadable),
    };
    let name = into.name(&record.key);
    values.seal(record, &name)
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

/// The content of a store with the layout `from` as a backup has it.
pub(super) fn for_backup(source: LoadedSource, from: &Layout, work: &Work<'_>) -> Result<(LoadedSource, Vec<String>)> {
    let (codec, values) = (work.codec(StorageMediaType::default()), EncryptedValues::of(work)?);
    let into = Layout::canonical();
    if *from == into && values.transformers().is_none() {
        return Ok((source, Vec::new()));
    }
    let mut unreadable = Vec::new();
    let mut part = work.part("decoding", source.header().bytes);
    let translate = |record| translated(record, (from, &into), (&codec, &values), &mut unreadable);
    let translated = source.translated(translate, &mut |done| part.note(done))?;
    drop(part);
    Ok((translated, unreadable))
}
