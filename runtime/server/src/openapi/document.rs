//! One document with what clients need to keep a copy.

use std::io::Write;
use std::sync::OnceLock;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, VARY,
};
use http::request::Parts;
use http::{Method, StatusCode};
use jiff::Timestamp;
use sha2::{Digest, Sha512};

use super::Source;
use crate::compression::accepts_gzip;

/// Smaller documents are sent as they are.
const WORTH_COMPRESSING: usize = 1400;

/// A document with its hash and its compressed form, made when they are first needed.
#[derive(Debug)]
pub(super) struct OpenApiDocument {
    source: Source,
    hash: OnceLock<String>,
    compressed: OnceLock<Bytes>,
    changed: Timestamp,
}

impl OpenApiDocument {
    pub(super) fn new(bytes: impl Into<Bytes>) -> Self {
        Self::made(Source::Ready(bytes.into()))
    }

    pub(super) fn made(source: Source) -> Self {
        Self {
            source,
            hash: OnceLock::new(),
            compressed: OnceLock::new(),
            changed: Timestamp::now(),
        }
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.source.bytes()
    }

    /// Another form of the document, changed when it was.
    pub(super) fn in_form(&self, encode: impl FnOnce(&[u8]) -> Vec<u8>) -> Self {
        Self {
            changed: self.changed,
            ..Self::new(encode(&self.bytes()))
        }
    }

    /// SHA-512 in upper-case hexadecimal digits.
    pub(super) fn hash(&self) -> &str {
        self.hash.get_or_init(|| {
            Sha512::digest(self.bytes())
                .iter()
                .map(|byte| format!("{byte:02X}"))
                .collect()
        })
    }

    /// The document, or 304 when the client has it.
    ///
    /// `hash` names the state of the document, which for another form of it is that of the JSON form.
    pub(super) fn answer(&self, request: &Parts, media_type: &'static str, hash: &str, compress: bool) -> Response {
        let tag = format!("\"{hash}\"");
        let modified = http_date(self.changed);
        let mut response = Response::default();
        if has_copy(request, &tag, &modified) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            let bytes = self.bytes();
            let gzip = compress && bytes.len() >= WORTH_COMPRESSING && accepts_gzip(&request.headers);
            if gzip {
                response
                    .headers_mut()
                    .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            *response.body_mut() = Body::from(if gzip { self.compressed() } else { bytes });
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        let headers = response.headers_mut();
        if compress {
            headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        for (name, value) in [(ETAG, tag), (LAST_MODIFIED, modified)] {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
        response
    }

    fn compressed(&self) -> Bytes {
        let compress = || {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder
                .write_all(&self.bytes())
                .and_then(|()| encoder.finish())
                .unwrap_or_default()
                .into()
        };
        self.compressed.get_or_init(compress).clone()
    }
}

/// Whether the client's copy is the current one, by its tag or else by its date.
fn has_copy(request: &Parts, tag: &str, modified: &str) -> bool {
    if !matches!(request.method, Method::GET | Method::HEAD) {
        return false;
    }
    let header = |name| request.headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(known) = header(&IF_NONE_MATCH) {
        let mut known = known.split(',').map(str::trim);
        return known.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag);
    }
    // A client sends back the date that it was given, so the text is enough.
    header(&IF_MODIFIED_SINCE) == Some(modified)
}

/// A date as HTTP writes it.
fn http_date(time: Timestamp) -> String {
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}
