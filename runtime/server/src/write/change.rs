//! Updates: read, change, validate, commit, retry on conflict.

use std::sync::Arc;

use http::StatusCode;
use planesmith_machinery::conversion::try_convert;
use planesmith_machinery::heap_size;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::Entry;

use super::admitted::Admitted;
use super::candidate::Existing;
use super::creation::Creation;
use super::reserved::Reserved;
use super::{Attempt, Attempts, Committed, Defaulted, Part, Write};
use crate::request::Stage;
use crate::reservations::ReservationGuard;

/// Returns the new object for the old one, both in the endpoint's version.
pub(crate) type Make<'a> = dyn Fn(&dyn Object) -> ApiResult<Defaulted> + Sync + 'a;

/// Returns the object to create when none exists, in the endpoint's version.
pub(crate) type MakeMissing<'a> = dyn Fn() -> ApiResult<Defaulted> + Sync + 'a;

/// The description of a change.
pub(crate) struct Change<'a> {
    pub(crate) part: Part<'a>,
    pub(crate) make: &'a Make<'a>,
    /// The object to create when none exists; `None` for a change that requires one.
    pub(crate) otherwise: Option<&'a MakeMissing<'a>>,
    /// The UID that the old object must have; empty for any.
    pub(crate) uid: &'a str,
}

/// The result of a change.
pub(crate) struct Changed {
    pub(crate) committed: Committed,
    created: bool,
}

impl Changed {
    /// The status code of the answer.
    pub(crate) fn code(&self) -> StatusCode {
        match self.created {
            true => StatusCode::CREATED,
            false => StatusCode::OK,
        }
    }
}

/// The new object of a change, in the endpoint's version.
struct PreparedChange {
    /// The old object in the endpoint's version, if that is not the version in which it was read.
    live: Option<Box<dyn Object>>,
    new: Defaulted,
}

impl Write<'_> {
    /// Applies a change to the newest state of the object `name`; on a conflict it is repeated without limit, as in
    /// kube-apiserver: each conflict means that another writer made progress, and the request has a deadline.
    ///
    /// # Errors
    ///
    /// There is no such object, the new one is not valid, a plugin refuses it, or the store cannot write.
    pub(crate) async fn change(&self, name: &str, change: &Change<'_>) -> ApiResult<Changed> {
        let key = self.endpoint.store().key(self.call.namespace(), name)?;
        let mut attempts = Attempts::new(self, &key);
        loop {
            let met = attempts.state();
            let attempt = match &met {
                Some(entry) => Box::pin(self.change_once(&key, entry, change)).await,
                None => Box::pin(self.create_missing(name, &key, change)).await,
            };
            if let Some(committed) = attempts.settle(met.as_ref(), attempt).await? {
                let created = met.is_none();
                return Ok(Changed { committed, created });
            }
        }
    }

    /// One attempt without an object.
    async fn create_missing(&self, name: &str, key: &str, change: &Change<'_>) -> ApiResult<Attempt<Committed>> {
        let Some(make) = change.otherwise else {
            return Err(self.endpoint.not_found(name));
        };
        if !change.uid.is_empty() {
            let resource = self.endpoint.kind().group_resource();
            let key = self.named_key(key);
            return Err(ApiError::wrong_uid_on_update(&resource, name, key, change.uid, ""));
        }
        let missing = self.run_or_convert(self.size, make).await??;
        match Box::pin(missing.into_new().create_if_absent(self)).await? {
            Creation::Done(committed) if self.dry_run => Ok(Attempt::Unwritten(committed)),
            Creation::Done(committed) => Ok(Attempt::Written(Ok(committed))),
            // Another writer has created the object.
            Creation::NameTaken { name: taken, .. } if taken == name => Ok(Attempt::Overtaken),
            Creation::NameTaken { error, .. } => Err(error),
            Creation::Failed(error) => Ok(Attempt::Written(Err(error))),
        }
    }

    /// The key as messages name it: those of a dry run leave out the prefix of all keys, as in kube-apiserver.
    fn named_key<'k>(&self, key: &'k str) -> &'k str {
        match self.dry_run {
            true => key.strip_prefix("/registry").unwrap_or(key),
            false => key,
        }
    }

    /// One attempt on the state `entry`.
    async fn change_once(&self, key: &str, entry: &Arc<Entry>, change: &Change<'_>) -> ApiResult<Attempt<Committed>> {
        let size = self.size_with(entry);
        let bodies = self.endpoint.stores().large_bodies();
        let old = self.old(entry, size).await?;
        let existing = Existing {
            key,
            entry,
            old: &*old,
            part: change.part,
            size,
        };
        let begin = || self.begin_change(existing, change);
        let PreparedChange { live, new } = self.run_or_convert(size, begin).await??;
        let tracked = new.track_change(self, existing, live.as_deref().unwrap_or(&*old)).await;
        drop(live);
        let working = tracked.into_working_version(self).await?;
        let _counted = bodies.count(size, || {
            heap_size::of_object(&*old) + heap_size::of_object(working.object())
        })?;
        let identified = working.mutate(self).await?.identify(self)?;
        let (reserved, mut reservation) = identified.reserve(self).await?;
        let committed = reserved.change(self, &mut reservation).await;
        reservation.roll_back().await;
        committed
    }

    /// The object of `entry`, in the version that the write works on.
    async fn old(&self, entry: &Entry, size: usize) -> ApiResult<Box<dyn Object>> {
        self.endpoint.store().check_decrypted(entry)?;
        if self.endpoint.needs_converter(entry) {
            return self.endpoint.object_of(self.call, entry).await;
        }
        let read = || {
            self.endpoint
                .store()
                .decode_as(&entry.stored_bytes(), &self.working_kind())
        };
        self.in_turn(size, read).await
    }

    /// The result of the change on a state.
    fn begin_change(&self, existing: Existing<'_>, change: &Change<'_>) -> ApiResult<PreparedChange> {
        let Existing { key, old, part, .. } = existing;
        let name = old.meta().name.as_str();
        if !change.uid.is_empty() && change.uid != old.meta().uid {
            let resource = self.endpoint.kind().group_resource();
            let actual = &old.meta().uid;
            let key = self.named_key(key);
            return Err(ApiError::wrong_uid_on_update(&resource, name, key, change.uid, actual));
        }
        let converted = match self.uses_endpoint_version() {
            true => None,
            false => Some(try_convert(old, self.endpoint.kind())?),
        };
        let live = converted.as_deref().unwrap_or(old);
        let mut new = self.call.ctx.timeline.time(Stage::Patch, || (change.make)(live))?;
        if matches!(part, Part::Status) {
            new = new.for_status_of(live);
        }
        let live = converted;
        Ok(PreparedChange { live, new })
    }
}

impl Reserved<Existing<'_>> {
    /// Stores the change.
    async fn change(self, write: &Write<'_>, reservation: &mut ReservationGuard) -> ApiResult<Attempt<Committed>> {
        let admitted = self.validate(write).await?.admit(write).await?;
        match is_released(admitted.object(), admitted.purpose().old) {
            true => Ok(admitted.remove(write, reservation).await),
            false => admitted.replace(write, reservation).await,
        }
    }
}

impl Admitted<Existing<'_>> {
    /// Replaces the old object.
    async fn replace(self, write: &Write<'_>, reservation: &mut ReservationGuard) -> ApiResult<Attempt<Committed>> {
        let entry = self.purpose().entry;
        let storable = self.into_storage_version(write).await?;
        if write.dry_run {
            return Ok(Attempt::Unwritten(storable.into_dry_run()));
        }
        let Some(encoded) = storable.encode(write).await else {
            return Ok(Attempt::Unwritten(Committed::Stored(Arc::clone(entry))));
        };
        let stored = encoded.commit_change(write, reservation).await;
        Ok(stored.map(Committed::Stored))
    }

    /// Removes an object whose last finalizer the change removed; the client receives the state that the change left.
    async fn remove(self, write: &Write<'_>, reservation: &mut ReservationGuard) -> Attempt<Committed> {
        if write.dry_run {
            return Attempt::Unwritten(self.into_removed());
        }
        let removed = self.encode_removal(write).commit_change(write, reservation).await;
        removed.map(|_| self.into_removed())
    }
}

/// True if a terminating object can be removed.
fn is_released(new: &dyn Object, old: &dyn Object) -> bool {
    let waits = |seconds: Option<i64>| seconds.is_some_and(|seconds| seconds > 0);
    let meta = new.meta();
    meta.deletion_timestamp.is_some()
        && meta.finalizers.is_empty()
        && !waits(meta.deletion_grace_period_seconds)
        && !waits(old.meta().deletion_grace_period_seconds)
        && !new.resource().extensions.hooks.blocks_deletion(new)
}
