//! What the path means.

use std::sync::Arc;

use http::StatusCode;

use super::{Exchange, Filter, Step};
use crate::failure;
use crate::request::RequestInfo;

/// Reads what is asked from method, path and query.
#[derive(Clone, Copy, Debug)]
pub struct ReadInfo;

impl Filter for ReadInfo {
    fn name(&self) -> &'static str {
        "request-info"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let uri = exchange.request.uri();
        if !is_well_encoded(uri.path()) {
            return Step::Answer(failure::text(StatusCode::BAD_REQUEST, "400 Bad Request"));
        }
        exchange.ctx.info = Arc::new(RequestInfo::new(exchange.request.method(), uri));
        Step::Continue
    }
}

/// Whether every `%` is followed by two hexadecimal digits.
fn is_well_encoded(path: &str) -> bool {
    !path.contains('%')
        || path.split('%').skip(1).all(|part| {
            let digits = part.as_bytes();
            digits.len() >= 2 && digits[..2].iter().all(u8::is_ascii_hexdigit)
        })
}
