//! Compressed answers for clients that accept gzip.

mod body;

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HeaderValue, VARY};
use http_body::Body as _;
use tokio::sync::Semaphore;

use self::body::GzipBody;
use crate::header_text::header_text;
use crate::sending::RetainedMemory;

/// Answers up to this size are not compressed: compressing them costs more time than sending them.
pub(crate) const THRESHOLD: usize = 128 << 10;

/// Bytes that the encoder of an answer takes: its window, hash chains and output.
const ENCODER: usize = 320 << 10;

/// True if a client accepts gzip for objects: the header lists it without a quality.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    listed(headers).any(|encoding| encoding.trim() == "gzip")
}

/// True if a client accepts gzip, in any letters, with a quality above zero.
pub(crate) fn accepts_some_gzip(headers: &HeaderMap) -> bool {
    let accepted = qualities(headers).filter(|(encoding, _)| encoding.eq_ignore_ascii_case("gzip"));
    accepted.last().is_some_and(|(_, quality)| quality > 0.0)
}

/// True if a client prefers gzip to an answer that is not compressed.
pub(crate) fn prefers_gzip(headers: &HeaderMap) -> bool {
    let quality_of = |wanted: &str| {
        let accepted = qualities(headers).filter(|(encoding, _)| *encoding == wanted || *encoding == "*");
        accepted.map(|(_, quality)| quality).fold(0.0, f64::max)
    };
    quality_of("gzip") > quality_of("identity")
}

/// The encodings that a client accepts, with their qualities. Those whose quality is no number are left out.
fn qualities(headers: &HeaderMap) -> impl Iterator<Item = (&str, f64)> {
    listed(headers).filter_map(|encoding| {
        let mut parts = encoding.split(';').map(str::trim);
        let name = parts.next()?;
        match parts.find_map(|part| part.strip_prefix("q=")) {
            None => Some((name, 1.0)),
            Some(quality) => Some((name, quality.parse().ok()?)),
        }
    })
}

fn listed(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    header_text(headers, &ACCEPT_ENCODING).split(',')
}

/// Compresses large answers, a few at a time. When all processors are busy compressing, the next answer is sent
/// uncompressed, because waiting for the network is cheaper for a client than waiting for a processor. An answer
/// occupies no processor while its client does not read.
#[derive(Clone, Debug)]
pub(crate) struct Compression {
    gate: Arc<Semaphore>,
}

impl Compression {
    /// Allows as many compressions at once as there are processors.
    pub(crate) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            gate: Arc::new(Semaphore::new(processors)),
        }
    }

    /// Compresses `response` if it is large enough and not compressed already.
    pub(crate) fn compress(&self, response: &mut Response) {
        let headers = response.headers();
        // A part of a content has no meaning in another encoding.
        let is_whole = !headers.contains_key(CONTENT_ENCODING) && !headers.contains_key(CONTENT_RANGE);
        let fits = is_whole && response.body().size_hint().lower() > THRESHOLD as u64;
        if !fits {
            return;
        }
        if self.gate.available_permits() == 0 {
            return;
        }
        self.pack(response);
        response
            .headers_mut()
            .append(VARY, HeaderValue::from_static("Accept-Encoding"));
    }

    /// Compresses `response`.
    pub(crate) fn pack(&self, response: &mut Response) {
        let plain = std::mem::take(response.body_mut());
        // The compressed body does not know the size of the plain one.
        let bytes = usize::try_from(plain.size_hint().lower()).unwrap_or(usize::MAX);
        let extensions = response.extensions_mut();
        let mut pinned = extensions
            .remove::<RetainedMemory>()
            .unwrap_or_else(|| RetainedMemory::new(bytes));
        pinned.own = pinned.own.saturating_add(ENCODER);
        extensions.insert(pinned);
        *response.body_mut() = Body::new(GzipBody::new(plain, Arc::clone(&self.gate)));
        let headers = response.headers_mut();
        headers.remove(CONTENT_LENGTH);
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
}

#[cfg(test)]
mod tests;
