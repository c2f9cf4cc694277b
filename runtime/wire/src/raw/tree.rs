//! JSON trees as leaves.

use serde_json::Value as Tree;

use super::RawExtension;
use crate::json::{encode_value, parse_value_within};
use crate::protobuf::write_bytes;
use crate::scalar::{ScalarCodec, ScalarError, Token};

impl ScalarCodec for Tree {
    fn is_zero(&self) -> bool {
        self.is_null()
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        encode_value(self, out);
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        self.read_json_within(token, 0)
    }

    fn read_json_within(&mut self, token: Token<'_>, depth: usize) -> Result<(), ScalarError> {
        let parse = |text: &[u8]| parse_value_within(text, depth).map_err(|error| ScalarError::Text(error.to_string()));
        *self = match token {
            Token::Null => Tree::Null,
            Token::Bool(value) => Tree::Bool(value),
            Token::Str(text) => Tree::String(text.to_owned()),
            Token::Number(digits) => parse(digits.as_bytes())?,
            Token::Object(text) | Token::Array(text) => parse(text)?,
        };
        Ok(())
    }

    fn write_proto(&self, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        self.write_json(&mut text);
        write_bytes(out, 1, &text);
    }

    fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError> {
        let mut raw = RawExtension::default();
        raw.read_proto(payload)?;
        *self = raw.to_value();
        Ok(())
    }
}
