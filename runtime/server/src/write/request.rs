//! The running write: the request that all steps read.

use http::header::USER_AGENT;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::field_error::SentEmpty;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::strategy::{Context, User};
use planesmith_machinery::time::Time;
use planesmith_machinery::value::Struct;
use planesmith_patch::managers::{self, Tracking};
use planesmith_store::Entry;

use super::Part;
use crate::endpoint::{Call, Endpoint};
use crate::header_text::header_text;
use crate::offload::{Cost, block_in_place};
use crate::options::{DeleteOptions, WriteOptions};

/// A running write.
pub(crate) struct Write<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) call: &'a Call,
    pub(crate) dry_run: bool,
    pub(super) manager: String,
    pub(super) managing: Managing<'a>,
    pub(super) subresource: &'a str,
    pub(crate) now: Time,
    /// Fields that this write does not manage, besides those of the kind; see [`Tracking::resets`].
    resets: &'static [&'static str],
    /// The options of the request, for plugins that pass them on.
    pub(super) options: Box<dyn Struct>,
    /// Size of the body, in bytes.
    pub(crate) size: usize,
    /// False for a write that is part of a request that the admission plugins have accepted.
    pub(super) needs_admission: bool,
}

/// The update of managed fields.
#[derive(Clone, Copy, Debug)]
pub(super) enum Managing<'a> {
    /// By the fields that the write changed.
    Changes,
    /// By the fields that a write through a Scale changed; the path is that of the replicas.
    Replicas(&'a str),
    /// The new object has its final managed fields.
    Done,
}

impl<'a> Write<'a> {
    /// Returns a write with a body of `size` bytes.
    pub(crate) fn new(endpoint: &'a Endpoint, call: &'a Call, options: &WriteOptions<'_>, size: usize) -> Self {
        let agent = header_text(&call.parts.headers, &USER_AGENT);
        let manager = managers::manager_name(&options.field_manager, agent);
        let write = Self::with_manager(endpoint, call, options.dry_run, manager, options.as_sent());
        Self { size, ..write }
    }

    /// Returns a removal.
    pub(crate) fn removal(endpoint: &'a Endpoint, call: &'a Call, options: &DeleteOptions) -> Self {
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
        Self {
            endpoint,
            call,
            dry_run,
            manager,
            managing: Managing::Changes,
            subresource: call.ctx.info.subresource(),
            resets: &[],
            now: endpoint.now(),
            options,
            size: 0,
            needs_admission: true,
        }
    }

    /// The same write, as part of a request that the admission plugins have accepted.
    pub(crate) fn admitted(self) -> Self {
        Self {
            needs_admission: false,
            ..self
        }
    }

    /// The same write, for a part of the object.
    pub(crate) fn of_part(self, part: Part<'_>) -> Self {
        let resets = match part {
            Part::Own(part) => part.resets(),
            Part::Object | Part::Status | Part::Finalizers => &[],
        };
        Self { resets, ..self }
    }

    /// The same write through a Scale, which changes the number at `replicas`.
    pub(crate) fn through_scale(self, replicas: &'a str) -> Self {
        Self {
            managing: Managing::Replicas(replicas),
            ..self
        }
    }

    /// True if the write comes through a Scale.
    pub(crate) fn is_through_scale(&self) -> bool {
        matches!(self.managing, Managing::Replicas(_))
    }

    /// The same write, for a new object that has its final managed fields.
    pub(crate) fn with_managers(self) -> Self {
        Self {
            managing: Managing::Done,
            ..self
        }
    }

    /// The field manager and its operation.
    pub(crate) fn tracking(&self) -> Tracking<'_> {
        Tracking {
            manager: &self.manager,
            subresource: self.subresource,
            now: self.now,
            resets: self.resets,
            sent_empty: None,
        }
    }

    /// Runs `work` on documents of about `size` bytes, for a request that cannot be refused any more. The work calls no
    /// converter.
    pub(crate) async fn in_turn<T>(&self, size: usize, work: impl FnOnce() -> T) -> T {
        self.endpoint.finish(self.call, size, Cost::of_json(size), work).await
    }

    /// Like [`Self::in_turn`], for a request that can still be refused.
    ///
    /// # Errors
    ///
    /// 429 when the work is expensive and too much work waits.
    pub(crate) async fn run<T>(&self, size: usize, work: impl FnOnce() -> T) -> ApiResult<T> {
        self.endpoint.run(self.call, size, Cost::of_json(size), work).await
    }

    /// Like [`Self::in_turn`], for work that may wait for a converter, for example for managers of other versions.
    pub(super) async fn in_turn_or_converting<T>(&self, size: usize, work: impl FnOnce() -> T) -> T {
        match self.endpoint.has_converter() {
            true => converting(size, work),
            false => self.in_turn(size, work).await,
        }
    }

    /// Like [`Self::run`], for work that may wait for a converter.
    ///
    /// # Errors
    ///
    /// As for [`Self::run`].
    pub(super) async fn run_or_convert<T>(&self, size: usize, work: impl FnOnce() -> T) -> ApiResult<T> {
        match self.endpoint.has_converter() {
            true => Ok(converting(size, work)),
            false => self.run(size, work).await,
        }
    }

    /// The request, as strategies see it, with the empty values of the document of the object.
    pub(crate) fn strategy_context<'c>(&'c self, sent_empty: &'c SentEmpty) -> Context<'c> {
        let user = &self.call.ctx.user;
        Context {
            user: Some(User {
                name: &user.name,
                uid: &user.uid,
                groups: &user.groups,
                extra: &user.extra,
            }),
            features: &self.environment().features,
            now: self.now,
            sent_empty,
        }
    }

    /// The properties of the server that determine the content of objects.
    pub(crate) fn environment(&self) -> &Environment {
        self.endpoint.stores().scheme().environment()
    }

    /// Size of a change of `entry`, in bytes: that of the body, or of the entry if it is larger.
    pub(crate) fn size_with(&self, entry: &Entry) -> usize {
        self.size.max(entry.size())
    }
}

/// Runs `work` that may wait for a converter. It has no turn: a turn must not wait for another party.
fn converting<T>(size: usize, work: impl FnOnce() -> T) -> T {
    match Cost::of_json(size) >= Cost::INLINE {
        true => block_in_place(work),
        false => work(),
    }
}
