//! An id for each request.

use axum::response::Response;
use http::header::{HeaderName, HeaderValue};

use super::{Exchange, Filter, Step};
use crate::request::RequestId;
use crate::response::{Relayed, put_first};

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// Longer ids from clients are replaced, so that they cannot fill the log.
const LONGEST_GIVEN: usize = 64;

/// Takes the request's id from its `Audit-ID` header, or generates one, and returns it to the client.
#[derive(Clone, Copy, Debug)]
pub struct AssignId;

impl Filter for AssignId {
    fn name(&self) -> &'static str {
        "request-id"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let given = exchange
            .request
            .headers()
            .get(AUDIT_ID)
            .and_then(|value| value.to_str().ok());
        if let Some(given) = given.filter(|id| !id.is_empty() && id.len() <= LONGEST_GIVEN) {
            exchange.ctx.id = RequestId::given(given);
        }
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let mut text = [0; LONGEST_GIVEN];
        if let Ok(value) = HeaderValue::from_bytes(exchange.ctx.id.write(&mut text)) {
            match response.extensions().get::<Relayed>() {
                Some(Relayed) => put_first(response, &AUDIT_ID, value),
                None => drop(response.headers_mut().insert(AUDIT_ID, value)),
            }
        }
    }
}
