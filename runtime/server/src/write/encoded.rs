//! Eleventh step: the object is encoded, as an operation of the store.

use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_store::{Draft, Entry, Expect, Op, StoredForm};

use super::Write;
use super::admitted::Admitted;
use super::candidate::{Candidate, Existing, New};
use super::deletion::AdmittedDeletion;
use super::storable::Storable;
use crate::metrics::StoreUse;
use crate::reservations::ReleaseOnDelete;
use crate::stores::row_of;

/// An operation of the store that was not performed yet.
pub(crate) struct Encoded {
    op: Op,
    /// The operation in metrics.
    used: StoreUse,
    /// The reservation to release when the operation is performed.
    release: Option<ReleaseOnDelete>,
}

impl Storable<New> {
    /// Encodes the object, to be created under `key`.
    pub(super) async fn encode(&self, write: &Write<'_>, key: &str) -> Encoded {
        let encode = || {
            let encoded = json::encode_for_storage(self.object());
            Encoded::put(write, key, self.object(), encoded, Expect::Absent)
        };
        write.in_turn(self.size(), encode).await
    }
}

impl Storable<Existing<'_>> {
    /// Encodes the object, to replace the old one; `None` if that is the same.
    pub(super) async fn encode(self, write: &Write<'_>) -> Option<Encoded> {
        let Candidate {
            mut object,
            size,
            purpose,
            ..
        } = self.into_candidate();
        let Existing { key, entry, .. } = purpose;
        // A dry run returns the client's value, and no write stores it.
        object.meta_mut().self_link.clear();
        let encode = || {
            let encoded = json::encode_for_storage(&*object);
            let changes = !is_stored(entry, &encoded);
            changes.then(|| Encoded::put(write, key, &*object, encoded, Expect::Revision(entry.revision())))
        };
        write.in_turn(size, encode).await
    }
}

impl Admitted<Existing<'_>> {
    /// The removal of an object whose last finalizer the change removed. The plugins were called for the update; the
    /// removal that follows from it needs no second call.
    pub(super) fn encode_removal(&self, write: &Write<'_>) -> Encoded {
        let Existing { key, entry, .. } = *self.purpose();
        Encoded::removal(write, key, entry, Some(self.object()))
    }
}

impl AdmittedDeletion<'_> {
    /// Encodes the object, which is terminating from now on, to replace the old one; `None` if that is the same.
    ///
    /// The object is in the version in which it was read, which may be the version in which it was stored.
    pub(crate) async fn encode_termination(&self, write: &Write<'_>) -> Option<Encoded> {
        let (key, entry, object) = (self.key(), self.entry(), self.object());
        let encode = || {
            let encoded = json::encode_for_storage(object);
            if is_stored(entry, &encoded) {
                return None;
            }
            let mut encoded = Encoded::put(write, key, object, encoded, Expect::Revision(entry.revision()));
            let is_hub = object.resource() == write.endpoint.store().facts();
            if let (Op::Put { row, .. }, false) = (&mut encoded.op, is_hub) {
                // It stays in the version in which it was stored; the values that selectors read do not change.
                *row = entry.row().to_row();
            }
            Some(encoded)
        };
        write.in_turn(entry.size(), encode).await
    }

    /// The removal of the object.
    pub(crate) fn encode_removal(&self, write: &Write<'_>) -> Encoded {
        Encoded::removal(write, self.key(), self.entry(), Some(self.object()))
    }
}

impl Encoded {
    /// The removal of an object that cannot be read, so that no step can come before.
    pub(crate) fn removal_of_unreadable(write: &Write<'_>, key: &str, entry: &Entry) -> Self {
        Self::removal(write, key, entry, None)
    }

    /// The removal of `entry`. The reservations of its `object` are released.
    fn removal(write: &Write<'_>, key: &str, entry: &Entry, object: Option<&dyn Object>) -> Self {
        let op = Op::Delete {
            key: key.into(),
            expect: Expect::Revision(entry.revision()),
            last: None,
        };
        Self {
            op,
            used: StoreUse::Delete,
            release: object.and_then(|object| write.endpoint.release_of(object)),
        }
    }

    fn put(write: &Write<'_>, key: &str, object: &dyn Object, encoded: json::Encoded, expect: Expect) -> Self {
        let op = Op::Put {
            key: key.into(),
            draft: Draft::new(encoded.bytes, encoded.gap),
            row: row_of(object),
            expect,
            ttl: write.endpoint.store().ttl(),
        };
        let used = match expect {
            Expect::Absent => StoreUse::Create,
            _ => StoreUse::Update,
        };
        Self {
            op,
            used,
            release: None,
        }
    }

    /// The operation, its name in metrics, and the reservation to release when it is performed.
    pub(super) fn into_parts(self) -> (Op, StoreUse, Option<ReleaseOnDelete>) {
        (self.op, self.used, self.release)
    }
}

/// True if `encoded` with the revision of `entry` equals the bytes of `entry`.
fn is_stored(entry: &Entry, encoded: &json::Encoded) -> bool {
    // An object that the backend has in an earlier form is written anew, as in kube-apiserver, though readers see no
    // difference.
    if entry.stored_form() != StoredForm::Current {
        return false;
    }
    let (bytes, digits) = (entry.bytes(), entry.revision().to_string());
    let (head, tail) = encoded.bytes.split_at(encoded.gap);
    bytes.len() == encoded.bytes.len() + digits.len()
        && bytes.starts_with(head)
        && bytes[head.len()..].starts_with(digits.as_bytes())
        && bytes.ends_with(tail)
}
