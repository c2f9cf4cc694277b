//! A number or a text: ports by number or name, counts or percentages.

use std::fmt;

use crate::json::encode_text;
use crate::protobuf::{Fields, write_bytes, write_int};
use crate::scalar::{ScalarCodec, ScalarError, Token};

/// A number or a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IntOrString {
    /// A number.
    Int(i32),
    /// A text, e.g. the name of a port or `25%`.
    String(String),
}

impl IntOrString {
    /// The number of a percentage such as `25%`; `None` for anything else.
    #[must_use]
    pub fn percent(&self) -> Option<i64> {
        let IntOrString::String(text) = self else { return None };
        let digits = text.strip_suffix('%')?;
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().unwrap_or(i64::MAX))
    }

    /// The number, or that of a percentage, or that which a text is; 0 for other texts.
    #[must_use]
    pub fn amount(&self) -> i64 {
        match self {
            IntOrString::Int(number) => i64::from(*number),
            IntOrString::String(text) => self.percent().unwrap_or_else(|| text.parse().unwrap_or(0)),
        }
    }
}

impl Default for IntOrString {
    fn default() -> Self {
        IntOrString::Int(0)
    }
}

impl fmt::Display for IntOrString {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntOrString::Int(value) => write!(formatter, "{value}"),
            IntOrString::String(text) => formatter.write_str(text),
        }
    }
}

impl From<i32> for IntOrString {
    fn from(value: i32) -> Self {
        IntOrString::Int(value)
    }
}

impl From<&str> for IntOrString {
    fn from(text: &str) -> Self {
        IntOrString::String(text.to_owned())
    }
}

impl ScalarCodec for IntOrString {
    fn is_zero(&self) -> bool {
        *self == IntOrString::Int(0)
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            IntOrString::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
            IntOrString::String(text) => encode_text(text, out),
        }
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        *self = match token {
            Token::Null => IntOrString::default(),
            Token::Str(text) => IntOrString::String(text.to_owned()),
            Token::Number(digits) => match digits.parse() {
                Ok(value) => IntOrString::Int(value),
                Err(_) => {
                    return Err(ScalarError::Kind {
                        found: format!("number {digits}"),
                        wanted: "int32",
                    });
                }
            },
            other => return Err(ScalarError::kind(other, "int32")),
        };
        Ok(())
    }

    fn write_proto(&self, out: &mut Vec<u8>) {
        let (kind, value, text) = match self {
            IntOrString::Int(value) => (0, *value, ""),
            IntOrString::String(text) => (1, 0, text.as_str()),
        };
        write_int(out, 1, kind);
        write_int(out, 2, i64::from(value));
        write_bytes(out, 3, text.as_bytes());
    }

    fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError> {
        let (mut kind, mut value, mut text) = (0, 0, String::new());
        let mut fields = Fields::new(payload, "IntOrString");
        while let Some((number, wire)) = fields.next()? {
            match number {
                1 => kind = wire.int("Type")?,
                2 => value = wire.int("IntVal")? as i32,
                3 => text = wire.text("StrVal")?.into_owned(),
                _ => {}
            }
        }
        *self = if kind == 1 {
            IntOrString::String(text)
        } else {
            IntOrString::Int(value)
        };
        Ok(())
    }
}
