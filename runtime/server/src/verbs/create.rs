//! Creation of objects.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use planesmith_access::admission::Operation;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{NameRule, SubresourceKind};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::strategy::Context;
use planesmith_machinery::time::Time;
use planesmith_machinery::{defaulting, heap_size, validation};
use planesmith_store::{Entry, Expect, WriteError};

use super::options::{WriteOptions, parse_version};
use super::write::{Outcome, Write};
use crate::endpoint::{Call, Endpoint};
use crate::generated_name::generated_name;
use crate::metrics::{BodyUse, StoreUse};
use crate::negotiation::Acceptable;
use crate::offload::Cost;
use crate::reservations::ReservationGuard;
use crate::stores::store_failure;

/// Maximum number of attempts to generate a name that is not taken.
const NAME_ATTEMPTS: usize = 8;

impl Endpoint {
    /// Creates an object.
    pub(crate) async fn create(&self, call: &Call, body: Body) -> ApiResult<Response> {
        let output = self.negotiate(&call.parts, Acceptable::Object)?;
        let (format, body) = self.read_body(call, body, BodyUse::Create).await?;
        let options = WriteOptions::for_create(call.query())?;
        let begin = || -> ApiResult<_> {
            let (mut object, json) = self.decode(call, self.kind(), &options, (format, &body))?;
            wipe_system_fields(&mut *object);
            self.place(object.meta_mut(), call.namespace())?;
            defaulting::set_defaults(&mut *object);
            let write = Write::new(self, call, &options, body.len()).with_sent(&json, &*object);
            write.drop_repeated_owners(&mut *object, false);
            Ok((write, object))
        };
        let bodies = self.stores().large_bodies();
        let cost = Cost::of_body(format, body.len());
        let (write, mut object) = self.run(call, body.len(), cost, begin).await??;
        drop(body);
        let _counted = bodies.count(write.size, || heap_size::of_object(&*object))?;
        write.track(write.size, None, &mut *object).await;
        let outcome = write.create(object).await?;
        write.respond(StatusCode::CREATED, output, outcome).await
    }
}

impl Write<'_> {
    /// Creates an object of the endpoint's version that has its defaults and managed fields. A generated name that is
    /// taken is generated anew, a few times.
    pub(super) async fn create(&self, object: Box<dyn Object>) -> ApiResult<Outcome> {
        let meta = object.meta();
        let generates = meta.name.is_empty() && !meta.generate_name.is_empty();
        let attempts = if generates { NAME_ATTEMPTS } else { 1 };
        for _ in 1..attempts {
            match Box::pin(self.create_once(object.clone())).await {
                Err(error) if error.reason() == Some(planesmith_machinery::status::Reason::AlreadyExists) => {}
                outcome => return outcome,
            }
        }
        Box::pin(self.create_once(object)).await
    }

    async fn create_once(&self, object: Box<dyn Object>) -> ApiResult<Outcome> {
        let mut object = self.to_working_version(object)?;
        self.endpoint.check_that_it_stays(&object.meta().name)?;
        self.mutate(Operation::Create, &mut object, None).await?;
        self.fill_system_fields(&mut *object);
        self.endpoint.place(object.meta_mut(), self.call.namespace())?;
        let mut reservation = match self.endpoint.reservations() {
            Some(pool) => ReservationGuard::new(pool.begin_create(&mut *object, self.dry_run).await?),
            None => ReservationGuard::nothing(),
        };
        let outcome = self.store_reserved(object, &mut reservation).await;
        reservation.roll_back().await;
        outcome
    }

    /// Validates and stores an object whose reservations are made.
    async fn store_reserved(
        &self,
        mut object: Box<dyn Object>,
        reservation: &mut ReservationGuard,
    ) -> ApiResult<Outcome> {
        self.pass_on(object.resource().extensions.hooks.preparation_warnings(&*object));
        prepare(&mut *object, &self.strategy_context());
        let sent = self.endpoint.kind();
        let errors = self.validate(self.size, || validation::check_create_as_sent(&*object, sent));
        let errors = errors.await?;
        self.refuse_invalid(&*object, &errors)?;
        self.warn_about(&*object, None);
        self.admit(Operation::Create, &mut object, None).await?;
        let key = self.endpoint.store().key(self.call.namespace(), &object.meta().name)?;
        let collection = self.endpoint.store().collection();
        if self.dry_run {
            if let current @ Some(_) = collection.get(&key) {
                return Err(self.taken(&*object, current));
            }
            return Ok(Outcome::Unstored(self.to_store(object).await?));
        }
        // Text that is not a number counts as absent.
        if parse_version(&object.meta().resource_version).is_ok_and(|version| version != 0) {
            return Err(ApiError::version_on_create());
        }
        let object = self.to_store(object).await?;
        let op = self
            .in_turn(self.size, || self.put(&key, &*object, Expect::Absent))
            .await;
        let write = reservation.write(collection, op, None);
        match self.stored(StoreUse::Create, write).await {
            Ok(written) => Ok(Outcome::Stored(written.entry)),
            Err(WriteError::Conflict { current }) => Err(self.taken(&*object, current)),
            Err(error) => Err(store_failure(&error)),
        }
    }

    fn fill_system_fields(&self, object: &mut dyn Object) {
        let uid = self.endpoint.stores().options().uids.next();
        let name_rule = object.resource().name_rule;
        let meta = object.meta_mut();
        meta.creation_timestamp = self.now;
        meta.uid = uid;
        if meta.name.is_empty() && !meta.generate_name.is_empty() {
            meta.name = match name_rule {
                // Appended letters cannot turn the start of an address into an address.
                NameRule::IpAddress => meta.generate_name.clone(),
                _ => generated_name(&meta.generate_name),
            };
        }
    }

    /// 409 for a name that is taken, possibly by a terminating object.
    fn taken(&self, object: &dyn Object, current: Option<Arc<Entry>>) -> ApiError {
        let resource = self.endpoint.kind().group_resource();
        let meta = object.meta();
        let error = match meta.generate_name.is_empty() {
            false => ApiError::generated_name_taken(&resource, &meta.name),
            true => ApiError::already_exists(&resource, &meta.name),
        };
        let current = current.and_then(|entry| self.endpoint.store().decode(&entry).ok());
        match current.is_some_and(|current| current.meta().deletion_timestamp.is_some()) {
            true => error.being_deleted(),
            false => error,
        }
    }
}

/// Clears the fields that only the server sets.
pub(super) fn wipe_system_fields(object: &mut dyn Object) {
    let meta = object.meta_mut();
    meta.creation_timestamp = Time::ZERO;
    meta.uid.clear();
    meta.deletion_timestamp = None;
    meta.deletion_grace_period_seconds = None;
    meta.self_link.clear();
}

/// Resets the fields that a creator may not set.
fn prepare(object: &mut dyn Object, context: &Context<'_>) {
    let facts = object.resource();
    if facts.behavior.generation {
        object.meta_mut().generation = 1;
    }
    let has_status = |kind: &SubresourceKind| matches!(kind, SubresourceKind::Status);
    if !facts.behavior.status_on_create
        && facts
            .subresources
            .iter()
            .any(|subresource| has_status(&subresource.kind))
        && let Some(status) = object.facts().fields.iter().position(|field| field.name == "status")
    {
        object.field_mut(status).reset();
    }
    facts.strategy.prepare_for_create(object, context);
}
