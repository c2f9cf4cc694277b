//! The header of a token, which the signer returns.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use planesmith_machinery::go_format::quote;
use serde::Deserialize;

/// Maximum bytes of the name of a key.
pub(crate) const MAX_KEY_ID: usize = 1024;

/// Algorithms of signatures that the server verifies.
const ALGORITHMS: [&str; 3] = ["RS256", "ES256", "ES384"];

/// The members of a header, and no others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(default)]
    alg: String,
    #[serde(default)]
    kid: String,
    #[serde(default)]
    typ: String,
}

/// Checks the first part of a token, and returns the name of the key.
pub(crate) fn key_id_of(header: &str) -> Result<String, String> {
    let json = URL_SAFE_NO_PAD.decode(header);
    let json = json.map_err(|error| format!("while unwrapping header: {error}"))?;
    let header: Header =
        serde_json::from_slice(&json).map_err(|error| format!("while parsing header JSON: {error}"))?;
    if header.typ != "JWT" {
        return Err("bad type".to_owned());
    }
    if header.kid.is_empty() {
        return Err("key id missing".to_owned());
    }
    if header.kid.len() > MAX_KEY_ID {
        return Err("key id longer than 1 kb".to_owned());
    }
    if !ALGORITHMS.contains(&header.alg.as_str()) {
        return Err(format!("bad signing algorithm {}", quote(&header.alg)));
    }
    Ok(header.kid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_a_type_a_key_and_a_known_algorithm() {
        let checked = |json: &str| key_id_of(&URL_SAFE_NO_PAD.encode(json));
        let valid = r#"{"alg":"ES256","kid":"one","typ":"JWT"}"#;
        assert_eq!(checked(valid), Ok("one".to_owned()));
        for (header, problem) in [
            (r#"{"alg":"ES256","kid":"one"}"#, "bad type"),
            (r#"{"alg":"ES256","typ":"JWT"}"#, "key id missing"),
            (
                r#"{"alg":"HS256","kid":"one","typ":"JWT"}"#,
                r#"bad signing algorithm "HS256""#,
            ),
        ] {
            assert_eq!(checked(header), Err(problem.to_owned()), "{header}");
        }
        let unknown = r#"{"alg":"ES256","kid":"one","typ":"JWT","crit":["exp"]}"#;
        assert!(checked(unknown).unwrap_err().starts_with("while parsing header JSON: "));
        assert!(key_id_of("=").unwrap_err().starts_with("while unwrapping header: "));
    }
}
