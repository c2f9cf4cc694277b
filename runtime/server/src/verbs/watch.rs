//! Watches.

mod bookmarks;
mod chunk;
mod dedicated_task;
mod frames;
mod stream;
mod unsent;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt as _;
use futures_util::stream::iter;
use http::StatusCode;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult, Expired};
use planesmith_machinery::table::RowObject;
use planesmith_store::{ListQuery, Revision, WakeGroup, WatchError, WatchFrom};

use self::bookmarks::Bookmarks;
use self::frames::Frames;
use self::stream::{Initial, WatchStream};
use super::selection::Selection;
use crate::endpoint::{Call, Endpoint};
use crate::in_flight::WatchStart;
use crate::negotiation::{Acceptable, Output, Target, streamed};
use crate::options::{ListOptions, Start, parse_version_field};
use crate::response;
use crate::stores::STORE_CLOSED;
use crate::table;
use crate::websocket;

impl Endpoint {
    /// Answers with a stream of changes.
    ///
    /// Once the parameters are valid, the answer is 200, or a WebSocket: later errors are `ERROR` events.
    pub(crate) async fn watch(self: &Arc<Self>, call: &Call) -> ApiResult<Response> {
        let output = self.negotiate(&call.parts, Acceptable::Collection)?;
        let options = ListOptions::for_watch(call.query(), &call.ctx.features)?;
        let selection = Selection::new(&options, self.kind(), call.ctx.info.name())?;
        let version = parse_version_field(&options.resource_version).map_err(|why| ApiError::unnamed(500, why))?;
        let shown = match output.target {
            Target::Table => table::row_object(call.query())?,
            _ => RowObject::default(),
        };
        let output = streamed(output)?;
        let place = self
            .stores()
            .watches()
            .take(&call.ctx.user)
            .ok_or_else(ApiError::overloaded)?;
        let mut frames = Frames::new(Arc::clone(self), output, shown, selection);
        if websocket::requests_web_socket(&call.parts.headers) {
            frames = frames.into_messages();
        }
        let watch = self.begin(call, &options, version, &frames).await;
        let (initial, watcher) = match watch {
            // Watches of one connection are woken together.
            Ok((initial, watcher)) => match call.parts.extensions.get::<Arc<WakeGroup>>() {
                Some(group) => (initial, watcher.in_group(group)),
                None => (initial, watcher),
            },
            Err(error) => {
                let refusal = frames.error(&error);
                return Ok(answer(call, output, iter([Ok(refusal)])));
            }
        };
        let watcher = match is_of_one_part(self.kind(), &options.field_selector) {
            true => watcher,
            false => watcher.of_client(),
        };
        let deadline = tokio::time::Instant::now() + self.duration(&options);
        let bookmarks = options.bookmarks.then(|| {
            let interval = self.stores().options().bookmark_interval;
            let bookmarks = Bookmarks::new(interval, deadline, watcher.progress());
            match options.requests_state() {
                true => bookmarks.after_state(),
                false => bookmarks,
            }
        });
        let shutdown = call.ctx.shutdown.clone();
        let turns = self.stores().offload().turns(&call.ctx.user);
        let start = call.parts.extensions.get::<WatchStart>().cloned();
        let stream = WatchStream::new(frames, turns, watcher, bookmarks, deadline, shutdown).at(place);
        let chunks = stream.run(initial, start);
        Ok(match self.has_converter() {
            true => answer(call, output, dedicated_task::run(chunks)),
            false => answer(call, output, chunks),
        })
    }

    async fn begin(
        &self,
        call: &Call,
        options: &ListOptions<'_>,
        version: u64,
        frames: &Frames,
    ) -> ApiResult<(Initial, planesmith_store::Watcher)> {
        let store = &**self.store();
        let prefix = frames.selection().prefix(store, call.namespace());
        let collection = store.collection();
        match options.start(version) {
            Start::State => {
                match version {
                    0 if options.resource_version.is_empty() => self.fresh(call).await?,
                    0 => {}
                    version => self.wait_for(call, version).await?,
                }
                let matches = |entry: &planesmith_store::Entry| self.may_select(frames.selection(), entry);
                let mut query = ListQuery::all(&prefix);
                if !frames.selection().is_everything() {
                    query.filter = Some(&matches);
                }
                let (page, watcher) = collection.list_and_watch(&query);
                let initial = Initial {
                    entries: page.entries.into(),
                    end: (options.bookmarks && options.requests_state()).then_some(page.revision),
                    scope: if call.namespace().is_empty() {
                        "cluster"
                    } else {
                        "namespace"
                    },
                    received: Some(call.ctx.received),
                };
                Ok((initial, watcher))
            }
            Start::Changes => {
                if options.resource_version.is_empty() {
                    self.fresh(call).await?;
                }
                let from = match version {
                    0 => WatchFrom::Now,
                    version => WatchFrom::After(Revision(version)),
                };
                let watcher = collection
                    .watch(&prefix, from)
                    .map_err(|error| failure(&error, version))?;
                // Only selectors compare events with the states before.
                let watcher = match frames.selection().is_everything() {
                    true => watcher.without_previous(),
                    false => watcher,
                };
                Ok((Initial::default(), watcher))
            }
        }
    }

    /// Duration of the watch: the client's choice, or a random time between once and twice the configured one, so that
    /// watches that began together do not end together.
    fn duration(&self, options: &ListOptions<'_>) -> Duration {
        options
            .timeout
            .unwrap_or_else(|| self.stores().options().min_watch.mul_f64(1.0 + fastrand::f64()))
    }
}

/// True for a watch that receives the changes of few objects, such as that of a kubelet, which selects the pods of its node.
fn is_of_one_part(facts: &ResourceFacts, fields: &str) -> bool {
    let path = facts.behavior.partitioned_by;
    let selected = fields.strip_prefix(path).filter(|_| !path.is_empty());
    selected.is_some_and(|value| value.starts_with('='))
}

/// The error for a watch that cannot start or continue after `version`.
fn failure(error: &WatchError, version: u64) -> ApiError {
    match error {
        WatchError::Compacted { oldest } => ApiError::expired(Expired::CachedWatch {
            requested: version,
            oldest: oldest.0,
        }),
        WatchError::Closed => ApiError::service_unavailable(STORE_CLOSED),
    }
}

/// Sends `chunks` as a body, or over a WebSocket if the client requests that.
fn answer(
    call: &Call,
    output: Output,
    chunks: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static,
) -> Response {
    if websocket::requests_web_socket(&call.parts.headers) {
        return websocket::answer(&call.parts, chunks.map(|Ok(chunk)| chunk).boxed());
    }
    let media_type = output.format.stream_media_type().unwrap_or_default();
    response::stream(StatusCode::OK, media_type, Body::from_stream(chunks))
}
