//! Updates of objects: read, change, check, write; repeated on a conflict.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use planesmith_access::admission::Operation;
use planesmith_dynamic::custom::{self, AsCustom, CustomObject};
use planesmith_machinery::conversion::try_convert;
use planesmith_machinery::copy;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::meta::{ManagedFieldsEntry, ObjectMeta};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::SubresourceKind;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::{defaulting, heap_size, json, validation, value};
use planesmith_patch::fields::Set;
use planesmith_patch::managers;
use planesmith_store::{Entry, Expect, Op, StoredForm, WriteError};

use super::object_part::PartStrategy;
use super::options::{WriteOptions, parse_version};
use super::write::{Outcome, Write};
use crate::endpoint::{Call, Endpoint};
use crate::metrics::{BodyUse, StoreUse};
use crate::negotiation::Acceptable;
use crate::offload::Cost;
use crate::request::Stage;
use crate::reservations::ReservationGuard;
use crate::stores::store_failure;

/// The part of an object that an update changes.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    /// All but the status, if that has a path of its own.
    Object,
    /// The status.
    Status,
    /// All but the status, without the restrictions of ordinary updates.
    Finalizers,
    /// Another part with a path of its own.
    Own(&'a dyn PartStrategy),
}

/// Returns the new object for the old one, both in the endpoint's version; the new one has its defaults.
pub(super) type Make<'a> = dyn Fn(&dyn Object) -> ApiResult<Made> + Sync + 'a;

/// A new object.
pub(super) struct Made {
    pub(super) object: Box<dyn Object>,
    /// Fields that a patch sets to empty.
    pub(super) emptied: Set<'static>,
}

impl From<Box<dyn Object>> for Made {
    fn from(object: Box<dyn Object>) -> Self {
        Self {
            object,
            emptied: Set::new(),
        }
    }
}

/// Returns the object to create when none exists, in the endpoint's version with its defaults.
pub(super) type MakeMissing<'a> = dyn Fn() -> ApiResult<Box<dyn Object>> + Sync + 'a;

/// The description of an update.
pub(super) struct Change<'a> {
    pub(super) part: Part<'a>,
    pub(super) make: &'a Make<'a>,
    /// The object to create when none exists; `None` for an update that requires one.
    pub(super) otherwise: Option<&'a MakeMissing<'a>>,
    /// The UID that the old object must have; empty for any.
    pub(super) uid: &'a str,
}

/// The result of an update.
pub(super) struct Changed {
    pub(super) outcome: Outcome,
    pub(super) created: bool,
}

/// The result of a change before admission, in the endpoint's version.
struct Begun {
    /// The old object in the endpoint's version, if that is not the version in which it was read.
    live: Option<Box<dyn Object>>,
    new: Box<dyn Object>,
    emptied: Set<'static>,
}

impl Endpoint {
    /// Replaces an object.
    pub(crate) async fn update(&self, call: &Call, body: Body) -> ApiResult<Response> {
        self.replace(call, body, Part::Object).await
    }

    /// Replaces the status of an object.
    pub(crate) async fn update_status(&self, call: &Call, body: Body) -> ApiResult<Response> {
        self.replace(call, body, Part::Status).await
    }

    /// Replaces the finalizers of an object's spec, and its metadata.
    pub(crate) async fn update_finalizers(&self, call: &Call, body: Body) -> ApiResult<Response> {
        self.replace(call, body, Part::Finalizers).await
    }

    /// Replaces a part of an object that has rules of its own.
    pub(crate) async fn update_part(&self, call: &Call, body: Body, part: &dyn PartStrategy) -> ApiResult<Response> {
        self.replace(call, body, Part::Own(part)).await
    }

    async fn replace(&self, call: &Call, body: Body, part: Part<'_>) -> ApiResult<Response> {
        let output = self.negotiate(
            &call.parts,
            Acceptable::of_object(&self.kind().extensions, call.ctx.info.subresource()),
        )?;
        let (format, body) = self.read_body(call, body, BodyUse::Update).await?;
        let options = WriteOptions::for_update(call.query())?;
        let begin = || -> ApiResult<_> {
            let (mut object, json) = self.decode(call, self.kind(), &options, (format, &body))?;
            self.check_own_names(object.meta_mut(), call)?;
            // Documents of custom objects lose an empty list earlier.
            let may_forget = object.as_custom().is_none() && object.meta().managed_fields.is_empty();
            if may_forget && managers::forgets_managers(&json) {
                object.meta_mut().managed_fields = vec![ManagedFieldsEntry::default()];
            }
            let sent = Write::new(self, call, &options, body.len()).with_sent(&json, &*object);
            defaulting::set_defaults(&mut *object);
            let write = sent.of_part(part);
            write.drop_repeated_owners(&mut *object, false);
            Ok((write, object))
        };
        let bodies = self.stores().large_bodies();
        let cost = Cost::of_body(format, body.len());
        let (write, object) = self.run(call, body.len(), cost, begin).await??;
        drop(body);
        let _counted = bodies.count(write.size, || heap_size::of_object(&*object))?;
        let creates = matches!(part, Part::Object) && self.kind().behavior.create_on_update;
        let make_missing = || Ok(object.boxed());
        let change = Change {
            part,
            make: &|_| Ok(object.boxed().into()),
            otherwise: creates.then_some(&make_missing),
            uid: &object.meta().uid,
        };
        let changed = write.change(call.name(), &change).await?;
        let code = if changed.created {
            StatusCode::CREATED
        } else {
            StatusCode::OK
        };
        write.respond(code, output, changed.outcome).await
    }

    /// Checks that the metadata names the object in the path.
    ///
    /// # Errors
    ///
    /// 400 when it names another.
    pub(super) fn check_own_names(&self, own: &mut ObjectMeta, call: &Call) -> ApiResult<()> {
        self.place(own, call.namespace())?;
        let (own, wanted) = (&own.name, call.name());
        if own.is_empty() {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({wanted} based on URL) was undeterminable: name must be provided"
            )));
        }
        if own != wanted {
            return Err(ApiError::name_mismatch(own, wanted));
        }
        Ok(())
    }
}

impl Write<'_> {
    /// Applies a change to the newest state of the object `name`; on a conflict it is repeated without limit, as in
    /// kube-apiserver: each conflict means that another writer made progress, and the request has a deadline.
    pub(super) async fn change(&self, name: &str, change: &Change<'_>) -> ApiResult<Changed> {
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
                let cost = Cost::of_json(self.size);
                let made = self.endpoint.run(self.call, self.size, cost, make).await??;
                match Box::pin(self.create_missing(made)).await? {
                    Some(outcome) => return Ok(Changed { outcome, created: true }),
                    None => continue,
                }
            };
            if let Some(outcome) = Box::pin(self.change_once(&key, &entry, change)).await? {
                return Ok(Changed {
                    outcome,
                    created: false,
                });
            }
        }
    }

    /// Creates the object that an update did not find; `None` when it exists after all.
    async fn create_missing(&self, mut object: Box<dyn Object>) -> ApiResult<Option<Outcome>> {
        super::create::wipe_system_fields(&mut *object);
        object.meta_mut().resource_version.clear();
        self.track(self.size, None, &mut *object).await;
        match self.create(object).await {
            Ok(outcome) => Ok(Some(outcome)),
            Err(error)
                if error.reason() == Some(planesmith_machinery::status::Reason::AlreadyExists) && !self.dry_run =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// One attempt on the state `entry`; `None` on a conflict.
    async fn change_once(&self, key: &str, entry: &Arc<Entry>, change: &Change<'_>) -> ApiResult<Option<Outcome>> {
        let size = self.size_with(entry);
        let bodies = self.endpoint.stores().large_bodies();
        let kind = self.endpoint.kind();
        let old = match kind.custom {
            Some(_) if custom::needs_converter(entry.bytes(), kind) => self.endpoint.object_of(entry).await?,
            Some(_) => {
                self.in_turn(size, || self.endpoint.encodings().object(entry.bytes()))
                    .await?
            }
            None => self.in_turn(size, || self.endpoint.store().decode(entry)).await?,
        };
        let begin = || self.begin_change(key, entry, &*old, change);
        let cost = Cost::of_json(size);
        let Begun { live, mut new, emptied } = self.endpoint.run(self.call, size, cost, begin).await??;
        self.track_patched(size, Some(live.as_deref().unwrap_or(&*old)), &mut *new, &emptied)
            .await;
        drop(live);
        new.meta_mut().resource_version = entry.revision().to_string();
        let convert = || self.to_working_version(new);
        let mut new = self.endpoint.run(self.call, size, cost, convert).await??;
        let _counted = bodies.count(size, || heap_size::of_object(&*old) + heap_size::of_object(&*new))?;
        self.mutate(Operation::Update, &mut new, Some(&*old)).await?;
        let mut reservation = match self.endpoint.reservations() {
            Some(pool) if matches!(change.part, Part::Object) => {
                ReservationGuard::new(pool.begin_update(&mut *new, &*old, self.dry_run).await?)
            }
            _ => ReservationGuard::nothing(),
        };
        let outcome = self
            .change_reserved(key, entry, change.part, new, &*old, &mut reservation)
            .await;
        reservation.roll_back().await;
        outcome
    }

    /// The result of the change on `old`, which is the object of `entry`.
    fn begin_change(&self, key: &str, entry: &Entry, old: &dyn Object, change: &Change<'_>) -> ApiResult<Begun> {
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
        let Made {
            object: mut new,
            emptied,
        } = self.call.ctx.timeline.time(Stage::Patch, || (change.make)(live))?;
        self.check_version(&*new, entry)?;
        if matches!(change.part, Part::Status) && live.as_custom().is_some() {
            keep_metadata(&mut *new, live);
        }
        let live = converted;
        Ok(Begun { live, new, emptied })
    }

    /// Validates and stores a change whose reservations are made.
    async fn change_reserved(
        &self,
        key: &str,
        entry: &Arc<Entry>,
        part: Part<'_>,
        mut new: Box<dyn Object>,
        old: &dyn Object,
        reservation: &mut ReservationGuard,
    ) -> ApiResult<Option<Outcome>> {
        self.prepare_update(part, &mut new, old);
        let errors = self.validate(self.size_with(entry), || match part {
            Part::Object => validation::check_update_as_sent(&*new, old, self.endpoint.kind()),
            Part::Finalizers => validation::check_part_update(&*new, old, |errors| {
                new.resource().extensions.hooks.validate_replacement(&*new, old, errors);
            }),
            Part::Status => validation::check_status_update(&*new, old),
            Part::Own(part) => validation::check_part_update(&*new, old, |errors| part.check(&*new, old, errors)),
        });
        let mut errors = errors.await?;
        self.pass_on(errors.take_tolerated());
        self.refuse_invalid(&*new, &errors)?;
        match part {
            Part::Status => self.pass_on(new.resource().strategy.warnings_on_status_update(&*new, old)),
            Part::Object | Part::Finalizers => self.warn_about(&*new, Some(old)),
            Part::Own(_) => {}
        }
        managers::keep_times(old, &mut *new);
        self.admit(Operation::Update, &mut new, Some(old)).await?;
        if is_released(&*new, old) {
            return self.remove_released(key, entry, new, reservation).await;
        }
        self.store_change(key, entry, new, reservation).await
    }

    /// Checks the resourceVersion of the new object against the state that it replaces.
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

    /// The object in the version that a write works on: that of the store, or for custom kinds that of the endpoint,
    /// because each of their versions has rules of its own.
    pub(super) fn to_working_version(&self, object: Box<dyn Object>) -> ApiResult<Box<dyn Object>> {
        match self.works_as_sent() {
            true => Ok(object),
            false => try_convert(&*object, self.endpoint.kind().hub()),
        }
    }

    fn works_as_sent(&self) -> bool {
        self.endpoint.encodings().is_stored() || self.endpoint.kind().custom.is_some()
    }

    /// The object as it is stored, or would be: in the storage version, with the defaults of that version, as all
    /// clients read it from now on. Fields of a custom object that the storage version does not have are lost.
    pub(super) async fn to_store(&self, mut object: Box<dyn Object>) -> ApiResult<Box<dyn Object>> {
        let Some(custom) = object.as_custom() else {
            if !self.endpoint.encodings().is_stored() {
                // The object has only the defaults of another version so far.
                defaulting::set_defaults(&mut *object);
            }
            return Ok(object);
        };
        if !self.endpoint.encodings().is_stored() {
            object = Box::new(custom::convert_later(custom, self.endpoint.kind().hub()).await?);
        }
        self.in_turn(self.size, || {
            object.as_custom_mut().map(CustomObject::prune);
            defaulting::set_defaults(&mut *object);
        })
        .await;
        Ok(object)
    }

    /// Copies the parts from the old object that the update does not change.
    fn prepare_update(&self, part: Part<'_>, new: &mut Box<dyn Object>, old: &dyn Object) {
        let facts = old.resource();
        new.meta_mut().generation = old.meta().generation;
        match part {
            Part::Object => {
                let own_path = |kind: &SubresourceKind| matches!(kind, SubresourceKind::Status);
                if facts.subresources.iter().any(|subresource| own_path(&subresource.kind)) {
                    copy::copy_field("status", old, &mut **new);
                }
                facts
                    .strategy
                    .prepare_for_update(&mut **new, &self.strategy_context(), old);
            }
            Part::Status => {
                // Metadata is not restored: agents annotate objects together with their status.
                for (index, field) in old.facts().fields.iter().enumerate() {
                    if !matches!(field.name, "status" | "metadata") {
                        copy::copy(old.field(index), new.field_mut(index));
                    }
                }
                facts
                    .strategy
                    .prepare_for_status_update(&mut **new, &self.strategy_context(), old);
            }
            Part::Finalizers => {
                copy::copy_field("status", old, &mut **new);
            }
            Part::Own(part) => part.prepare(&mut **new, old),
        }
        keep_system_fields(&mut **new, old);
        if facts.behavior.generation && !matches!(part, Part::Status) && changes_content(&**new, old) {
            new.meta_mut().generation = old.meta().generation + 1;
        }
    }

    async fn store_change(
        &self,
        key: &str,
        entry: &Arc<Entry>,
        mut new: Box<dyn Object>,
        reservation: &mut ReservationGuard,
    ) -> ApiResult<Option<Outcome>> {
        if self.dry_run {
            return Ok(Some(Outcome::Unstored(self.to_store(new).await?)));
        }
        // A dry run returns the client's value, and no write stores it.
        new.meta_mut().self_link.clear();
        let new = self.to_store(new).await?;
        let new = &*new;
        let op = self.in_turn(self.size_with(entry), || {
            let encoded = json::encode_for_storage(new);
            let changes = !shows(entry, &encoded);
            changes.then(|| self.put_encoded(key, new, encoded, Expect::Revision(entry.revision())))
        });
        let Some(op) = op.await else {
            return Ok(Some(Outcome::Stored(Arc::clone(entry))));
        };
        let write = reservation.write(self.endpoint.store().collection(), op, None);
        match self.stored(StoreUse::Update, write).await {
            Ok(written) => Ok(Some(Outcome::Stored(written.entry))),
            Err(WriteError::Conflict { .. }) => Ok(None),
            Err(error) => Err(store_failure(&error)),
        }
    }

    /// Removes an object whose last finalizer the update removed; the client receives the state that the update left.
    async fn remove_released(
        &self,
        key: &str,
        entry: &Arc<Entry>,
        new: Box<dyn Object>,
        reservation: &mut ReservationGuard,
    ) -> ApiResult<Option<Outcome>> {
        if self.dry_run {
            return Ok(Some(Outcome::Unstored(new)));
        }
        // The plugins were called for the update; the removal that follows from it needs no second call.
        let op = Op::Delete {
            key: key.into(),
            expect: Expect::Revision(entry.revision()),
            last: None,
        };
        let release = self.endpoint.release_of(&*new);
        let write = reservation.write(self.endpoint.store().collection(), op, release);
        match self.stored(StoreUse::Delete, write).await {
            Ok(_) => Ok(Some(Outcome::Unstored(new))),
            Err(WriteError::Conflict { .. }) => Ok(None),
            Err(error) => Err(store_failure(&error)),
        }
    }
}

/// Restores the metadata of an object of which only the status is written, except for its managed fields.
fn keep_metadata(new: &mut dyn Object, live: &dyn Object) {
    let managed = std::mem::take(&mut new.meta_mut().managed_fields);
    new.meta_mut().clone_from(live.meta());
    new.meta_mut().managed_fields = managed;
}

/// Restores the fields that no update can change.
fn keep_system_fields(new: &mut dyn Object, old: &dyn Object) {
    let old = old.meta();
    let new = new.meta_mut();
    if new.uid.is_empty() {
        new.uid.clone_from(&old.uid);
    }
    new.creation_timestamp = old.creation_timestamp;
    if old.deletion_timestamp.is_some() {
        new.deletion_timestamp = old.deletion_timestamp;
    }
    if old.deletion_grace_period_seconds.is_some() && new.deletion_grace_period_seconds.is_none() {
        new.deletion_grace_period_seconds = old.deletion_grace_period_seconds;
    }
}

/// True if anything but metadata and status differs. The status counts for custom kinds without a status subresource.
fn changes_content(new: &dyn Object, old: &dyn Object) -> bool {
    let status_counts = new.as_custom().is_some() && new.resource().subresource("status").is_none();
    new.facts().fields.iter().enumerate().any(|(index, field)| {
        field.name != "metadata"
            && (field.name != "status" || status_counts)
            && !value::equal(&new.field(index).view(), &old.field(index).view())
    })
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

/// True if `encoded` with the revision of `entry` equals the bytes of `entry`.
pub(super) fn shows(entry: &Entry, encoded: &json::Encoded) -> bool {
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
