//! Leaf types with a text form of their own: times, quantities, int-or-string, raw JSON.

use crate::protobuf::DecodeError;

/// A leaf type, as codecs read and write it.
pub trait ScalarCodec {
    /// True if it holds nothing: the zero time, the quantity 0.
    fn is_zero(&self) -> bool;
    /// Appends the JSON form.
    fn write_json(&self, out: &mut Vec<u8>);
    /// Takes the value of a JSON token.
    ///
    /// # Errors
    ///
    /// When the token is of the wrong kind or its text does not parse.
    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError>;
    /// The same, within `depth` arrays and objects; for a leaf that holds structs.
    ///
    /// # Errors
    ///
    /// As [`Self::read_json`], and when it is nested too deep.
    fn read_json_within(&mut self, token: Token<'_>, _depth: usize) -> Result<(), ScalarError> {
        self.read_json(token)
    }
    /// Appends the payload of the protobuf message, without tag and length.
    fn write_proto(&self, out: &mut Vec<u8>);
    /// Takes the value of a protobuf message payload.
    ///
    /// # Errors
    ///
    /// When the payload is malformed.
    fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError>;
    /// The same, within `depth` messages; for a leaf that holds structs.
    ///
    /// # Errors
    ///
    /// As [`Self::read_proto`], and when it is nested too deep.
    fn read_proto_within(&mut self, payload: &[u8], _depth: usize) -> Result<(), ScalarError> {
        self.read_proto(payload)
    }
}

/// One JSON value as the reader met it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, in the digits of the input.
    Number(&'a str),
    /// Text, unescaped.
    Str(&'a str),
    /// An object, as the bytes of the input.
    Object(&'a [u8]),
    /// An array, as the bytes of the input.
    Array(&'a [u8]),
}

impl ScalarError {
    /// The error for a token that is not of the kind that the type is read through.
    #[must_use]
    pub fn kind(token: Token<'_>, wanted: &'static str) -> Self {
        ScalarError::Kind {
            found: token.kind().to_owned(),
            wanted,
        }
    }
}

impl From<DecodeError> for ScalarError {
    fn from(error: DecodeError) -> Self {
        ScalarError::Text(error.to_string())
    }
}

impl Token<'_> {
    /// The name of this kind of token in decoding errors.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Token::Null => "null",
            Token::Bool(_) => "bool",
            Token::Number(_) => "number",
            Token::Str(_) => "string",
            Token::Object(_) => "object",
            Token::Array(_) => "array",
        }
    }
}

/// The reason why a leaf could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScalarError {
    /// The token is of a kind that the type does not take; the decoder adds the field.
    #[error("cannot unmarshal {found} into a value of type {wanted}")]
    Kind {
        /// The kind of the token: `string`, `bool`, `array`, `object`, `number` or `number 1.5`.
        found: String,
        /// The Go type that the leaf is read through, e.g. `string` or `int32`.
        wanted: &'static str,
    },
    /// The text does not parse; the message is complete, as kube-apiserver words it.
    #[error("{0}")]
    Text(String),
}
