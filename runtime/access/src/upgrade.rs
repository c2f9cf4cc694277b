//! Detection of requests that switch to another protocol.

use http::HeaderMap;
use http::header::{CONNECTION, UPGRADE};

/// True if the request headers ask for a protocol upgrade.
#[must_use]
pub fn requests_upgrade(headers: &HeaderMap) -> bool {
    let mut values = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values.any(|value| value.to_ascii_lowercase().contains("upgrade"))
}

/// True if the requested protocol is WebSocket.
#[must_use]
pub fn requests_web_socket(headers: &HeaderMap) -> bool {
    let protocol = headers.get(UPGRADE);
    protocol.is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(b"websocket")) && requests_upgrade(headers)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn requests_say_in_what_they_want_to_go_on() {
        let requested = |upgrade, connection| {
            let mut headers = HeaderMap::new();
            headers.insert(UPGRADE, HeaderValue::from_static(upgrade));
            headers.insert(CONNECTION, HeaderValue::from_static(connection));
            (requests_upgrade(&headers), requests_web_socket(&headers))
        };
        assert_eq!(requested("WebSocket", "keep-alive, Upgrade"), (true, true));
        assert_eq!(requested("SPDY/3.1", "upgrade"), (true, false));
        assert_eq!(requested("websocket", "keep-alive"), (false, false));
        assert!(!requests_upgrade(&HeaderMap::new()));
    }
}
