//! One document with its hash and compressed forms.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::ops::Range;
use std::sync::OnceLock;
use std::time::SystemTime;

use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http::StatusCode;
use http::header::{
    ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderValue, LAST_MODIFIED, VARY,
};
use http::request::Parts;
use jiff::Timestamp;
use ring::digest::{SHA512, digest};

use super::Source;
use super::conditions::{self, Selected, State};
use crate::compression::accepts_some_gzip;
use crate::random;
use crate::response;
use crate::sending::RetainedMemory;

/// Smaller documents are not compressed.
const WORTH_COMPRESSING: usize = 1400;

/// The first bytes of what gzip has compressed.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// A document with its hash and its other encodings, each computed once, on first use.
///
/// A document that was computed or merged is cached in its compressed form only, which most clients request.
#[derive(Debug)]
pub(super) struct OpenApiDocument {
    /// The source of the document; `None` when only the compressed form is stored.
    source: Option<Source>,
    hash: OnceLock<String>,
    packed: OnceLock<Packed>,
    /// The document in protobuf.
    protobuf: OnceLock<Box<OpenApiDocument>>,
    changed: Timestamp,
}

impl OpenApiDocument {
    /// Returns a document that changed at `changed`.
    pub(super) fn new(source: Source, changed: SystemTime) -> Self {
        Self::of(
            Some(source),
            OnceLock::new(),
            Timestamp::try_from(changed).unwrap_or_default(),
        )
    }

    /// Returns a document of which only the compressed form is stored.
    pub(super) fn packed(packed: Packed, changed: SystemTime) -> Self {
        let changed = Timestamp::try_from(changed).unwrap_or_default();
        Self::of(None, OnceLock::from(packed), changed)
    }

    fn of(source: Option<Source>, packed: OnceLock<Packed>, changed: Timestamp) -> Self {
        Self {
            source,
            hash: OnceLock::new(),
            packed,
            protobuf: OnceLock::new(),
            changed,
        }
    }

    pub(super) fn bytes(&self) -> Bytes {
        match &self.source {
            Some(Source::Ready(bytes)) => bytes.clone(),
            Some(Source::Lazy(make)) => self.computed(&**make),
            None => self.packed.get().map(Packed::unpack).unwrap_or_default(),
        }
    }

    fn computed(&self, make: &dyn Fn() -> Bytes) -> Bytes {
        let mut made = None;
        let packed = self.packed.get_or_init(|| {
            let bytes = make();
            let packed = Packed::compress(&bytes);
            // Most clients request nothing but the hash.
            self.hash.get_or_init(|| hash_of(&bytes));
            made = Some(bytes);
            packed
        });
        made.unwrap_or_else(|| packed.unpack())
    }

    fn size(&self) -> usize {
        match (&self.source, self.packed.get()) {
            (Some(Source::Ready(bytes)), _) => bytes.len(),
            (_, Some(packed)) => packed.size,
            (_, None) => self.bytes().len(),
        }
    }

    /// The document in protobuf, with the same modification time.
    pub(super) fn protobuf(&self, encode: impl FnOnce(&[u8]) -> Vec<u8>) -> &Self {
        self.protobuf.get_or_init(|| {
            let packed = Packed::compress(&encode(&self.bytes()));
            Box::new(Self::of(None, OnceLock::from(packed), self.changed))
        })
    }

    /// SHA-512 in upper-case hexadecimal digits.
    pub(super) fn hash(&self) -> &str {
        // Computing the document sets its hash, too.
        let bytes = self.hash.get().is_none().then(|| self.bytes());
        self.hash.get_or_init(|| hash_of(&bytes.unwrap_or_default()))
    }

    /// The document, the part of it that the client requests, or 304 when the client's copy is current.
    ///
    /// `hash` identifies the state of the document; for another encoding it is that of the JSON form. An answer without one has
    /// no entity tag.
    pub(super) fn answer(
        &self,
        request: &Parts,
        media_type: &'static str,
        hash: Option<&str>,
        compress: bool,
    ) -> Response {
        let tag = hash.map(|hash| format!("\"{hash}\""));
        let state = State {
            tag: tag.as_deref(),
            changed: self.changed,
        };
        let mut response = match state.select(request) {
            Selected::NotModified => response::empty(StatusCode::NOT_MODIFIED),
            Selected::Failed => response::bytes(StatusCode::PRECONDITION_FAILED, media_type, Bytes::new()),
            Selected::Part(range) => match conditions::parts(range, self.size()) {
                Ok(parts) => match &parts[..] {
                    [] => self.whole(request, media_type, compress),
                    [bytes] => self.part(media_type, bytes.clone()),
                    several => self.parts(media_type, several),
                },
                Err(refusal) => *refusal,
            },
            Selected::Whole => self.whole(request, media_type, compress),
        };
        let code = response.status();
        let headers = response.headers_mut();
        if compress {
            headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        if code == StatusCode::RANGE_NOT_SATISFIABLE {
            return response;
        }
        // The tag alone tells that a copy is current.
        let has_date = tag.is_none() || code != StatusCode::NOT_MODIFIED;
        let modified = has_date.then(|| state.last_modified());
        for (name, value) in [(LAST_MODIFIED, modified), (ETAG, tag)] {
            if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
                headers.insert(name, value);
            }
        }
        response
    }

    fn whole(&self, request: &Parts, media_type: &'static str, compress: bool) -> Response {
        let gzip = compress && accepts_some_gzip(&request.headers) && self.size() >= WORTH_COMPRESSING;
        let body = if gzip { self.compressed() } else { self.bytes() };
        let mut response = content(StatusCode::OK, media_type, body);
        if gzip {
            response
                .headers_mut()
                .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            // All clients share the bytes.
            response.extensions_mut().insert(RetainedMemory::new(0));
        }
        response
    }

    /// The header that says the place of `bytes` in the document.
    fn place(&self, bytes: &Range<usize>) -> String {
        format!("bytes {}-{}/{}", bytes.start, bytes.end.saturating_sub(1), self.size())
    }

    /// Several parts of the document in one answer, as Go's file server writes them.
    fn parts(&self, media_type: &'static str, parts: &[Range<usize>]) -> Response {
        let boundary = format!("{}{}", random::uuid().simple(), random::uuid().simple());
        let whole = self.bytes();
        let mut body = Vec::with_capacity(parts.iter().map(|part| part.len() + 256).sum());
        for (index, part) in parts.iter().enumerate() {
            let (line, place) = (if index == 0 { "" } else { "\r\n" }, self.place(part));
            let head = format!("{line}--{boundary}\r\nContent-Range: {place}\r\nContent-Type: {media_type}\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(&whole[part.clone()]);
        }
        body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        let mut response = content(StatusCode::PARTIAL_CONTENT, media_type, body.into());
        if let Ok(several) = HeaderValue::try_from(format!("multipart/byteranges; boundary={boundary}")) {
            response.headers_mut().insert(CONTENT_TYPE, several);
        }
        response
    }

    fn part(&self, media_type: &'static str, bytes: Range<usize>) -> Response {
        let place = self.place(&bytes);
        let part = match &self.source {
            Some(Source::Ready(whole)) => whole.slice(bytes),
            // A slice would keep the whole document, which was made for this answer alone.
            _ => Bytes::copy_from_slice(&self.bytes()[bytes]),
        };
        let mut response = content(StatusCode::PARTIAL_CONTENT, media_type, part);
        if let Ok(place) = HeaderValue::try_from(place) {
            response.headers_mut().insert(CONTENT_RANGE, place);
        }
        response
    }

    fn compressed(&self) -> Bytes {
        let packed = self.packed.get_or_init(|| Packed::compress(&self.bytes()));
        packed.gzip.clone()
    }
}

/// A document in its compressed form.
#[derive(Debug)]
pub(super) struct Packed {
    gzip: Bytes,
    /// Size of the uncompressed document, in bytes.
    size: usize,
}

impl Packed {
    /// Reads a document that gzip has compressed; `None` if `bytes` are something else.
    pub(super) fn read(bytes: &'static [u8]) -> Option<Self> {
        bytes.strip_prefix(GZIP)?;
        Some(Self {
            // The last member of the format is the size of what was compressed, modulo 2^32.
            size: u32::from_le_bytes(*bytes.last_chunk()?) as usize,
            gzip: Bytes::from_static(bytes),
        })
    }

    pub(super) fn compress(bytes: &[u8]) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let gzip = encoder.write_all(bytes).and_then(|()| encoder.finish());
        Self {
            // Writing to memory does not fail.
            gzip: gzip.unwrap_or_default().into(),
            size: bytes.len(),
        }
    }

    pub(super) fn unpack(&self) -> Bytes {
        let mut bytes = Vec::with_capacity(self.size);
        if let Err(error) = GzDecoder::new(&*self.gzip).read_to_end(&mut bytes) {
            tracing::error!(%error, "an OpenAPI document cannot be read again");
        }
        bytes.into()
    }
}

fn hash_of(bytes: &[u8]) -> String {
    let mut hash = String::with_capacity(128);
    for byte in digest(&SHA512, bytes).as_ref() {
        // Writing to memory does not fail.
        let _ = write!(hash, "{byte:02X}");
    }
    hash
}

fn content(code: StatusCode, media_type: &'static str, body: Bytes) -> Response {
    let mut response = response::bytes(code, media_type, body);
    response
        .headers_mut()
        .insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    response
}
