//! Links in the pages that the other side serves.

use std::io::{self, Read, Write};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use flate2::Compression;
use flate2::read::{DeflateDecoder, GzDecoder};
use flate2::write::{DeflateEncoder, GzEncoder};
use futures_util::{StreamExt as _, stream};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::link::LinkError;
use super::tags::with_links;

/// Bytes that a page may have, packed or not; larger ones go through as they are.
const LIMIT: usize = 32 << 20;

/// How a page is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Plain,
    Gzip,
    Deflate,
}

impl Coding {
    /// That of an answer; `None` for one that cannot be undone here.
    fn of(headers: &HeaderMap) -> Option<Self> {
        match headers.get(CONTENT_ENCODING).map(http::HeaderValue::as_bytes) {
            None | Some(b"") => Some(Self::Plain),
            Some(b"gzip") => Some(Self::Gzip),
            Some(b"deflate") => Some(Self::Deflate),
            Some(_) => None,
        }
    }

    fn unpack(self, packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        let limit = LIMIT as u64 + 1;
        match self {
            Self::Plain => plain.extend_from_slice(packed),
            Self::Gzip => drop(GzDecoder::new(packed).take(limit).read_to_end(&mut plain)?),
            Self::Deflate => drop(DeflateDecoder::new(packed).take(limit).read_to_end(&mut plain)?),
        }
        match plain.len() > LIMIT {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(plain),
        }
    }

    fn pack(self, plain: Vec<u8>) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(plain),
            Self::Gzip => {
                let mut packer = GzEncoder::new(Vec::new(), Compression::default());
                packer.write_all(&plain)?;
                packer.finish()
            }
            Self::Deflate => {
                let mut packer = DeflateEncoder::new(Vec::new(), Compression::best());
                packer.write_all(&plain)?;
                packer.finish()
            }
        }
    }
}

/// Whether an answer is a page that could hold links.
pub(super) fn is_page(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.and_then(|value| value.split(';').next());
    media_type.is_some_and(|media_type| media_type.trim() == "text/html")
}

/// The page with `link` applied to its links. One that is too large, or packed in an unknown way, stays as it is.
pub(super) async fn rewritten(
    headers: &mut HeaderMap,
    mut body: Incoming,
    link: impl Fn(&str) -> String,
) -> Result<Body, LinkError> {
    let Some(coding) = Coding::of(headers) else {
        return Ok(Body::new(body));
    };
    let mut page = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        page.extend_from_slice(&data);
        if page.len() > LIMIT {
            let read = stream::iter([Ok(page.freeze())]);
            return Ok(Body::from_stream(read.chain(Body::new(body).into_data_stream())));
        }
    }
    let changed = coding
        .unpack(&page)
        .and_then(|plain| coding.pack(with_links(&plain, &link)));
    let page = match changed {
        Ok(changed) => {
            headers.remove(CONTENT_LENGTH);
            Bytes::from(changed)
        }
        Err(error) => {
            tracing::debug!(%error, "a page keeps its links");
            page.freeze()
        }
    };
    Ok(Body::from(page))
}
