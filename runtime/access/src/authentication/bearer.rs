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

/// True if a second space after the scheme `Bearer` makes the token one that is not taken.
#[must_use]
pub fn ignores_token(headers: &HeaderMap) -> bool {
    let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some((scheme, rest)) = value.and_then(|value| value.trim().split_once(' ')) else {
        return false;
    };
    scheme.eq_ignore_ascii_case("bearer") && rest.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_after_two_spaces_is_ignored() {
        let ignores = |value: &'static str| {
            let value = http::HeaderValue::from_static(value);
            ignores_token(&[(AUTHORIZATION, value)].into_iter().collect())
        };
        assert!(ignores("Bearer  token") && ignores("bearer   token x"));
        for value in ["Bearer token", "Bearer", "Bearer ", "Bearer  ", "Basic  token", ""] {
            assert!(!ignores(value), "{value:?}");
        }
    }
}
