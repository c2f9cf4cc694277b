//! CBOR as JSON text.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::CborError;
use crate::go_format::quote;
use crate::hex;
use crate::json::{encode_text, encode_value};

/// The depth to which lists and maps may be nested.
pub(super) const MAX_DEPTH: usize = 64;

/// Tags of byte strings that say how JSON shows them.
const TAG_BASE64URL: u64 = 21;
const TAG_BASE64: u64 = 22;
const TAG_BASE16: u64 = 23;

/// The tag of times as text, which JSON shows as they are.
const TAG_TIME: u64 = 0;

/// Reads one document.
pub(super) fn read(input: &[u8]) -> Result<Vec<u8>, CborError> {
    let mut reader = Reader { rest: input, depth: 0 };
    let mut out = Vec::with_capacity(input.len() + input.len() / 2);
    reader.value(&mut out)?;
    if reader.rest.is_empty() {
        Ok(out)
    } else {
        Err(error(format!("{} bytes of extraneous data", reader.rest.len())))
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    depth: usize,
}

/// The start of an item.
struct Head {
    major: u8,
    /// The low bits of the first byte.
    info: u8,
    argument: u64,
}

impl<'a> Reader<'a> {
    fn value(&mut self, out: &mut Vec<u8>) -> Result<(), CborError> {
        let head = self.head()?;
        match head.major {
            0 => out.extend_from_slice(head.argument.to_string().as_bytes()),
            1 => {
                let number = -1 - i128::from(head.argument);
                if number < i128::from(i64::MIN) {
                    return Err(error(format!("{number} overflows a signed integer")));
                }
                out.extend_from_slice(number.to_string().as_bytes());
            }
            2 | 3 => encode_text(self.text(&head)?, out),
            4 => self.list(head.argument, out)?,
            5 => self.map(head.argument, out)?,
            6 => self.tagged(head.argument, out)?,
            _ => simple(&head, out)?,
        }
        Ok(())
    }

    fn list(&mut self, len: u64, out: &mut Vec<u8>) -> Result<(), CborError> {
        self.enter()?;
        out.push(b'[');
        for index in 0..len {
            if index > 0 {
                out.push(b',');
            }
            self.value(out)?;
        }
        out.push(b']');
        self.depth -= 1;
        Ok(())
    }

    fn map(&mut self, len: u64, out: &mut Vec<u8>) -> Result<(), CborError> {
        self.enter()?;
        out.push(b'{');
        let mut seen = BTreeSet::new();
        for index in 0..len {
            if index > 0 {
                out.push(b',');
            }
            let head = self.head()?;
            if !matches!(head.major, 2 | 3) {
                return Err(error("a key of a map is no string"));
            }
            let key = self.text(&head)?;
            if !seen.insert(key) {
                let key = quote(key);
                return Err(error(format!(
                    "found duplicate map key {key} at map element index {index}"
                )));
            }
            encode_text(key, out);
            out.push(b':');
            self.value(out)?;
        }
        out.push(b'}');
        self.depth -= 1;
        Ok(())
    }

    fn tagged(&mut self, tag: u64, out: &mut Vec<u8>) -> Result<(), CborError> {
        let head = self.head()?;
        let shown = match (tag, head.major) {
            (TAG_TIME, 2 | 3) => {
                encode_text(self.text(&head)?, out);
                return Ok(());
            }
            (TAG_BASE64URL, 2) => URL_SAFE_NO_PAD.encode(self.bytes(head.argument)?),
            (TAG_BASE64, 2) => STANDARD.encode(self.bytes(head.argument)?),
            (TAG_BASE16, 2) => hex::encode(self.bytes(head.argument)?),
            _ => return Err(error(format!("unexpected tag {tag}"))),
        };
        encode_text(&shown, out);
        Ok(())
    }

    fn enter(&mut self) -> Result<(), CborError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error(format!("exceeded max nested level {MAX_DEPTH}")));
        }
        Ok(())
    }

    fn head(&mut self) -> Result<Head, CborError> {
        let first = self.bytes(1)?[0];
        let info = first & 0x1f;
        let argument = match info {
            0..=23 => u64::from(info),
            24..=27 => {
                let bytes = self.bytes(1 << (info - 24))?;
                bytes.iter().fold(0, |argument, byte| argument << 8 | u64::from(*byte))
            }
            31 => return Err(error("items of indefinite length are not allowed")),
            _ => return Err(error(format!("invalid additional information {info}"))),
        };
        Ok(Head {
            major: first >> 5,
            info,
            argument,
        })
    }

    fn text(&mut self, head: &Head) -> Result<&'a str, CborError> {
        str::from_utf8(self.bytes(head.argument)?).map_err(|_| error("invalid UTF-8 string"))
    }

    fn bytes(&mut self, len: u64) -> Result<&'a [u8], CborError> {
        let len = usize::try_from(len).map_err(|_| error("unexpected EOF"))?;
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or_else(|| error("unexpected EOF"))?;
        self.rest = rest;
        Ok(bytes)
    }
}

/// Truth values, nothing, and numbers with a fraction.
fn simple(head: &Head, out: &mut Vec<u8>) -> Result<(), CborError> {
    let number = match head.info {
        20 => return word(b"false", out),
        21 => return word(b"true", out),
        22 => return word(b"null", out),
        25 => half(u16::try_from(head.argument).unwrap_or_default()),
        26 => f64::from(f32::from_bits(u32::try_from(head.argument).unwrap_or_default())),
        27 => f64::from_bits(head.argument),
        _ => return Err(error(format!("unexpected simple value {}", head.argument))),
    };
    match serde_json::Number::from_f64(number) {
        Some(number) => encode_value(&serde_json::Value::Number(number), out),
        None => return Err(error("numbers that are no numbers, or infinite, are not allowed")),
    }
    Ok(())
}

fn word(word: &[u8], out: &mut Vec<u8>) -> Result<(), CborError> {
    out.extend_from_slice(word);
    Ok(())
}

/// A number of two bytes: a sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff);
    sign * match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
    }
}

fn error(why: impl Into<String>) -> CborError {
    CborError(why.into())
}
