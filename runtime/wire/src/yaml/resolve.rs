//! The meaning of an unquoted word in YAML 1.1, as go-yaml reads it.

use serde_json::Value;

use super::YamlError;
use crate::go_base64;

const TAGS: &str = "tag:yaml.org,2002:";

/// A scalar with a meaning.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// Too large for the former.
    Unsigned(u64),
    /// May be infinite or no number at all.
    Float(f64),
    Text(String),
}

impl Scalar {
    /// The scalar in JSON.
    pub(super) fn into_value(self) -> Result<Value, YamlError> {
        match self {
            Scalar::Null => Ok(Value::Null),
            Scalar::Bool(value) => Ok(Value::Bool(value)),
            Scalar::Int(value) => Ok(value.into()),
            Scalar::Unsigned(value) => Ok(value.into()),
            Scalar::Text(text) => Ok(Value::String(text)),
            Scalar::Float(value) => serde_json::Number::from_f64(value).map(Value::Number).ok_or_else(|| {
                let shown = if value.is_nan() {
                    "NaN"
                } else if value > 0.0 {
                    "+Inf"
                } else {
                    "-Inf"
                };
                YamlError::new(format!("json: unsupported value: {shown}"))
            }),
        }
    }

    fn tag(&self) -> &'static str {
        match self {
            Scalar::Null => "null",
            Scalar::Bool(_) => "bool",
            Scalar::Int(_) | Scalar::Unsigned(_) => "int",
            Scalar::Float(_) => "float",
            Scalar::Text(_) => "str",
        }
    }
}

/// The meaning of a scalar node.
pub(super) fn scalar(text: &str, plain: bool, tag: &str) -> Result<Scalar, YamlError> {
    let Some(kind) = tag.strip_prefix(TAGS) else {
        // Without a tag or with an unknown one.
        return Ok(if plain && tag.is_empty() {
            word(text)
        } else {
            Scalar::Text(text.to_owned())
        });
    };
    match kind {
        "null" | "bool" | "int" | "float" | "timestamp" => {
            let resolved = word(text);
            match (kind, &resolved) {
                ("float", Scalar::Int(value)) => Ok(Scalar::Float(*value as f64)),
                ("timestamp", Scalar::Text(_)) => Ok(resolved),
                _ if kind == resolved.tag() => Ok(resolved),
                _ => {
                    let found = resolved.tag();
                    Err(YamlError::quoting(
                        format!("yaml: cannot decode !!{found} `{text}` as a !!{kind}"),
                        "yaml: a value cannot be decoded as its tag says",
                    ))
                }
            }
        }
        "binary" => {
            let packed: String = text.split_ascii_whitespace().collect();
            let bytes = go_base64::decode(&packed)
                .map_err(|_| YamlError::new("yaml: !!binary value contains invalid base64 data".to_owned()))?;
            Ok(Scalar::Text(String::from_utf8_lossy(&bytes).into_owned()))
        }
        _ => Ok(Scalar::Text(text.to_owned())),
    }
}

/// The meaning of an unquoted word.
pub(super) fn word(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Scalar::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let number = match text.as_bytes()[0] {
        b'.' => float(text),
        b'+' | b'-' | b'0'..=b'9' => {
            let digits = text.replace('_', "");
            integer(&digits).or_else(|| float(&digits))
        }
        _ => None,
    };
    number.unwrap_or_else(|| Scalar::Text(text.to_owned()))
}

/// An integer in the notation of Go, where a leading zero means octal.
fn integer(text: &str) -> Option<Scalar> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = unsigned.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        Some(prefix) if prefix.starts_with('0') => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    // The standard library would take one more sign.
    if !digits.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        return 0_i64.checked_sub_unsigned(size).map(Scalar::Int);
    }
    Some(i64::try_from(size).map_or(Scalar::Unsigned(size), Scalar::Int))
}

/// A decimal number that is finite: `1.5`, `.5`, `1e3`.
fn float(text: &str) -> Option<Scalar> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mantissa_end = unsigned.find(['e', 'E']).unwrap_or(unsigned.len());
    let (mantissa, exponent) = unsigned.split_at(mantissa_end);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        None => digits(mantissa),
        Some((whole, "")) => digits(whole),
        Some((whole, fraction)) => (whole.is_empty() || digits(whole)) && digits(fraction),
    };
    let exponent_fits = match exponent.get(1..) {
        None => true,
        Some(exponent) => digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)),
    };
    if !mantissa_fits || !exponent_fits {
        return None;
    }
    text.parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .map(Scalar::Float)
}
