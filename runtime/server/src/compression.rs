//! Smaller answers for clients that take gzip.

mod body;

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue, VARY};
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use tokio::sync::Semaphore;

use self::body::GzipBody;
use crate::features::API_RESPONSE_COMPRESSION;

/// Answers up to this size are sent as they are: compressing them costs more time than sending them.
pub(crate) const THRESHOLD: usize = 128 << 10;

/// Whether a client takes gzip: it says so without a quality.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let header = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    header.is_some_and(|header| header.split(',').any(|encoding| encoding.trim() == "gzip"))
}

/// Compresses large answers, a few at a time: when all processors are busy with it the next answer goes out as it is,
/// because a client rather waits for the network than for the processor.
#[derive(Clone, Debug)]
pub(crate) struct Compression {
    gate: Arc<Semaphore>,
}

impl Compression {
    /// As many answers at once as there are processors.
    pub(crate) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            gate: Arc::new(Semaphore::new(processors)),
        }
    }

    /// Compresses `response` if it is large enough, whole, and not compressed already.
    pub(crate) fn compress(&self, response: &mut Response) {
        let headers = response.headers();
        let fits = API_RESPONSE_COMPRESSION.is_on()
            && response.status() == StatusCode::OK
            && response.body().size_hint().lower() > THRESHOLD as u64
            && !headers.contains_key(CONTENT_ENCODING);
        if !fits {
            return;
        }
        let Ok(permit) = Arc::clone(&self.gate).try_acquire_owned() else {
            return;
        };
        let plain = std::mem::take(response.body_mut());
        *response.body_mut() = Body::new(GzipBody::new(plain, permit));
        let headers = response.headers_mut();
        headers.remove(CONTENT_LENGTH);
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    }
}

#[cfg(test)]
mod tests;
