//! The memory and the place in flight that an answer holds while it is sent.

use axum::body::Body;
use axum::response::Response;
use http::Method;
use http_body::Body as _;
use planesmith_machinery::status::ApiError;

use super::{Exchange, Filter, Permit, Step};
use crate::body::{AtEnd, Watched};
use crate::failure;
use crate::sending::{Delivery, Outgoing, Pinned, SendBudget, SendLimits};

/// Answers up to this size leave in one piece; nobody looks after their bytes.
const SMALL: usize = 16 << 10;
/// Answers of more bytes need room in the budget.
const LARGE: usize = 64 << 10;

/// Lets each answer keep its place among the requests in flight until its last byte is sent, and counts the bytes that answers
/// hold. When those of a user are too many, further large answers to reads of that user are 429; small ones go on.
///
/// Requests that last as long as their clients want hold no place, and bound themselves what they hold.
#[derive(Clone, Debug)]
pub struct Sending {
    budget: SendBudget,
}

impl Sending {
    /// Nothing is on its way.
    #[must_use]
    pub fn new(limits: SendLimits) -> Self {
        Self {
            budget: SendBudget::new(limits),
        }
    }
}

impl Filter for Sending {
    fn name(&self) -> &'static str {
        "sending"
    }

    fn enter<'a>(&'a self, _: &'a mut Exchange) -> Step<'a> {
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let ctx = &exchange.ctx;
        let permit = exchange.permit.take();
        if ctx.info.is_long_running() || response.body().is_end_stream() {
            return;
        }
        let hint = response.body().size_hint();
        let pinned = response.extensions_mut().remove::<Pinned>();
        let announced = usize::try_from(hint.lower()).unwrap_or(usize::MAX);
        let bytes = announced.max(pinned.map_or(0, |pinned| pinned.0));
        // What is asked for inside the process is read there, maybe as a whole: nobody waits for its bytes to leave.
        if exchange.connection.peer.is_none() || (hint.exact().is_some() && bytes <= SMALL) {
            if let Some(permit) = permit {
                let body = std::mem::take(response.body_mut());
                *response.body_mut() = Body::new(Watched::new(body, permit));
            }
            return;
        }
        let reads = matches!(*ctx.info.method(), Method::GET | Method::HEAD) && response.status().is_success();
        let charge = match reads && bytes > LARGE {
            true => self.budget.admit(&ctx.user, bytes),
            false => Some(self.budget.charge(&ctx.user, bytes.max(SMALL))),
        };
        let Some(charge) = charge else {
            *response = failure::as_json(&ApiError::overloaded());
            return;
        };
        let body = std::mem::take(response.body_mut());
        *response.body_mut() = Body::new(Outgoing::new(body, Delivery::holding(permit, charge)));
    }
}

impl AtEnd for Permit {
    /// Dropping it gives it back.
    fn at_end(self) {}
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::{Request, StatusCode};
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::connection::Connection;
    use crate::filters::{InFlight, InFlightLimits, ReadInfo};
    use crate::shutdown::Stop;

    /// A read by a client that got so far.
    fn exchange(method: &Method) -> Exchange {
        let (_stop, shutdown) = Stop::new();
        let request = Request::builder().method(method).uri("/api/v1/namespaces/n/notes");
        let connection = Connection {
            peer: Some(([127, 0, 0, 1], 1).into()),
            ..Connection::default()
        };
        let mut exchange = Exchange::new(request.body(Body::empty()).unwrap(), Arc::new(connection), shutdown);
        assert!(matches!(ReadInfo.enter(&mut exchange), Step::Continue));
        exchange
    }

    fn answered(filter: &Sending, method: &Method, size: usize) -> Response {
        let mut response = Response::new(Body::from(vec![b'x'; size]));
        filter.leave(&mut exchange(method), &mut response);
        response
    }

    #[tokio::test]
    async fn the_place_in_flight_is_given_back_with_the_last_byte() {
        let filter = Sending::new(SendLimits::default());
        let in_flight = InFlight::new(InFlightLimits::default());
        for size in [1, SMALL + 1, 1 << 20] {
            let mut exchange = exchange(&Method::GET);
            assert!(matches!(in_flight.enter(&mut exchange), Step::Continue));
            let mut response = Response::new(Body::from(vec![b'x'; size]));
            in_flight.leave(&mut exchange, &mut response);
            filter.leave(&mut exchange, &mut response);
            drop(exchange);
            assert_eq!(in_flight.counts(), (1, 0), "{size} bytes are unread");
            let mut body = response.into_body();
            while let Some(frame) = body.frame().await {
                drop(frame.unwrap());
            }
            drop(body);
            assert_eq!(in_flight.counts(), (0, 0), "{size} bytes are read");
        }
    }

    #[tokio::test]
    async fn too_much_unread_is_429_for_large_answers_alone() {
        let filter = Sending::new(SendLimits {
            server: 1 << 20,
            user: 256 << 10,
        });
        let unread: Vec<Response> = (0..2).map(|_| answered(&filter, &Method::GET, 128 << 10)).collect();
        assert!(unread.iter().all(|response| response.status() == StatusCode::OK));
        let refused = answered(&filter, &Method::GET, 128 << 10);
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers()["retry-after"], "1");
        let status = refused.into_body().collect().await.unwrap().to_bytes();
        let status: serde_json::Value = serde_json::from_slice(&status).unwrap();
        assert_eq!(
            (&status["kind"], &status["reason"]),
            (&"Status".into(), &"TooManyRequests".into())
        );
        assert_eq!(answered(&filter, &Method::GET, 32 << 10).status(), StatusCode::OK);
        assert_eq!(
            answered(&filter, &Method::PUT, 128 << 10).status(),
            StatusCode::OK,
            "it is done"
        );
        drop(unread);
        assert_eq!(answered(&filter, &Method::GET, 128 << 10).status(), StatusCode::OK);
    }
}
