//! The steps that all writes share.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::header::USER_AGENT;
use planesmith_access::admission::{Attributes, Objects, Operation, Phase};
use planesmith_dynamic::custom::{AsCustom, CustomKind};
use planesmith_machinery::field_error::{FieldErrors, SentEmpty};
use planesmith_machinery::json;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::Scope;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::strategy::{Context, User};
use planesmith_machinery::time::Time;
use planesmith_machinery::value::Struct;
use planesmith_patch::fields::{self, Set};
use planesmith_patch::managers::{self, ScaleManagers, ScaleWrite, Tracking};
use planesmith_store::{Draft, Entry, Expect, Op, WriteResult};

use super::options::{DeleteOptions, WriteOptions};
use super::owners;
use super::scale::number_at;
use super::update::Part;
use crate::body;
use crate::encodings::Subject;
use crate::endpoint::{Call, Endpoint};
use crate::metrics::{BodyUse, StoreUse};
use crate::negotiation::{Format, Output};
use crate::offload::{Cost, block_in_place};
use crate::request::Stage;
use crate::stores::row_of;

/// A running write.
pub(super) struct Write<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) call: &'a Call,
    pub(super) dry_run: bool,
    manager: String,
    managing: Managing,
    pub(super) subresource: &'a str,
    pub(super) now: Time,
    /// Fields that this write does not manage, besides those of the kind; see [`Tracking::resets`].
    resets: &'static [&'static str],
    /// The options of the request, for plugins that pass them on.
    options: Box<dyn Struct>,
    /// Fields that the request sets to empty.
    emptied: Set<'static>,
    /// Fields that the request sets to empty, with more details, for messages.
    sent_empty: SentEmpty,
    /// Size of the body, in bytes.
    pub(super) size: usize,
}

/// The update of managed fields.
#[derive(Clone, Copy, Debug)]
enum Managing {
    /// By the fields that the write changed.
    Changes,
    /// By the fields that a write through a Scale changed; the path is that of the replicas.
    Replicas(&'static str),
    /// The new object has its final managed fields.
    Done,
}

/// The result of a write.
pub(super) enum Outcome {
    /// The stored entry.
    Stored(Arc<Entry>),
    /// An object that would be stored or was removed; in the storage version, or the endpoint's.
    Unstored(Box<dyn Object>),
}

impl<'a> Write<'a> {
    /// Returns a write with a body of `size` bytes.
    pub(super) fn new(endpoint: &'a Endpoint, call: &'a Call, options: &WriteOptions<'_>, size: usize) -> Self {
        let agent = call.parts.headers.get(USER_AGENT);
        let agent = agent.and_then(|agent| agent.to_str().ok()).unwrap_or_default();
        let manager = managers::manager_name(&options.field_manager, agent);
        let write = Self::with_manager(endpoint, call, options.dry_run, manager, options.as_sent());
        Self { size, ..write }
    }

    /// Returns a removal.
    pub(super) fn removal(endpoint: &'a Endpoint, call: &'a Call, options: &DeleteOptions) -> Self {
        let sent = Box::new(options.sent.clone());
        Self::with_manager(endpoint, call, options.dry_run, String::new(), sent)
    }

    fn with_manager(
        endpoint: &'a Endpoint,
        call: &'a Call,
        dry_run: bool,
        manager: String,
        options: Box<dyn Struct>,
    ) -> Self {
        let millis = endpoint.stores().options().clock.now();
        Self {
            endpoint,
            call,
            dry_run,
            manager,
            managing: Managing::Changes,
            subresource: call.ctx.info.subresource(),
            resets: &[],
            now: Time::from_second(i64::try_from(millis / 1000).unwrap_or(i64::MAX)),
            options,
            emptied: Set::new(),
            sent_empty: SentEmpty::default(),
            size: 0,
        }
    }

    /// The same write, for a part of the object.
    pub(super) fn of_part(self, part: Part<'_>) -> Self {
        let resets = match part {
            Part::Own(part) => part.resets(),
            Part::Object | Part::Status | Part::Finalizers => &[],
        };
        Self { resets, ..self }
    }

    /// The same write, for a request whose body `json` was decoded as `object`.
    pub(super) fn with_sent(self, json: &Bytes, object: &dyn Object) -> Self {
        if object.as_custom().is_some() {
            // Documents distinguish empty from absent themselves.
            return self;
        }
        Self {
            emptied: fields::emptied(object.facts(), json),
            sent_empty: SentEmpty::new(json),
            ..self
        }
    }

    /// The same write through a Scale, which changes the number at `replicas`.
    pub(super) fn through_scale(self, replicas: &'static str) -> Self {
        Self {
            managing: Managing::Replicas(replicas),
            ..self
        }
    }

    /// True if the write comes through a Scale.
    pub(super) fn is_through_scale(&self) -> bool {
        matches!(self.managing, Managing::Replicas(_))
    }

    /// The same write, for a new object that has its final managed fields.
    pub(super) fn with_managers(self) -> Self {
        Self {
            managing: Managing::Done,
            ..self
        }
    }

    /// The field manager and its operation.
    pub(super) fn tracking(&self) -> Tracking<'_> {
        Tracking {
            manager: &self.manager,
            subresource: self.subresource,
            now: self.now,
            resets: self.resets,
            emptied: Some(&self.emptied),
        }
    }

    /// Updates the managed fields; both objects are in the endpoint's version.
    ///
    /// The objects have about `size` bytes. A write does not fail if its fields cannot be tracked: no fields are
    /// managed then, as in kube-apiserver.
    pub(super) async fn track(&self, size: usize, live: Option<&dyn Object>, new: &mut dyn Object) {
        self.track_patched(size, live, new, &Set::new()).await;
    }

    /// Like [`Self::track`], for a new object whose fields `emptied` a patch set to empty.
    pub(super) async fn track_patched(
        &self,
        size: usize,
        live: Option<&dyn Object>,
        new: &mut dyn Object,
        emptied: &Set<'static>,
    ) {
        self.in_turn(size, || self.track_now(live, new, emptied)).await;
    }

    /// Runs `work` on documents of about `size` bytes.
    pub(super) async fn in_turn<T>(&self, size: usize, work: impl FnOnce() -> T) -> T {
        self.in_turn_for(size, Cost::of_json(size), work).await
    }

    /// Like [`Self::in_turn`], for work with the expected cost `cost`.
    async fn in_turn_for<T>(&self, size: usize, cost: Cost, work: impl FnOnce() -> T) -> T {
        match self.may_ask_a_converter() {
            // A turn must not wait for another party.
            true if cost >= Cost::INLINE => block_in_place(work),
            true => work(),
            false => self.endpoint.finish(self.call, size, cost, work).await,
        }
    }

    /// True if work on objects may call a conversion webhook, for example for managers of other versions.
    fn may_ask_a_converter(&self) -> bool {
        CustomKind::of(self.endpoint.kind()).is_some_and(CustomKind::has_converter)
    }

    fn track_now(&self, live: Option<&dyn Object>, new: &mut dyn Object, emptied: &Set<'static>) {
        match self.managing {
            Managing::Changes => {
                let track = |new: &mut dyn Object| {
                    let mut tracking = self.tracking();
                    if !emptied.is_empty() {
                        tracking.emptied = Some(emptied);
                    }
                    managers::track_write(live, new, &tracking, &**self.endpoint.stores().scheme())
                };
                let as_managed = match live {
                    None => self.endpoint.kind().extensions.hooks.as_managed(new),
                    Some(_) => None,
                };
                let tracked = match as_managed {
                    None => track(new),
                    Some(mut managed) => {
                        let tracked = track(&mut *managed);
                        new.meta_mut().managed_fields = std::mem::take(&mut managed.meta_mut().managed_fields);
                        tracked
                    }
                };
                if let Err(error) = tracked {
                    let meta = new.meta();
                    tracing::warn!(
                        resource = %self.endpoint.kind().group_resource(),
                        namespace = meta.namespace,
                        name = meta.name,
                        error = error.message(),
                        "the managed fields of an object are dropped"
                    );
                }
            }
            Managing::Replicas(path) => {
                let stored = live.map_or(&[][..], |live| &live.meta().managed_fields);
                let scaled = ScaleWrite {
                    manager: &self.manager,
                    now: self.now,
                    old: live.map_or(0, |live| number_at(live, path)),
                    new: number_at(new, path),
                };
                if let Some(managers) = ScaleManagers::read(stored, self.endpoint.kind(), path) {
                    new.meta_mut().managed_fields = managers.track(&scaled);
                }
            }
            Managing::Done => {}
        }
    }

    /// Runs the mutating plugins on the new object.
    pub(super) async fn mutate(
        &self,
        operation: Operation,
        new: &mut Box<dyn Object>,
        old: Option<&dyn Object>,
    ) -> ApiResult<()> {
        let chain = self.endpoint.stores().admission();
        if chain.handles(operation, Phase::Mutating) {
            // The name is copied: plugins may change the object that it belongs to.
            let name = old.unwrap_or(&**new).meta().name.clone();
            let mut objects = Objects {
                new: Some(&mut **new),
                old,
            };
            let warn = |text: String| self.call.ctx.warnings.add(text);
            let attributes = self.attributes(operation, &name, &warn);
            let mutate = chain.mutate(&attributes, &mut objects);
            self.call.ctx.timeline.wait(Stage::Admission, mutate).await?;
        }
        self.drop_repeated_owners(&mut **new, true);
        Ok(())
    }

    /// Runs the validating plugins on the new object.
    pub(super) async fn admit(
        &self,
        operation: Operation,
        new: &mut Box<dyn Object>,
        old: Option<&dyn Object>,
    ) -> ApiResult<()> {
        let chain = self.endpoint.stores().admission();
        if !chain.handles(operation, Phase::Validating) {
            return Ok(());
        }
        let name = old.unwrap_or(&**new).meta().name.clone();
        let objects = Objects {
            new: Some(&mut **new),
            old,
        };
        let warn = |text: String| self.call.ctx.warnings.add(text);
        let attributes = self.attributes(operation, &name, &warn);
        let validate = chain.validate(&attributes, &objects);
        self.call.ctx.timeline.wait(Stage::Admission, validate).await
    }

    /// Runs the plugins for the removal of an object.
    pub(super) async fn admit_removal(&self, name: &str, old: &dyn Object) -> ApiResult<()> {
        let chain = self.endpoint.stores().admission();
        let warn = |text: String| self.call.ctx.warnings.add(text);
        let attributes = self.attributes(Operation::Delete, name, &warn);
        let mut objects = Objects {
            new: None,
            old: Some(old),
        };
        let timeline = &self.call.ctx.timeline;
        let mutate = chain.mutate(&attributes, &mut objects);
        timeline.wait(Stage::Admission, mutate).await?;
        let validate = chain.validate(&attributes, &objects);
        timeline.wait(Stage::Admission, validate).await
    }

    /// Runs the plugins for a connection to the object in the path.
    pub(super) async fn admit_connection(&self, parameters: &dyn Struct) -> ApiResult<()> {
        let chain = self.endpoint.stores().admission();
        let warn = |text: String| self.call.ctx.warnings.add(text);
        let attributes = Attributes {
            options: None,
            connection: Some(parameters),
            ..self.attributes(Operation::Connect, self.call.name(), &warn)
        };
        let mut objects = Objects { new: None, old: None };
        chain.mutate(&attributes, &mut objects).await?;
        chain.validate(&attributes, &objects).await
    }

    fn attributes<'w>(
        &'w self,
        operation: Operation,
        name: &'w str,
        warn: &'w (dyn Fn(String) + Sync),
    ) -> Attributes<'w> {
        let resource = self.endpoint.kind();
        // An object that is posted to a subresource need not have a name.
        let name = if name.is_empty() { self.call.name() } else { name };
        let is_namespace = resource.group.is_empty() && resource.plural == "namespaces";
        Attributes {
            subresource: self.subresource,
            namespace: if is_namespace { name } else { self.call.namespace() },
            name,
            dry_run: self.dry_run,
            options: Some(&*self.options),
            warn,
            ..Attributes::new(operation, resource, &self.call.ctx.user)
        }
    }

    pub(super) fn drop_repeated_owners(&self, object: &mut dyn Object, after_admission: bool) {
        if let Some(warning) = owners::drop_repeated(object.meta_mut(), after_admission) {
            self.call.ctx.warnings.add(warning);
        }
    }

    /// Refuses an object with validation errors.
    pub(super) fn refuse_invalid(&self, object: &dyn Object, errors: &FieldErrors) -> ApiResult<()> {
        if errors.is_empty() {
            return Ok(());
        }
        // A kind that moved to another group is still named after the group in which it is stored.
        let kind = self.endpoint.kind().hub().group_kind();
        let errors = self.sent_empty.shown_in(errors);
        Err(ApiError::invalid(&kind, &object.meta().name, &errors))
    }

    /// The request, as strategies see it.
    pub(super) fn strategy_context(&self) -> Context<'_> {
        let user = &self.call.ctx.user;
        Context {
            user: Some(User {
                name: &user.name,
                uid: &user.uid,
                groups: &user.groups,
                extra: &user.extra,
            }),
        }
    }

    /// Adds the kind's warnings about an accepted object.
    pub(super) fn warn_about(&self, object: &dyn Object, old: Option<&dyn Object>) {
        let strategy = object.resource().strategy;
        self.pass_on(match old {
            None => strategy.warnings_on_create(object),
            Some(old) => strategy.warnings_on_update(object, old),
        });
    }

    pub(super) fn pass_on(&self, warnings: Vec<String>) {
        for warning in warnings {
            self.call.ctx.warnings.add(warning);
        }
    }

    /// The operation that stores an object of the storage version.
    pub(super) fn put(&self, key: &str, object: &dyn Object, expect: Expect) -> Op {
        self.put_encoded(key, object, json::encode_for_storage(object), expect)
    }

    /// Like [`Self::put`], for an object that is encoded already.
    pub(super) fn put_encoded(&self, key: &str, object: &dyn Object, encoded: json::Encoded, expect: Expect) -> Op {
        Op::Put {
            key: key.into(),
            draft: Draft::new(encoded.bytes, encoded.gap),
            row: row_of(object),
            expect,
            ttl: object.resource().extensions.hooks.ttl(object),
        }
    }

    /// Size of a change of `entry`, in bytes: that of the body, or of the entry if it is larger.
    pub(super) fn size_with(&self, entry: &Entry) -> usize {
        self.size.max(entry.bytes().len())
    }

    /// Validates an object of about `size` bytes.
    ///
    /// # Errors
    ///
    /// 429 when the validation is expensive and too much work waits.
    pub(super) async fn validate<T>(&self, size: usize, check: impl FnOnce() -> T) -> ApiResult<T> {
        let check = || self.call.ctx.timeline.time(Stage::Validation, check);
        let kind = self.endpoint.kind();
        let by_expressions = match CustomKind::of(kind) {
            Some(custom) => custom.check_cost(size),
            None => kind.hub().extensions.check_cost_per_byte.saturating_mul(size as u64),
        };
        let cost = Cost::of_json(size) + Cost::of_nanos(by_expressions);
        self.endpoint.run(self.call, size, cost, check).await
    }

    /// Waits until the store has performed or refused `write`.
    pub(super) async fn stored(&self, used: StoreUse, write: impl Future<Output = WriteResult>) -> WriteResult {
        let begin = Instant::now();
        let result = write.await;
        let took = begin.elapsed();
        let timeline = &self.call.ctx.timeline;
        let sync = result.as_ref().map_or(took, |written| written.synced.min(took));
        timeline.add(Stage::Queue, begin, took - sync);
        timeline.add(Stage::Sync, begin + (took - sync), sync);
        self.endpoint.metrics().store(used, took, result.is_err());
        result
    }

    /// Answers with the result of the write.
    pub(super) async fn respond(&self, code: StatusCode, output: Output, outcome: Outcome) -> ApiResult<Response> {
        let query = self.call.query();
        let outcome = match outcome {
            Outcome::Stored(entry) => Outcome::Stored(self.endpoint.converted_one(entry).await?),
            Outcome::Unstored(object) => Outcome::Unstored(self.endpoint.converted_object(object).await?),
        };
        let size = match &outcome {
            Outcome::Stored(entry) => self.size_with(entry),
            Outcome::Unstored(_) => self.size,
        };
        let encode = || match outcome {
            Outcome::Stored(entry) => self.endpoint.render(code, output, query, Subject::Entry(&entry)),
            Outcome::Unstored(object) => {
                let object = self.endpoint.encodings().in_version(object)?;
                self.endpoint.render(code, output, query, Subject::Object(&*object))
            }
        };
        let encode = || self.call.ctx.timeline.time(Stage::Encode, encode);
        let cost = Cost::of_json(size) + Cost::of_answer(output, size);
        self.in_turn_for(size, cost, encode).await
    }
}

impl Endpoint {
    /// The body of a write and its format.
    pub(super) async fn read_body(&self, call: &Call, body: Body, used: BodyUse) -> ApiResult<(Format, Bytes)> {
        let format = body::format(&call.parts)?;
        Ok((format, self.read_bytes(call, body, used).await?))
    }

    /// The body of a write.
    pub(super) async fn read_bytes(&self, call: &Call, body: Body, used: BodyUse) -> ApiResult<Bytes> {
        let read = body::read(&call.parts, body, self.stores().options().body_limit);
        let body = call.ctx.timeline.wait(Stage::Read, read).await?;
        self.metrics().body(used, body.len());
        Ok(body)
    }

    /// Sets an object's namespace to that of the path, or clears it for cluster-scoped objects.
    ///
    /// # Errors
    ///
    /// 400 when the object has another namespace.
    pub(super) fn place(&self, object: &mut ObjectMeta, namespace: &str) -> ApiResult<()> {
        let namespace = match self.kind().scope {
            Scope::Namespaced => namespace,
            Scope::Cluster => "",
        };
        let own = &mut object.namespace;
        if own.is_empty() || namespace.is_empty() {
            namespace.clone_into(own);
        }
        if own != namespace {
            return Err(ApiError::namespace_mismatch());
        }
        Ok(())
    }
}
