//! Cache headers: answers depend on the user and on the time.

use axum::response::Response;
use http::header::{CACHE_CONTROL, HeaderValue};

use super::{Exchange, Filter, Step};
use crate::response::{Relayed, put_first};

/// Keeps proxies and browsers from caching answers, unless the handler allows it.
#[derive(Clone, Copy, Debug)]
pub struct CacheControl;

impl Filter for CacheControl {
    fn name(&self) -> &'static str {
        "cache-control"
    }

    fn enter<'a>(&'a self, _: &'a mut Exchange) -> Step<'a> {
        Step::Continue
    }

    fn leave(&self, _: &mut Exchange, response: &mut Response) {
        let own = HeaderValue::from_static("no-cache, private");
        match response.extensions().get::<Relayed>() {
            Some(Relayed) => put_first(response, &CACHE_CONTROL, own),
            None => {
                response.headers_mut().entry(CACHE_CONTROL).or_insert(own);
            }
        }
    }
}
