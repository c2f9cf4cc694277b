//! JSON of unknown type.

mod tree;

use std::convert::identity;

use crate::json::{MAX_FIELDS_DEPTH, MAX_TREE_DEPTH, Strictness, compact, encode_text, encode_value, parse_value};
use crate::protobuf::{Fields, write_bytes};
use crate::scalar::{ScalarCodec, ScalarError, Token};

/// Makes a type that holds compact JSON text, empty for `null`.
macro_rules! raw_json {
    ($(#[$doc:meta])* $type:ident, $max_depth:ident, $kept:ident) => {
        $(#[$doc])*
        ///
        /// White space is dropped on the way in. Nothing (`null`) and an empty object are different things.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $type(String);

        impl $type {
            /// Holds the JSON value in `json`.
            ///
            /// # Errors
            ///
            /// When it is not one JSON value.
            pub fn new(json: &[u8]) -> Result<Self, crate::json::DecodeError> {
                let mut out = Vec::with_capacity(json.len());
                compact(json, &mut out)?;
                Ok($type::from_compact(out))
            }

            /// The compact JSON; `null` for nothing.
            #[must_use]
            pub fn as_str(&self) -> &str {
                if self.0.is_empty() { "null" } else { &self.0 }
            }

            /// True if it holds nothing.
            #[must_use]
            pub fn is_null(&self) -> bool {
                self.0.is_empty()
            }

            /// True if it is an object.
            #[must_use]
            pub fn is_object(&self) -> bool {
                self.0.starts_with('{')
            }

            /// The value as a tree.
            #[must_use]
            pub fn to_value(&self) -> serde_json::Value {
                let parsed = crate::json::parse_value(self.as_str().as_bytes(), crate::json::Strictness::Lenient);
                parsed.map_or(serde_json::Value::Null, |(value, _)| value)
            }

            /// Holds `json`, which is one compact JSON value.
            #[must_use]
            pub fn from_compact(json: Vec<u8>) -> Self {
                match String::from_utf8(json) {
                    Ok(text) if text != "null" => $type(text),
                    _ => $type::default(),
                }
            }
        }

        impl From<&serde_json::Value> for $type {
            fn from(value: &serde_json::Value) -> Self {
                let mut out = Vec::new();
                encode_value(value, &mut out);
                $type::from_compact(out)
            }
        }

        impl ScalarCodec for $type {
            fn is_zero(&self) -> bool {
                self.is_null()
            }

            fn write_json(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.as_str().as_bytes());
            }

            fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
                self.read_json_within(token, 0)
            }

            fn read_json_within(&mut self, token: Token<'_>, depth: usize) -> Result<(), ScalarError> {
                let json = token_json(token)?;
                check_depth(&json, $max_depth(depth))?;
                *self = $type::from_compact($kept(json));
                Ok(())
            }

            fn write_proto(&self, out: &mut Vec<u8>) {
                if !self.is_null() {
                    write_bytes(out, 1, self.0.as_bytes());
                }
            }

            fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError> {
                self.read_proto_within(payload, 0)
            }

            fn read_proto_within(&mut self, payload: &[u8], depth: usize) -> Result<(), ScalarError> {
                let json = raw_field(payload)?;
                // In JSON a message may lie in an array each.
                check_depth(&json, $max_depth(2 * depth))?;
                *self = $type::from_compact($kept(json));
                Ok(())
            }
        }
    };
}

raw_json!(
    /// An object of a type that only its user knows (`runtime.RawExtension`).
    RawExtension,
    left_for_tree,
    identity
);

raw_json!(
    /// The set of fields that a manager owns, as a tree of `f:`, `k:` and `v:` keys.
    FieldsV1,
    left_for_fields,
    identity
);

raw_json!(
    /// Any JSON value. It is decoded on the way in, as by the conversions of kube-apiserver: keys are sorted, and equal values
    /// are equal texts.
    AnyJson,
    left_for_tree,
    as_decoded
);

/// Compact JSON as it is encoded after decoding; unchanged if it has a number that no type can hold.
fn as_decoded(json: Vec<u8>) -> Vec<u8> {
    let Ok((value, _)) = parse_value(&json, Strictness::Lenient) else {
        return json;
    };
    let mut out = Vec::with_capacity(json.len());
    encode_value(&value, &mut out);
    out
}

/// The depth to which a value within `depth` arrays and objects may be nested, so that its object can be walked as a tree.
fn left_for_tree(depth: usize) -> usize {
    MAX_TREE_DEPTH.saturating_sub(depth)
}

/// The names of an object's fields are as deep as the object, wherever they lie.
fn left_for_fields(_: usize) -> usize {
    MAX_FIELDS_DEPTH
}

fn check_depth(json: &[u8], most: usize) -> Result<(), ScalarError> {
    // Each level takes two brackets.
    if json.len() > 2 * most && crate::json::depth(json) > most {
        return Err(ScalarError::Text("invalid character '{' exceeded max depth".to_owned()));
    }
    Ok(())
}

/// The compact JSON of a token.
fn token_json(token: Token<'_>) -> Result<Vec<u8>, ScalarError> {
    let mut out = Vec::new();
    match token {
        Token::Null => out.extend_from_slice(b"null"),
        Token::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Token::Number(digits) => out.extend_from_slice(digits.as_bytes()),
        Token::Str(text) => encode_text(text, &mut out),
        Token::Object(json) | Token::Array(json) => {
            compact(json, &mut out).map_err(|error| ScalarError::Text(error.to_string()))?;
        }
    }
    Ok(out)
}

/// The compact JSON in field 1 of a message; empty when there is none.
fn raw_field(payload: &[u8]) -> Result<Vec<u8>, ScalarError> {
    let mut out = Vec::new();
    let mut fields = Fields::new(payload, "RawExtension");
    while let Some((number, wire)) = fields.next()? {
        if number == 1 {
            let json = wire.bytes("Raw")?;
            out.clear();
            if !json.is_empty() {
                compact(json, &mut out).map_err(|error| ScalarError::Text(error.to_string()))?;
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_value_is_decoded_and_an_extension_stays_as_it_is() {
        let sent = br#"{"b":1.0,"c":1e3,"d":12345678901234567890,"e":"\u0041","a":[1.50,null]}"#;
        let mut value = AnyJson::default();
        value.read_json(Token::Object(sent)).expect("JSON");
        let expected = r#"{"a":[1.5,null],"b":1,"c":1000,"d":12345678901234567000,"e":"A"}"#;
        assert_eq!(value.as_str(), expected);
        value.read_json(Token::Number("1.0")).expect("JSON");
        assert_eq!(value.as_str(), "1");
        let mut extension = RawExtension::default();
        extension.read_json(Token::Object(sent)).expect("JSON");
        assert_eq!(extension.as_str().as_bytes(), sent);
    }
}
