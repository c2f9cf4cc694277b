//! A fingerprint of each object, by which a copy is verified.

use std::collections::HashMap;
use std::sync::Arc;

use ring::digest::{Context, SHA256};

use super::{Amount, OnAmount, Source, TransferError};
use crate::Revision;
use crate::log::{Change, Record};
use crate::transformer::is_encrypted;

/// Maximum number of keys that a mismatch names.
const NAMED: usize = 10;

/// The objects that a transfer has written.
#[derive(Debug, Default)]
pub struct Ledger {
    objects: HashMap<Arc<str>, Fingerprint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint {
    revision: Revision,
    expires: u64,
    /// The first half of a SHA-256 of everything else.
    digest: [u8; 16],
}

/// The properties of a copy that have to be those of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// All of them.
    Exact,
    /// Keys, objects, and if they expire: the target assigns revisions, and rounds times.
    Content,
}

impl Fidelity {
    fn accepts(self, expected: &Fingerprint, found: &Fingerprint) -> bool {
        match self {
            Self::Exact => expected == found,
            Self::Content => expected.digest == found.digest && (expected.expires == 0) == (found.expires == 0),
        }
    }
}

/// The differences between a copy and its source; the first keys of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// Keys that the copy has in another state.
    pub different: Vec<Arc<str>>,
    /// Keys that the copy lacks.
    pub missing: Vec<Arc<str>>,
    /// Keys that only the copy has.
    pub surplus: Vec<Arc<str>>,
    /// Number of all differences.
    pub count: u64,
}

impl Ledger {
    /// Records an object that the copy has to have.
    pub(super) fn note(&mut self, record: &Record) {
        self.objects.insert(Arc::clone(&record.key), fingerprint(record));
    }

    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// True if there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Compares `copy`, which was read anew, with the objects that were written. Returns the differences. An object that has
    /// expired at the time of the copy may be missing.
    ///
    /// # Errors
    ///
    /// The copy cannot be read, or `progress` ends the work.
    pub fn verify(
        mut self,
        copy: &mut dyn Source,
        fidelity: Fidelity,
        progress: &mut OnAmount<'_>,
    ) -> Result<Option<Mismatch>, TransferError> {
        let mut mismatch = Mismatch::default();
        let mut amount = Amount::default();
        while let Some(record) = copy.next()? {
            amount.add(&record);
            match self.objects.remove(&record.key) {
                Some(expected) if fidelity.accepts(&expected, &fingerprint(&record)) => {}
                Some(_) => mismatch.add(|found| &mut found.different, &record.key),
                None => mismatch.add(|found| &mut found.surplus, &record.key),
            }
            progress(amount)?;
        }
        let now = copy.header().at;
        let is_due = |expected: &Fingerprint| expected.expires != 0 && expected.expires <= now;
        let mut missing: Vec<_> = self.objects.iter().filter(|(_, expected)| !is_due(expected)).collect();
        missing.sort_unstable_by_key(|(key, _)| *key);
        for (key, _) in missing {
            mismatch.add(|found| &mut found.missing, key);
        }
        Ok((mismatch.count > 0).then_some(mismatch))
    }
}

impl Mismatch {
    fn add(&mut self, keys: impl Fn(&mut Self) -> &mut Vec<Arc<str>>, key: &Arc<str>) {
        self.count += 1;
        let keys = keys(self);
        if keys.len() < NAMED {
            keys.push(Arc::clone(key));
        }
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} objects differ from the source", self.count)?;
        for (what, keys) in [
            ("different", &self.different),
            ("missing", &self.missing),
            ("surplus", &self.surplus),
        ] {
            if !keys.is_empty() {
                write!(formatter, "; {what}: {}", keys.join(", "))?;
            }
        }
        Ok(())
    }
}

fn fingerprint(record: &Record) -> Fingerprint {
    let expires = match record.change {
        Change::Put { expires } => expires,
        Change::Delete => 0,
    };
    // The revision's digits are no part of the content: a store that counts by itself has others.
    let (head, tail) = match record.gap {
        Some(gap) if !is_encrypted(&record.bytes) => {
            let gap = gap as usize;
            (&record.bytes[..gap], &record.bytes[gap + record.revision.digits()..])
        }
        Some(_) | None => (&record.bytes[..], &[][..]),
    };
    let mut context = Context::new(&SHA256);
    let gap = record.gap.unwrap_or(u32::MAX);
    context.update(&gap.to_le_bytes());
    context.update(head);
    context.update(tail);
    let mut digest = [0; 16];
    digest.copy_from_slice(&context.finish().as_ref()[..16]);
    Fingerprint {
        revision: record.revision,
        expires,
        digest,
    }
}
