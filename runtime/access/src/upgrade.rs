//! Detection of requests that switch to another protocol.

use http::HeaderMap;
use http::header::{CONNECTION, UPGRADE};

/// True if the request headers ask for a protocol upgrade.
#[must_use]
pub fn asks_for_upgrade(headers: &HeaderMap) -> bool {
    let mut values = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values.any(|value| value.to_ascii_lowercase().contains("upgrade"))
}

/// True if the requested protocol is WebSocket.
#[must_use]
pub fn asks_for_web_socket(headers: &HeaderMap) -> bool {
    let protocol = headers.get(UPGRADE);
    protocol.is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(b"websocket")) && asks_for_upgrade(headers)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn requests_say_in_what_they_want_to_go_on() {
        let asked = |upgrade, connection| {
            let mut headers = HeaderMap::new();
            headers.insert(UPGRADE, HeaderValue::from_static(upgrade));
            headers.insert(CONNECTION, HeaderValue::from_static(connection));
            (asks_for_upgrade(&headers), asks_for_web_socket(&headers))
        };
        assert_eq!(asked("WebSocket", "keep-alive, Upgrade"), (true, true));
        assert_eq!(asked("SPDY/3.1", "upgrade"), (true, false));
        assert_eq!(asked("websocket", "keep-alive"), (false, false));
        assert!(!asks_for_upgrade(&HeaderMap::new()));
    }
}
