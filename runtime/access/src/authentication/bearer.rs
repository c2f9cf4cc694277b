//! Tokens in the `Authorization` header.

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// The token that follows the word `Bearer`, in any case; `None` when there is no such header or no token.
///
/// Whatever follows the token after a further space is not looked at.
#[must_use]
pub fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let mut words = value.split(' ');
    let scheme = words.next()?;
    let token = words.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
