//! Seventh step: the object is encoded in the storage version, as an operation of the store.

use planesmith_dynamic::custom::{self, AsCustom, CustomObject};
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::{defaulting, json};
use planesmith_store::{Draft, Entry, Expect, Op, StoredForm};

use super::admitted::Admitted;
use super::{Committed, Write};
use crate::metrics::StoreUse;
use crate::reservations::ReleaseOnDelete;
use crate::stores::row_of;

/// An operation of the store that was not performed yet.
pub(crate) struct Encoded {
    pub(super) op: Op,
    /// The operation in metrics.
    pub(super) used: StoreUse,
    /// The reservation to release when the operation is performed.
    pub(super) release: Option<ReleaseOnDelete>,
}

impl Admitted {
    /// The same object as it is stored, or would be: in the storage version, with the defaults of that version, as all
    /// clients read it from now on. Fields of a custom object that the storage version does not have are lost.
    ///
    /// # Errors
    ///
    /// 500 when the object cannot be converted.
    pub(super) async fn into_storage_version(self, write: &Write<'_>) -> ApiResult<Self> {
        let Self { mut object, size } = self;
        let Some(custom) = object.as_custom() else {
            if !write.endpoint.encodings().is_stored() {
                // The object has only the defaults of another version so far.
                let complete = || defaulting::set_defaults(&mut *object, write.features());
                write.in_turn(size, complete).await;
            }
            return Ok(Self { object, size });
        };
        if !write.endpoint.encodings().is_stored() {
            object = Box::new(custom::convert_later(custom, write.endpoint.kind().hub()).await?);
        }
        write
            .in_turn(size, || {
                object.as_custom_mut().map(CustomObject::prune);
                defaulting::set_defaults(&mut *object, write.features());
            })
            .await;
        Ok(Self { object, size })
    }

    /// Ends a dry run: the object as it would be stored.
    ///
    /// # Errors
    ///
    /// 500 when the object cannot be converted.
    pub(super) async fn into_dry_run(self, write: &Write<'_>) -> ApiResult<Committed> {
        let Self { object, size } = self.into_storage_version(write).await?;
        Ok(Committed::Unstored { object, size })
    }

    /// Encodes an object of the storage version, to be created under `key`.
    pub(super) async fn encode_new(&self, write: &Write<'_>, key: &str) -> Encoded {
        let encode = || {
            let encoded = json::encode_for_storage(&*self.object);
            Encoded::put(write, key, &*self.object, encoded, Expect::Absent)
        };
        write.in_turn(self.size, encode).await
    }

    /// Encodes an object of the storage version, to replace `entry`; `None` if that is the same.
    pub(super) async fn encode_change(&self, write: &Write<'_>, key: &str, entry: &Entry) -> Option<Encoded> {
        let encode = || {
            let encoded = json::encode_for_storage(&*self.object);
            let changes = !is_stored(entry, &encoded);
            changes.then(|| Encoded::put(write, key, &*self.object, encoded, Expect::Revision(entry.revision())))
        };
        write.in_turn(self.size, encode).await
    }
}

impl Encoded {
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

    /// Encodes a deletion that begins: `object`, which is terminating, replaces `entry`. `None` if that is the same.
    ///
    /// The object is in the version in which it was read, which may be the version in which it was stored.
    pub(crate) fn termination(write: &Write<'_>, key: &str, entry: &Entry, object: &dyn Object) -> Option<Self> {
        let encoded = json::encode_for_storage(object);
        if is_stored(entry, &encoded) {
            return None;
        }
        let mut encoded = Self::put(write, key, object, encoded, Expect::Revision(entry.revision()));
        let is_hub = std::ptr::eq(object.resource(), write.endpoint.store().facts());
        if let (Op::Put { row, .. }, false) = (&mut encoded.op, is_hub) {
            // It stays in the version in which it was stored; the values that selectors read do not change.
            row.clone_from(entry.row());
        }
        Some(encoded)
    }

    /// The removal of `entry`. What its `object` has reserved is released; `None` for an object that cannot be read.
    pub(crate) fn removal(write: &Write<'_>, key: &str, entry: &Entry, object: Option<&dyn Object>) -> Self {
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
