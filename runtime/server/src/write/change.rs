//! The way of a change: read, change, check, write; repeated while other writers change the object.

use std::sync::Arc;

use http::StatusCode;
use planesmith_dynamic::custom;
use planesmith_machinery::conversion::try_convert;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::heap_size;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::Entry;

use super::admitted::Admitted;
use super::creation::Creation;
use super::prepared::keep_metadata;
use super::{Committed, Defaulted, Encoded, Mutated, Part, Write};
use crate::options::parse_version;
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

/// The state of the object that a change meets.
#[derive(Clone, Copy)]
struct State<'a> {
    key: &'a str,
    entry: &'a Arc<Entry>,
    /// The object of the entry.
    old: &'a dyn Object,
    /// Size of the change, in bytes.
    size: usize,
}

/// The new object of a change, in the endpoint's version.
struct Begun {
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
        let store = self.endpoint.store();
        let key = store.key(self.call.namespace(), name)?;
        loop {
            let Some(entry) = store.collection().get(&key) else {
                let Some(make) = change.otherwise else {
                    return Err(self.endpoint.not_found(name));
                };
                if !change.uid.is_empty() {
                    let resource = self.endpoint.kind().group_resource();
                    return Err(ApiError::wrong_uid_on_update(&resource, name, &key, change.uid, ""));
                }
                let missing = self.run_or_convert(self.size, make).await??;
                match Box::pin(missing.into_new().create_if_absent(self)).await? {
                    Creation::Done(committed) => {
                        return Ok(Changed {
                            committed,
                            created: true,
                        });
                    }
                    // Another writer has created the object.
                    Creation::NameTaken { name: taken, .. } if taken == name => continue,
                    Creation::NameTaken { error, .. } => return Err(error),
                }
            };
            if let Some(committed) = Box::pin(self.change_once(&key, &entry, change)).await? {
                return Ok(Changed {
                    committed,
                    created: false,
                });
            }
        }
    }

    /// One attempt on the state `entry`; `None` on a conflict.
    async fn change_once(&self, key: &str, entry: &Arc<Entry>, change: &Change<'_>) -> ApiResult<Option<Committed>> {
        let size = self.size_with(entry);
        let bodies = self.endpoint.stores().large_bodies();
        let old = self.old(entry, size).await?;
        let state = State {
            key,
            entry,
            old: &*old,
            size,
        };
        let begin = || self.begin_change(state, change);
        let Begun { live, new } = self.run_or_convert(size, begin).await??;
        let tracked = new.track_change(self, size, live.as_deref().unwrap_or(&*old)).await;
        drop(live);
        let convert = || tracked.into_working_version(self);
        let tracked = self.run(size, convert).await??;
        let _counted = bodies.count(size, || {
            heap_size::of_object(&*old) + heap_size::of_object(&*tracked.object)
        })?;
        let mut mutated = tracked.mutate(self, Some(&*old)).await?;
        self.check_version(&*mutated.object, entry)?;
        mutated.object.meta_mut().resource_version = entry.revision().to_string();
        let mut reservation = match self.endpoint.reservations() {
            Some(pool) if matches!(change.part, Part::Object) => {
                ReservationGuard::new(pool.begin_update(&mut *mutated.object, &*old, self.dry_run).await?)
            }
            _ => ReservationGuard::nothing(),
        };
        let committed = mutated.change(self, state, change.part, &mut reservation).await;
        reservation.roll_back().await;
        committed
    }

    /// The object of `entry`, in the version in which the write changes it.
    async fn old(&self, entry: &Entry, size: usize) -> ApiResult<Box<dyn Object>> {
        let kind = self.endpoint.kind();
        if custom::needs_converter(entry.bytes(), kind) {
            return self.endpoint.object_of(self.call, entry).await;
        }
        let read = || match self.endpoint.representation().versions_have_own_rules() {
            true => self.endpoint.encodings().object(entry.bytes()),
            false => self.endpoint.store().decode(entry),
        };
        self.in_turn(size, read).await
    }

    /// The result of the change on a state.
    fn begin_change(&self, state: State<'_>, change: &Change<'_>) -> ApiResult<Begun> {
        let State { key, old, .. } = state;
        let name = old.meta().name.as_str();
        if !change.uid.is_empty() && change.uid != old.meta().uid {
            let resource = self.endpoint.kind().group_resource();
            let actual = &old.meta().uid;
            return Err(ApiError::wrong_uid_on_update(&resource, name, key, change.uid, actual));
        }
        let converted = match self.works_as_sent() {
            true => None,
            false => Some(try_convert(old, self.endpoint.kind())?),
        };
        let live = converted.as_deref().unwrap_or(old);
        let mut new = self.call.ctx.timeline.time(Stage::Patch, || (change.make)(live))?;
        if matches!(change.part, Part::Status) && self.endpoint.representation().restores_metadata() {
            keep_metadata(&mut *new.object, live);
        }
        let live = converted;
        Ok(Begun { live, new })
    }

    /// Checks the resourceVersion of the new object against the state that it replaces. Mutating plugins come before, as
    /// in kube-apiserver.
    fn check_version(&self, new: &dyn Object, entry: &Entry) -> ApiResult<()> {
        let facts = self.endpoint.kind();
        let name = &new.meta().name;
        let sent = match &*new.meta().resource_version {
            "" => 0,
            text => parse_version(text).map_err(|why| ApiError::unnamed(500, why))?,
        };
        if sent == 0 && facts.behavior.conditional_update && !self.is_through_scale() {
            let mut errors = FieldErrors::default();
            errors.invalid("metadata.resourceVersion", 0_u64, "must be specified for an update");
            let resource = GroupKind::new(facts.group, facts.plural);
            return Err(ApiError::invalid(&resource, name, &errors));
        }
        if sent != 0 && sent != entry.revision().0 {
            return Err(ApiError::modified(&facts.group_resource(), name));
        }
        Ok(())
    }
}

impl Mutated {
    /// Stores a change whose reservations are made; `None` on a conflict.
    async fn change(
        self,
        write: &Write<'_>,
        state: State<'_>,
        part: Part<'_>,
        reservation: &mut ReservationGuard,
    ) -> ApiResult<Option<Committed>> {
        let State { old, size, .. } = state;
        let validated = self.validate_change(write, size, part, old).await?;
        let admitted = validated.admit(write, Some(old)).await?;
        match is_released(&*admitted.object, old) {
            true => admitted.remove(write, state, reservation).await,
            false => admitted.replace(write, state, reservation).await,
        }
    }
}

impl Admitted {
    /// Replaces the old object; `None` on a conflict.
    async fn replace(
        mut self,
        write: &Write<'_>,
        State { key, entry, .. }: State<'_>,
        reservation: &mut ReservationGuard,
    ) -> ApiResult<Option<Committed>> {
        if write.dry_run {
            return self.into_dry_run(write).await.map(Some);
        }
        // A dry run returns the client's value, and no write stores it.
        self.object.meta_mut().self_link.clear();
        let admitted = self.into_storage_version(write).await?;
        let Some(encoded) = admitted.encode_change(write, key, entry).await else {
            return Ok(Some(Committed::Stored(Arc::clone(entry))));
        };
        let entry = encoded.commit_change(write, reservation).await?;
        Ok(entry.map(Committed::Stored))
    }

    /// Removes an object whose last finalizer the change removed; the client receives the state that the change left.
    /// `None` on a conflict.
    async fn remove(
        self,
        write: &Write<'_>,
        State { key, entry, .. }: State<'_>,
        reservation: &mut ReservationGuard,
    ) -> ApiResult<Option<Committed>> {
        if !write.dry_run {
            // The plugins were called for the update; the removal that follows from it needs no second call.
            let encoded = Encoded::removal(write, key, entry, Some(&*self.object));
            if encoded.commit_change(write, reservation).await?.is_none() {
                return Ok(None);
            }
        }
        let Self { object, size } = self;
        Ok(Some(Committed::Unstored { object, size }))
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
