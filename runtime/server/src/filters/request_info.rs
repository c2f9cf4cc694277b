//! Request info: the meaning of method, path and query.

use std::sync::Arc;

use http::uri::PathAndQuery;
use http::{StatusCode, Uri};
use planesmith_machinery::go_format::quote;

use super::{Exchange, Filter, Step};
use crate::request::RequestInfo;
use crate::response;

/// Parses the request info from method, path and query.
#[derive(Clone, Copy, Debug)]
pub struct ReadInfo;

impl Filter for ReadInfo {
    fn name(&self) -> &'static str {
        "request-info"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let uri = exchange.request.uri();
        if !is_well_encoded(uri.path()) {
            let refusal = response::bytes(StatusCode::BAD_REQUEST, response::TEXT, "400 Bad Request");
            return Step::Answer(refusal);
        }
        let info = RequestInfo::new(exchange.request.method(), uri);
        if RequestInfo::lacks_a_subject(info.path()) {
            return Step::Answer(response::plain_text(StatusCode::INTERNAL_SERVER_ERROR, no_subject(uri)));
        }
        exchange.ctx.info = Arc::new(info);
        Step::Continue
    }
}

/// The message for a path that has a verb but no resource.
fn no_subject(uri: &Uri) -> String {
    let uri = uri.path_and_query().map_or(uri.path(), PathAndQuery::as_str);
    let why = format!(
        "Internal Server Error: {}: failed to create RequestInfo: unable to determine kind and namespace from url, {uri}\n",
        quote(uri)
    );
    why.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// True if every `%` is followed by two hexadecimal digits.
fn is_well_encoded(path: &str) -> bool {
    !path.contains('%')
        || path.split('%').skip(1).all(|part| {
            let digits = part.as_bytes();
            digits.len() >= 2 && digits[..2].iter().all(u8::is_ascii_hexdigit)
        })
}
