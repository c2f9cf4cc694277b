//! Continue tokens: the position of the next page of a list.
//!
//! The format is kube-apiserver's (`v` `meta.k8s.io/v1`), so that a client may continue at another server on the same
//! store.

use base64::Engine as _;
use planesmith_machinery::go_base64::RAW_URL;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::status::ApiError;
use planesmith_store::Revision;
use serde_json::Value;

/// The state of the objects that a page lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageState {
    /// The state of the first page.
    At(Revision),
    /// The newest state, for a client that continues although the state of the first page was compacted.
    Newest,
}

/// The position of the next page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContinueToken {
    pub(crate) state: PageState,
    /// The first key of the page, below the prefix of the list.
    pub(crate) start: String,
}

const VERSION: &str = "meta.k8s.io/v1";

impl ContinueToken {
    /// The token in the form in which clients send it back.
    pub(crate) fn encode(&self) -> String {
        let revision = match self.state {
            // Revisions have 64 bits; a larger number cannot be encoded.
            PageState::At(revision) => i64::try_from(revision.0).unwrap_or(i64::MAX),
            PageState::Newest => -1,
        };
        let mut text = format!("{{\"v\":\"{VERSION}\",\"rv\":{revision},\"start\":").into_bytes();
        json::encode_value(&Value::from(format!("/{}", self.start)), &mut text);
        text.push(b'}');
        RAW_URL.encode(text)
    }

    /// Parses a client's token.
    ///
    /// # Errors
    ///
    /// 400 with the words of kube-apiserver.
    pub(crate) fn decode(text: &str) -> Result<Self, ApiError> {
        let refused =
            |why: String| ApiError::bad_request(format!("invalid continue token: continue key is not valid{why}"));
        let bytes = decode_base64(text).map_err(|at| refused(format!(": illegal base64 data at input byte {at}")))?;
        let (token, _) =
            json::parse_value(&bytes, Strictness::Lenient).map_err(|error| refused(format!(": {error}")))?;
        if let Some(why) = wrong_type(&token) {
            return Err(refused(format!(": {why}")));
        }
        match entry(&token, "v").and_then(Value::as_str).unwrap_or_default() {
            VERSION => {}
            other => {
                return Err(refused(format!(
                    ": server does not recognize this encoded version {other}"
                )));
            }
        }
        let state = match entry(&token, "rv").and_then(Value::as_i64).unwrap_or(0) {
            0 => {
                let why = format!(": incorrect encoded start resourceVersion (version {VERSION})");
                return Err(refused(why));
            }
            revision => u64::try_from(revision).map_or(PageState::Newest, |revision| PageState::At(Revision(revision))),
        };
        let start = entry(&token, "start").and_then(Value::as_str).unwrap_or_default();
        if start.is_empty() {
            return Err(refused(format!(": encoded start key empty (version {VERSION})")));
        }
        // A leading slash stands for the list's prefix.
        let below = start.strip_prefix('/').unwrap_or(start);
        // A start outside of the list's prefix would list objects that the path does not allow.
        if !below.is_empty() && below.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(refused(format!(": {start}")));
        }
        let start = below.to_owned();
        Ok(Self { state, start })
    }
}

/// A member of a token; as in Go, the case of its name is ignored.
fn entry<'t>(token: &'t Value, name: &str) -> Option<&'t Value> {
    let mut entries = token.as_object()?.iter();
    entries.find_map(|(found, value)| found.eq_ignore_ascii_case(name).then_some(value))
}

/// Go's message for a token in which a member has the wrong type; `None` if all are right. Null counts as absent.
fn wrong_type(token: &Value) -> Option<String> {
    let unfit = |found: &str, wanted: &str| Some(format!("json: cannot unmarshal {found} into Go {wanted}"));
    match token {
        Value::Object(_) => {}
        Value::Null => return None,
        other => return unfit(json::name_of(other), "value of type storage.continueToken"),
    }
    // In the order in which servers write them: the first wrong one is reported.
    [("v", "string"), ("rv", "int64"), ("start", "string")]
        .into_iter()
        .find_map(|(name, wanted)| {
            let field = format!("struct field continueToken.{name} of type {wanted}");
            match (entry(token, name)?, wanted) {
                (Value::Null, _) | (Value::String(_), "string") => None,
                (Value::Number(number), "int64") if number.is_i64() => None,
                (Value::Number(number), "int64") => unfit(&format!("number {number}"), &field),
                (other, _) => unfit(json::name_of(other), &field),
            }
        })
}

/// Decodes, or returns the position of the first wrong byte, counted as in Go.
fn decode_base64(text: &str) -> Result<Vec<u8>, usize> {
    RAW_URL.decode(text).map_err(|_| {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let odd = text.bytes().position(|byte| !legal(byte));
        odd.unwrap_or(text.len().saturating_sub(text.len() % 4))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn token(state: PageState, start: &str) -> ContinueToken {
        let start = start.to_owned();
        ContinueToken { state, start }
    }

    fn refusal(text: &str) -> String {
        let error = ContinueToken::decode(text).expect_err("a bad token");
        let message = error
            .message()
            .strip_prefix("invalid continue token: continue key is not valid");
        message.expect("the usual start").to_owned()
    }

    #[test]
    fn a_token_is_read_back() {
        for state in [PageState::At(Revision(812)), PageState::Newest] {
            let token = token(state, "default/a\0");
            assert_eq!(ContinueToken::decode(&token.encode()).expect("legal"), token);
        }
    }

    #[test]
    fn the_form_is_that_of_kubernetes() {
        let token = token(PageState::At(Revision(5)), "p3\0");
        let text = RAW_URL.decode(token.encode()).expect("base64");
        assert_eq!(text, br#"{"v":"meta.k8s.io/v1","rv":5,"start":"/p3\u0000"}"#);
    }

    #[test]
    fn a_start_may_have_one_slash_in_front() {
        let decode = |start: &str| {
            let token = json!({"v": VERSION, "rv": 5, "start": start});
            ContinueToken::decode(&RAW_URL.encode(token.to_string()))
        };
        for start in ["/c1\u{0}", "c1\u{0}"] {
            assert_eq!(decode(start).expect("legal").start, "c1\u{0}", "{start:?}");
        }
        assert_eq!(decode("/").expect("legal").start, "");
        let shouted = RAW_URL.encode(r#"{"V":"meta.k8s.io/v1","RV":-1,"START":"c"}"#);
        assert_eq!(ContinueToken::decode(&shouted).expect("legal").state, PageState::Newest);
        for start in ["//c1\u{0}", "/../c1\u{0}", "c1/"] {
            assert!(decode(start).is_err(), "{start:?}");
        }
    }

    #[test]
    fn parts_of_another_type_are_refused_in_the_words_of_go() {
        let at = ": json: cannot unmarshal";
        for (token, why) in [
            (
                r#"{"v":"meta.k8s.io/v1","rv":"5","start":"a"}"#,
                "string into Go struct field continueToken.rv of type int64",
            ),
            (
                r#"{"rv":1.5}"#,
                "number 1.5 into Go struct field continueToken.rv of type int64",
            ),
            (
                r#"{"rv":true,"v":5}"#,
                "number into Go struct field continueToken.v of type string",
            ),
            (
                r#"{"start":{}}"#,
                "object into Go struct field continueToken.start of type string",
            ),
            ("[]", "array into Go value of type storage.continueToken"),
        ] {
            assert_eq!(refusal(&RAW_URL.encode(token)), format!("{at} {why}"), "{token}");
        }
        let none = RAW_URL.encode(r#"{"v":"meta.k8s.io/v1","rv":null,"start":"a"}"#);
        assert_eq!(
            refusal(&none),
            ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)"
        );
    }

    #[test]
    fn bad_tokens_are_refused_in_words() {
        assert_eq!(
            refusal("garbage"),
            ": invalid character '\\u0081' looking for beginning of value"
        );
        assert_eq!(refusal("%%"), ": illegal base64 data at input byte 0");
        let unknown = RAW_URL.encode(r#"{"v":"v9","rv":1,"start":"a"}"#);
        assert_eq!(refusal(&unknown), ": server does not recognize this encoded version v9");
        let above = RAW_URL.encode(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"../secrets"}"#);
        assert_eq!(refusal(&above), ": ../secrets");
        let empty = RAW_URL.encode(r#"{"v":"meta.k8s.io/v1","rv":1}"#);
        assert_eq!(refusal(&empty), ": encoded start key empty (version meta.k8s.io/v1)");
    }
}
