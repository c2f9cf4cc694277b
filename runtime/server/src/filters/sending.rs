//! The memory and the place in flight that an answer occupies while it is sent.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::Method;
use http_body::Body as _;
use planesmith_machinery::status::ApiError;

use super::{Exchange, Filter, Step};
use crate::body::{AtEnd, Watched, complete_bytes};
use crate::failure;
use crate::in_flight::Permit;
use crate::sending::{Delivery, Outgoing, RetainedMemory, SendBudget, SendLimits, charged};

/// Complete answers up to this size occupy no place in flight while they are sent: clients could block all places with
/// answers of a few bytes.
const SMALL: usize = 16 << 10;
/// Larger answers reserve bytes of the send budget.
const LARGE: usize = 64 << 10;

/// Keeps the place in flight of each large answer until its last byte is sent, and counts the bytes of unsent answers.
/// Once a user has too many, further large answers to its reads become 429.
///
/// Long-running requests occupy no place and bound their own memory; their error answers are treated like others.
#[derive(Clone, Debug)]
pub struct Sending {
    budget: SendBudget,
}

impl Sending {
    /// Starts without unsent answers.
    #[must_use]
    pub fn new(limits: SendLimits) -> Self {
        Self {
            budget: SendBudget::new(limits),
        }
    }

    /// Counts the bytes of a complete answer, and releases its place. A connection of HTTP/1 sends one answer at a
    /// time, so its bytes are bounded already.
    fn send_small(&self, exchange: &Exchange, body: Bytes, may_be_refused: bool) -> Option<Body> {
        if !exchange.is_multiplexed {
            return Some(Body::from(body));
        }
        let charge = self.budget.small(&exchange.ctx.user, body.len(), may_be_refused)?;
        Some(Body::from(charged(body, charge)))
    }

    fn send_large(&self, exchange: &Exchange, permit: Option<Permit>, large: Large) -> Option<Body> {
        let user = &exchange.ctx.user;
        let charge = match large.may_be_refused {
            true => self.budget.admit(user, large.pinned)?,
            false => self.budget.charge(user, large.pinned),
        };
        let permit = permit.map(|permit| permit.sending_to(user));
        Some(Body::new(Outgoing::new(large.body, Delivery::holding(permit, charge))))
    }
}

/// An answer that is not sent at once.
struct Large {
    body: Body,
    pinned: RetainedMemory,
    may_be_refused: bool,
}

impl Filter for Sending {
    fn name(&self) -> &'static str {
        "sending"
    }

    fn enter<'a>(&'a self, _: &'a mut Exchange) -> Step<'a> {
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let permit = exchange.permit.take();
        let code = response.status();
        let lasts = exchange.ctx.info.is_long_running() && (code.is_success() || code.is_informational());
        if lasts || response.body().is_end_stream() {
            return;
        }
        let hint = response.body().size_hint();
        let announced = usize::try_from(hint.lower()).unwrap_or(usize::MAX);
        let pinned = response.extensions_mut().remove::<RetainedMemory>();
        let mut body = std::mem::take(response.body_mut());
        // Requests from inside the process may read the whole answer before they use it: no network client delays it.
        if exchange.connection.peer.is_none() {
            *response.body_mut() = match permit {
                Some(permit) => Body::new(Watched::new(body, permit)),
                None => body,
            };
            return;
        }
        let reads = matches!(*exchange.ctx.info.method(), Method::GET | Method::HEAD) && code.is_success();
        if hint.exact().is_some() && announced <= SMALL {
            body = match complete_bytes(body) {
                Ok(made) => return send(response, self.send_small(exchange, made, reads)),
                Err(body) => body,
            };
        }
        let bytes = pinned.as_ref().map_or(announced, |pinned| pinned.own);
        let large = Large {
            body,
            may_be_refused: reads && announced.max(bytes) > LARGE,
            pinned: RetainedMemory {
                own: bytes.max(SMALL),
                snapshot: pinned.and_then(|pinned| pinned.snapshot),
            },
        };
        send(response, self.send_large(exchange, permit, large));
    }
}

/// Answers with `body`, or with 429 when `body` is `None`.
fn send(response: &mut Response, body: Option<Body>) {
    match body {
        Some(body) => *response.body_mut() = body,
        None => *response = failure::as_json(&ApiError::overloaded()),
    }
}

impl AtEnd for Permit {
    /// Dropping it releases the reservation.
    fn at_end(self) {}
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::{Request, StatusCode, Version};
    use http_body_util::BodyExt as _;
    use planesmith_machinery::feature::Features;

    use super::*;
    use crate::connection::Connection;
    use crate::filters::ReadInfo;
    use crate::in_flight::{Heartbeats, InFlight, InFlightLimits};
    use crate::shutdown::Stop;

    /// A read request.
    fn exchange(method: &Method) -> Exchange {
        exchange_at("/api/v1/namespaces/n/notes", method)
    }

    fn exchange_at(path: &str, method: &Method) -> Exchange {
        let (_stop, shutdown) = Stop::new();
        let request = Request::builder().version(Version::HTTP_2).method(method).uri(path);
        let connection = Connection {
            peer: Some(([127, 0, 0, 1], 1).into()),
            ..Connection::default()
        };
        let mut exchange = Exchange::new(
            request.body(Body::empty()).unwrap(),
            Arc::new(connection),
            shutdown,
            Features::default(),
        );
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
        let in_flight = InFlight::new(InFlightLimits::default(), Heartbeats::default());
        for size in [SMALL + 1, 1 << 20] {
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
    async fn unread_answers_of_a_few_bytes_hold_no_place() {
        let filter = Sending::new(SendLimits::default());
        let in_flight = InFlight::new(InFlightLimits { reading: 1, writing: 1 }, Heartbeats::default());
        let mut unread = Vec::new();
        for size in [1, 300, SMALL] {
            let mut exchange = exchange(&Method::GET);
            assert!(matches!(in_flight.enter(&mut exchange), Step::Continue), "{size} bytes");
            let mut response = Response::new(Body::from(vec![b'x'; size]));
            in_flight.leave(&mut exchange, &mut response);
            filter.leave(&mut exchange, &mut response);
            unread.push(response);
        }
        assert_eq!(filter.budget.small_bytes(), 301 + SMALL, "but their bytes count");
        let mut body = unread.pop().expect("one is left").into_body();
        let piece = body.frame().await.expect("a frame").expect("it does not fail");
        drop((body, unread));
        assert_eq!(filter.budget.small_bytes(), SMALL, "HTTP/2 has not written it");
        drop(piece);
        assert_eq!(filter.budget.small_bytes(), 0);
    }

    #[tokio::test]
    async fn a_refused_watch_counts_as_any_answer() {
        let filter = Sending::new(SendLimits::default());
        let watch = "/api/v1/namespaces/n/notes?watch=1";
        for (code, counts) in [(StatusCode::OK, false), (StatusCode::FORBIDDEN, true)] {
            let mut response = Response::new(Body::from("refused"));
            *response.status_mut() = code;
            filter.leave(&mut exchange_at(watch, &Method::GET), &mut response);
            assert_eq!(filter.budget.small_bytes() > 0, counts, "{code}");
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
