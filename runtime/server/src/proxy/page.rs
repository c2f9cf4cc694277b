//! Links in the pages of proxied servers.

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
use tokio::sync::SemaphorePermit;

use super::answer::AnswerBody;
use super::link::LinkError;
use super::page_limits::PageLimits;
use super::tags::with_links;

/// Maximum size of a page, compressed or not, in bytes; larger ones are passed on unchanged.
const LIMIT: usize = 8 << 20;

/// The content encoding of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Plain,
    Gzip,
    Deflate,
}

impl Coding {
    /// The content encoding of an answer; `None` for one that is not supported.
    fn from_headers(headers: &HeaderMap) -> Option<Self> {
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

/// True if an answer is a page that may contain links.
pub(super) fn is_page(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.and_then(|value| value.split(';').next());
    media_type.is_some_and(|media_type| media_type.trim() == "text/html")
}

/// The page with `link` applied to its links. A page that is too large, that has an unsupported encoding or for which
/// there is no memory within the `limits` is returned unchanged.
pub(super) async fn rewritten(
    headers: &mut HeaderMap,
    mut body: AnswerBody,
    limits: &PageLimits,
    link: impl Fn(&str) -> String + Send + 'static,
) -> Result<Body, LinkError> {
    let Some(coding) = Coding::from_headers(headers) else {
        return Ok(Body::new(body));
    };
    let mut page = BytesMut::new();
    let mut room: Option<SemaphorePermit<'_>> = None;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        let needed = u32::try_from(data.len().div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let more = limits.gathered.try_acquire_many(needed).ok();
        let has_room = more.is_some();
        match (&mut room, more) {
            (Some(room), Some(more)) => room.merge(more),
            (room, more) => *room = room.take().or(more),
        }
        page.extend_from_slice(&data);
        if page.len() > LIMIT || !has_room {
            let read = stream::iter([Ok(page.freeze())]);
            return Ok(Body::from_stream(read.chain(Body::new(body).into_data_stream())));
        }
    }
    let page = page.freeze();
    let changed = at_work(limits, page.clone(), move |page| {
        let plain = coding.unpack(page)?;
        coding.pack(with_links(&plain, &link))
    });
    let page = match changed.await {
        Ok(changed) => {
            headers.remove(CONTENT_LENGTH);
            Bytes::from(changed)
        }
        Err(error) => {
            tracing::debug!(%error, "the links of a page are not rewritten");
            page
        }
    };
    drop(room);
    Ok(Body::from(page))
}

/// Runs long work on a thread for blocking work.
async fn at_work(
    limits: &PageLimits,
    page: Bytes,
    work: impl FnOnce(&[u8]) -> io::Result<Vec<u8>> + Send + 'static,
) -> io::Result<Vec<u8>> {
    let _turn = limits.at_work.acquire().await.map_err(io::Error::other)?;
    tokio::task::spawn_blocking(move || work(&page))
        .await
        .map_err(io::Error::other)?
}
