//! Tokens in the WebSocket subprotocol header: browsers cannot set `Authorization` there.

use std::sync::Arc;

use base64::Engine as _;
use http::HeaderMap;
use http::header::{HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use planesmith_machinery::go_base64::RAW_URL;

use super::{AuthenticationResult, Authenticator, BearerTokens, Credentials};
use crate::outcome::Outcome;
use crate::upgrade::requests_web_socket;

/// The prefix of the pseudo-protocol that carries the token.
const PREFIX: &str = "base64url.bearer.authorization.k8s.io.";

/// Authenticates tokens sent as `base64url.bearer.authorization.k8s.io.<token in base64>`, beside the actual subprotocol.
#[derive(Debug)]
pub struct WebSocketTokens {
    tokens: Arc<BearerTokens>,
}

impl WebSocketTokens {
    /// Creates an authenticator that verifies the tokens with `tokens`.
    #[must_use]
    pub fn new(tokens: Arc<BearerTokens>) -> Self {
        Self { tokens }
    }
}

impl Authenticator for WebSocketTokens {
    fn authenticate(&self, credentials: &Credentials<'_>) -> Outcome<'static, AuthenticationResult> {
        match token(credentials.headers) {
            Ok(None) => Outcome::Ready(AuthenticationResult::NoOpinion),
            Ok(Some(token)) => self.tokens.verdict(&token),
            Err(why) => Outcome::Ready(AuthenticationResult::Invalid(why.to_owned())),
        }
    }

    /// Removes the pseudo-protocol. The token is removed even if it was not verified: a client with other credentials may send
    /// one, too.
    fn forget(&self, headers: &mut HeaderMap) {
        if !protocols(headers).any(|protocol| protocol.starts_with(PREFIX)) {
            return;
        }
        let spoken: Vec<&str> = protocols(headers)
            .filter(|protocol| !protocol.starts_with(PREFIX))
            .collect();
        let spoken = HeaderValue::try_from(spoken.join(",")).ok();
        headers.remove(SEC_WEBSOCKET_PROTOCOL);
        if let Some(spoken) = spoken.filter(|spoken| !spoken.is_empty()) {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, spoken);
        }
    }
}

/// Returns the token, if the request has one.
fn token(headers: &HeaderMap) -> Result<Option<String>, &'static str> {
    let mut found = None;
    let mut others = false;
    if !requests_web_socket(headers) {
        return Ok(None);
    }
    for protocol in protocols(headers) {
        let Some(encoded) = protocol.strip_prefix(PREFIX) else {
            others = true;
            continue;
        };
        if found.is_some() {
            return Err("multiple base64.bearer.authorization tokens specified");
        }
        let decoded = RAW_URL
            .decode(encoded)
            .map_err(|_| "invalid base64.bearer.authorization token encoding")?;
        found = Some(String::from_utf8(decoded).map_err(|_| "invalid base64.bearer.authorization token")?);
    }
    match found.filter(|token| !token.is_empty()) {
        // The response must name a subprotocol, which must not be the token.
        Some(_) if !others => Err("missing additional subprotocol"),
        found => Ok(found),
    }
}

fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use http::header::{CONNECTION, UPGRADE};
    use planesmith_machinery::clock::SystemClock;

    use super::*;

    fn headers(protocols: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            (UPGRADE, "websocket"),
            (CONNECTION, "Upgrade"),
            (SEC_WEBSOCKET_PROTOCOL, protocols),
        ] {
            headers.insert(name, HeaderValue::try_from(value).expect("legal"));
        }
        headers
    }

    fn encoded(token: &str) -> String {
        format!("{PREFIX}{}", RAW_URL.encode(token))
    }

    #[test]
    fn a_token_stands_beside_a_protocol_and_is_forgotten() {
        let mut headers = headers(&format!("{}, base64.binary.k8s.io", encoded("secret")));
        assert_eq!(token(&headers), Ok(Some("secret".to_owned())));
        let tokens = WebSocketTokens::new(Arc::new(BearerTokens::new(
            Vec::new(),
            Vec::new(),
            Arc::new(SystemClock),
        )));
        tokens.forget(&mut headers);
        assert_eq!(headers[SEC_WEBSOCKET_PROTOCOL], "base64.binary.k8s.io");
    }

    #[test]
    fn bits_behind_the_last_byte_of_a_token_do_not_count() {
        assert_eq!(token(&headers(&format!("{PREFIX}aa, x"))), Ok(Some("i".to_owned())));
    }

    #[test]
    fn tokens_that_were_not_looked_at_are_forgotten_too() {
        let one = encoded("secret");
        let tokens = WebSocketTokens::new(Arc::new(BearerTokens::new(
            Vec::new(),
            Vec::new(),
            Arc::new(SystemClock),
        )));
        let mut two = headers(&format!("{one}, x, {one}"));
        tokens.forget(&mut two);
        assert_eq!(two[SEC_WEBSOCKET_PROTOCOL], "x");
        let mut alone = headers(&one);
        alone.remove(UPGRADE);
        tokens.forget(&mut alone);
        assert_eq!(alone.get(SEC_WEBSOCKET_PROTOCOL), None);
    }

    #[test]
    fn a_malformed_token_is_refused() {
        let one = encoded("secret");
        for (protocols, why) in [
            (one.clone(), "missing additional subprotocol"),
            (
                format!("{one}, {one}, x"),
                "multiple base64.bearer.authorization tokens specified",
            ),
            (
                format!("{PREFIX}%, x"),
                "invalid base64.bearer.authorization token encoding",
            ),
        ] {
            assert_eq!(token(&headers(&protocols)), Err(why), "{protocols}");
        }
        assert_eq!(token(&headers("v4.channel.k8s.io")), Ok(None));
        let mut other = headers(&format!("{one}, x"));
        other.remove(UPGRADE);
        assert_eq!(token(&other), Ok(None), "it is no WebSocket");
    }
}
