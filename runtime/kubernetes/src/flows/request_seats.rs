//! The seats of a request.

use std::sync::Arc;

use planesmith_access::user::UserInfo;
use planesmith_flow_control::{Finished, Seats};
use planesmith_server::in_flight;
use planesmith_server::request::{RequestInfo, Verb};
use tokio::runtime::Handle;

use super::configuration::Schema;
use super::kind_gauges::Phase;

/// The description of a request, for the pages about flow control.
#[derive(Clone, Debug)]
pub(super) struct Described {
    pub(super) schema: Arc<Schema>,
    pub(super) user: Arc<UserInfo>,
    pub(super) info: Arc<RequestInfo>,
}

/// The seats of a running request.
#[derive(Debug)]
pub(super) struct RequestSeats {
    /// `None` once they are dropped.
    seats: Option<Seats<Described>>,
    schema: Arc<Schema>,
    is_mutating: bool,
    is_watch: bool,
    /// The user who reads the answer; `None` until then.
    reader: Option<Arc<UserInfo>>,
}

impl RequestSeats {
    /// Counts a request that begins to execute.
    pub(super) fn begin(schema: Arc<Schema>, info: &RequestInfo, seats: Seats<Described>) -> Self {
        let is_mutating = info.is_mutating();
        schema.kinds.begin(Phase::Executing, is_mutating, seats.began());
        schema.series.began(seats.width());
        Self {
            seats: Some(seats),
            schema,
            is_mutating,
            is_watch: info.verb() == Verb::Watch,
            reader: None,
        }
    }
}

impl in_flight::Seats for RequestSeats {
    fn keep_while_sending(&mut self, user: &Arc<UserInfo>) -> bool {
        let width = self.seats.as_ref().map_or(0, Seats::width);
        let fits = self.schema.level.begin_sending(&user.name, width);
        if fits {
            self.reader = Some(Arc::clone(user));
        }
        fits
    }
}

impl Drop for RequestSeats {
    fn drop(&mut self) {
        let Some(seats) = self.seats.take() else { return };
        let (width, began) = (seats.width(), seats.began());
        let Finished { at, final_seats } = seats.finish();
        let schema = &self.schema;
        schema.kinds.end(Phase::Executing, self.is_mutating, at);
        schema
            .series
            .ended(width, at.saturating_duration_since(began), self.is_watch);
        if let Some(reader) = &self.reader {
            schema.level.end_sending(&reader.name, width);
        }
        let Some(last) = final_seats else { return };
        // Watches of the change need the seats for a moment longer. Without a runtime nothing else needs them.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep_until(last.until().into()).await;
                drop(last);
            });
        }
    }
}
