//! Headers as text.

use http::HeaderMap;
use http::header::HeaderName;

/// The first value of a header; empty if it is absent or not text.
pub(crate) fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h str {
    let value = headers.get(name);
    value.and_then(|value| value.to_str().ok()).unwrap_or_default()
}
