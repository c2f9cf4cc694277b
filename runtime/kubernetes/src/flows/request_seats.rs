//! The seats of a request.

use std::sync::Arc;
use std::time::Instant;

use planesmith_access::user::UserInfo;
use planesmith_flow_control::{Seats, WorkEstimate};
use planesmith_server::in_flight;
use planesmith_server::request::{RequestInfo, Verb};
use tokio::runtime::Handle;

use super::configuration::Schema;
use super::kind_gauges::{KindGauges, Phase};

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
    schema: Arc<Schema>,
    /// `None` once they are dropped.
    seats: Option<Seats<Described>>,
    width: u32,
    began: Instant,
    info: Arc<RequestInfo>,
    kinds: Arc<KindGauges>,
    /// The user who reads the answer; `None` until then.
    reader: Option<Arc<UserInfo>>,
}

impl RequestSeats {
    /// Counts a request that begins to execute.
    pub(super) fn begin(
        described: &Described,
        seats: Seats<Described>,
        estimate: &WorkEstimate,
        kinds: &Arc<KindGauges>,
    ) -> Self {
        let began = Instant::now();
        kinds.begin(Phase::Executing, &described.info, began);
        let width = estimate.max_seats();
        described.schema.series.began(width);
        Self {
            schema: Arc::clone(&described.schema),
            seats: Some(seats),
            width,
            began,
            info: Arc::clone(&described.info),
            kinds: Arc::clone(kinds),
            reader: None,
        }
    }
}

impl in_flight::Seats for RequestSeats {
    fn keep_while_sending(&mut self, user: &Arc<UserInfo>) -> bool {
        let fits = self.schema.level.begin_sending(&user.name, self.width);
        if fits {
            self.reader = Some(Arc::clone(user));
        }
        fits
    }
}

impl Drop for RequestSeats {
    fn drop(&mut self) {
        let now = Instant::now();
        self.kinds.end(Phase::Executing, &self.info, now);
        let took = now.saturating_duration_since(self.began);
        let is_watch = self.info.verb() == Verb::Watch;
        self.schema.series.ended(self.width, took, is_watch);
        if let Some(reader) = self.reader.take() {
            self.schema.level.end_sending(&reader.name, self.width);
        }
        let Some(last) = self.seats.take().and_then(Seats::finish) else {
            return;
        };
        // Watches of the change need the seats for a moment longer. Without a runtime nothing else needs them.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep_until(last.until().into()).await;
                drop(last);
            });
        }
    }
}
