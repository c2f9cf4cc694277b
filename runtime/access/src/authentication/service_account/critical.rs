//! Critical header parameters of a token (RFC 7515, 4.1.11).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

/// The only extension that kube-apiserver supports: unencoded payloads (RFC 7797).
const KNOWN: &str = "b64";

#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    crit: Option<Vec<String>>,
    #[serde(default)]
    b64: Option<bool>,
}

/// True if the header of `token` marks an unsupported parameter as critical, or is malformed. The claims of such a token cannot
/// be trusted.
pub(super) fn is_unsupported(token: &str) -> bool {
    let header = token.split('.').next().unwrap_or_default();
    let header = URL_SAFE_NO_PAD.decode(header).unwrap_or_default();
    let Ok(header) = serde_json::from_slice::<Header>(&header) else {
        return true;
    };
    let critical = header.crit.unwrap_or_default();
    critical.iter().any(|name| name != KNOWN) || (!critical.is_empty() && header.b64 == Some(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_critical_parts_are_not_supported() {
        let token = |header: &str| format!("{}.e30.c2ln", URL_SAFE_NO_PAD.encode(header));
        for header in [
            r#"{"alg":"RS256","crit":["exp"],"exp":1}"#,
            r#"{"alg":"RS256","crit":["b64","x"]}"#,
            r#"{"alg":"RS256","crit":["b64"],"b64":false}"#,
            r#"{"alg":"RS256","crit":"x"}"#,
            r#"{"alg":"RS256","crit":[1]}"#,
            "no JSON",
        ] {
            assert!(is_unsupported(&token(header)), "{header}");
        }
        for header in [
            r#"{"alg":"RS256"}"#,
            r#"{"alg":"RS256","crit":[]}"#,
            r#"{"alg":"RS256","crit":null,"other":{}}"#,
            r#"{"alg":"RS256","crit":["b64"],"b64":true}"#,
        ] {
            assert!(!is_unsupported(&token(header)), "{header}");
        }
    }
}
