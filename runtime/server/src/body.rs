//! Request bodies: their size limit and their media type; and response bodies that report their end.

mod complete_body;
mod unread;
mod watched;

use std::collections::HashMap;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http_body_util::BodyExt as _;
use planesmith_machinery::status::{ApiError, ApiResult};

use crate::negotiation::Format;
use crate::request::features_of;
pub(crate) use complete_body::complete_bytes;
pub(crate) use unread::Unread;
use unread::drain;
pub(crate) use watched::{AtEnd, Watched};

/// Reads a whole body.
///
/// # Errors
///
/// 413 when it has more than `limit` bytes, 400 when the client closes the connection before the end.
pub async fn read(request: &Parts, mut body: Body, limit: usize) -> ApiResult<Bytes> {
    let announced = request.headers.get(CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        // The rest is read and dropped, so that the client gets to read the answer.
        drain(body, limit).await;
        return Err(ApiError::body_too_large(limit));
    }
    let mut whole: Option<Bytes> = None;
    let mut gathered = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ApiError::bad_request(format!("the body could not be read: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        let so_far = whole.as_ref().map_or(gathered.len(), Bytes::len);
        if so_far + data.len() > limit {
            drain(body, limit).await;
            return Err(ApiError::body_too_large(limit));
        }
        // Most bodies are a single frame, which is returned without a copy.
        match whole.take() {
            None if gathered.is_empty() => whole = Some(data),
            None => gathered.extend_from_slice(&data),
            Some(first) => {
                gathered.reserve(announced.unwrap_or(0).max(first.len() + data.len()));
                gathered.extend_from_slice(&first);
                gathered.extend_from_slice(&data);
            }
        }
    }
    Ok(whole.unwrap_or_else(|| gathered.freeze()))
}

/// The format of a body by its `Content-Type`; JSON when the header is absent.
///
/// # Errors
///
/// 415 when the format is none of those in which objects are encoded.
pub fn format(request: &Parts) -> ApiResult<Format> {
    let features = features_of(request);
    let refused = || ApiError::unsupported_media_type(Format::media_types(features));
    let media_type = media_type(request).ok_or_else(refused)?;
    let sent = request
        .headers
        .get(CONTENT_TYPE)
        .map_or(&b""[..], |value| value.as_bytes());
    if sent.is_empty() {
        return Ok(Format::Json);
    }
    if !has_sound_parameters(sent) {
        return Err(refused());
    }
    Format::of_media_type(&media_type.to_ascii_lowercase(), features).ok_or_else(refused)
}

/// True if the rest of a `Content-Type` is empty or a list of parameters, each with a name and one value.
fn has_sound_parameters(content_type: &[u8]) -> bool {
    let (mut in_quotes, mut is_escaped) = (false, false);
    let ends = |byte: &u8| {
        in_quotes ^= *byte == b'"' && !is_escaped;
        is_escaped = in_quotes && *byte == b'\\' && !is_escaped;
        *byte == b';' && !in_quotes
    };
    let mut parts = content_type.split(ends).skip(1).peekable();
    let mut values: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() && part.trim_ascii().is_empty() {
            break;
        }
        let Some(end) = part.iter().position(|byte| *byte == b'=') else {
            return false;
        };
        let (name, value) = (part[..end].trim_ascii(), unquoted(part[end + 1..].trim_ascii()));
        if name.is_empty()
            || values
                .get(&name.to_ascii_lowercase())
                .is_some_and(|known| *known != value)
        {
            return false;
        }
        values.insert(name.to_ascii_lowercase(), value);
    }
    true
}

/// The value of a parameter without its quotes and escapes.
fn unquoted(value: &[u8]) -> Vec<u8> {
    let Some(inner) = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
        return value.to_vec();
    };
    let mut is_escaped = false;
    let kept = inner.iter().filter(|byte| {
        is_escaped = **byte == b'\\' && !is_escaped;
        !is_escaped
    });
    kept.copied().collect()
}

/// The `Content-Type` without its parameters; empty when the header is absent, `None` when it is not text.
fn media_type(request: &Parts) -> Option<&str> {
    let Some(value) = request.headers.get(CONTENT_TYPE) else {
        return Some("");
    };
    let text = value.to_str().ok()?;
    Some(text.split_once(';').map_or(text, |(media_type, _)| media_type).trim())
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http::Request;

    use super::*;

    fn parts(content_type: &str) -> Parts {
        let request = Request::builder().header(CONTENT_TYPE, content_type);
        request.body(()).expect("legal").into_parts().0
    }

    #[test]
    fn the_form_follows_from_the_media_type() {
        let cases = [
            ("", Some(Format::Json)),
            ("application/json; charset=utf-8", Some(Format::Json)),
            (r#"application/json; profile="a;b\";c"; v=1"#, Some(Format::Json)),
            ("application/yaml", Some(Format::Yaml)),
            ("application/vnd.kubernetes.protobuf", Some(Format::Protobuf)),
            ("text/plain", None),
            ("///", None),
            (";", None),
            ("application/json;", Some(Format::Json)),
            ("application/json; x", None),
            ("application/json;;", None),
            ("application/json; a=1; A=1", Some(Format::Json)),
            ("application/json; a=1; a=2", None),
            (r#"application/json; a=1; a="\1""#, Some(Format::Json)),
        ];
        for (content_type, expected) in cases {
            assert_eq!(format(&parts(content_type)).ok(), expected, "{content_type}");
        }
    }

    #[tokio::test]
    async fn frames_are_put_together_up_to_the_limit() {
        let pieces = ["ab", "cd", "ef"].map(|piece| Ok::<_, std::convert::Infallible>(Bytes::from(piece)));
        let body = Body::from_stream(stream::iter(pieces));
        let whole = read(&parts(""), body, 6).await.expect("small enough");
        assert_eq!(&whole[..], b"abcdef");
        let refused = read(&parts(""), Body::from("abcdefg"), 6).await.expect_err("too big");
        assert_eq!(refused.code(), 413);
        assert_eq!(refused.message(), "Request entity too large: limit is 6");
    }
}
