//! Last step: the store has performed the operation.

use std::sync::Arc;
use std::time::Instant;

use axum::response::Response;
use http::StatusCode;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_store::{Entry, WriteError, WriteResult};

use super::admitted::Admitted;
use super::candidate::{Candidate, Existing};
use super::storable::Storable;
use super::{Attempt, Encoded, Write};
use crate::encodings::Subject;
use crate::metrics::StoreUse;
use crate::negotiation::Output;
use crate::offload::Cost;
use crate::request::Stage;
use crate::reservations::ReservationGuard;
use crate::stores::store_failure;

/// The result of a write.
pub(crate) enum Committed {
    /// The stored entry.
    Stored(Arc<Entry>),
    /// An object that would be stored or was removed.
    Unstored {
        /// The object, in the storage version or the endpoint's.
        object: Box<dyn Object>,
        /// Its size in JSON, in bytes; an estimate.
        size: usize,
    },
}

impl<P> Storable<P> {
    /// Ends a dry run, which performs no operation.
    pub(super) fn into_dry_run(self) -> Committed {
        let Candidate { object, size, .. } = self.into_candidate();
        Committed::Unstored { object, size }
    }
}

impl Admitted<Existing<'_>> {
    /// The state of an object that is removed because the change has removed its last finalizer.
    pub(super) fn into_removed(self) -> Committed {
        let Candidate { object, size, .. } = self.into_candidate();
        Committed::Unstored { object, size }
    }
}

impl Encoded {
    /// Performs the operation, and commits `reservation` with it.
    ///
    /// # Errors
    ///
    /// The object is not in the expected state any more, or the store cannot write.
    pub(crate) async fn commit(self, write: &Write<'_>, reservation: &mut ReservationGuard) -> WriteResult {
        let collection = write.endpoint.store().collection();
        let (op, used, release) = self.into_parts();
        write.timed(used, reservation.write(collection, op, release)).await
    }

    /// Like [`Self::commit`], for a change of an existing object.
    pub(crate) async fn commit_change(
        self,
        write: &Write<'_>,
        reservation: &mut ReservationGuard,
    ) -> Attempt<Arc<Entry>> {
        match self.commit(write, reservation).await {
            Ok(written) => Attempt::Written(Ok(written.entry)),
            Err(WriteError::Conflict { .. }) => Attempt::Overtaken,
            Err(error) => Attempt::Written(Err(store_failure(&error))),
        }
    }
}

impl Write<'_> {
    /// Waits until the store has performed or refused `write`, and records how long that took.
    async fn timed(&self, used: StoreUse, write: impl Future<Output = WriteResult>) -> WriteResult {
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
    pub(crate) async fn respond(&self, code: StatusCode, output: Output, committed: Committed) -> ApiResult<Response> {
        let query = self.call.query();
        let committed = match committed {
            Committed::Stored(entry) => Committed::Stored(self.endpoint.converted_one(entry).await?),
            Committed::Unstored { object, size } => Committed::Unstored {
                object: self.endpoint.converted_object(object).await?,
                size,
            },
        };
        let size = match &committed {
            Committed::Stored(entry) => self.size_with(entry),
            Committed::Unstored { size, .. } => *size,
        };
        let encode = || match committed {
            Committed::Stored(entry) => self.endpoint.render(code, output, query, Subject::Entry(&entry)),
            Committed::Unstored { object, .. } => {
                let object = self.endpoint.encodings().in_version(object)?;
                self.endpoint.render(code, output, query, Subject::Object(&*object))
            }
        };
        let encode = || self.call.ctx.timeline.time(Stage::Encode, encode);
        let cost = Cost::of_json(size) + Cost::of_answer(output, size);
        self.endpoint.finish(self.call, size, cost, encode).await
    }
}
