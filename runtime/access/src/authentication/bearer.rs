//! Bearer tokens in the `Authorization` header.

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// Returns the token after the scheme `Bearer`, in any case; `None` without such a header or token.
///
/// Anything after the token and a further space is ignored.
#[must_use]
pub fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let mut words = value.split(' ');
    let scheme = words.next()?;
    let token = words.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
