//! Formats of values: the constraint that the `format` of a schema adds to the type.

mod address;
mod number_text;
mod time_text;

use std::fmt;

use planesmith_wire::names;

use super::SchemaType;

/// A format that says something about values of its type.
#[derive(Clone)]
pub struct Format {
    /// As it was written.
    name: Box<str>,
    /// The check of a text; `None` for formats of numbers.
    holds: Option<fn(&str) -> bool>,
}

impl Format {
    /// The format called `name` of values of a type; `None` if nothing is known about it.
    #[must_use]
    pub fn from_name(schema_type: SchemaType, name: &str) -> Option<Self> {
        let holds = match schema_type {
            SchemaType::Integer => matches!(name, "int32" | "int64").then_some(None)?,
            SchemaType::Number => matches!(name, "float" | "double").then_some(None)?,
            SchemaType::Any | SchemaType::String | SchemaType::IntOrString => Some(of_text(&name.replace('-', ""))?),
            SchemaType::Object | SchemaType::Array | SchemaType::Boolean => return None,
        };
        Some(Self {
            name: name.into(),
            holds,
        })
    }

    /// As [`Format::from_name`], with formats about which nothing is known; `None` without a name.
    pub(super) fn as_written(schema_type: SchemaType, name: &str) -> Option<Self> {
        let unknown = || Self {
            name: name.into(),
            holds: None,
        };
        (!name.is_empty()).then(|| Self::from_name(schema_type, name).unwrap_or_else(unknown))
    }

    /// As it was written.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if it is one of texts.
    #[must_use]
    pub fn is_of_text(&self) -> bool {
        self.holds.is_some()
    }

    /// True if `text` is of the format; formats of numbers say nothing about texts.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        self.holds.is_none_or(|holds| holds(text))
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name).finish()
    }
}

/// The check of texts of a format; dashes do not count in names.
fn of_text(name: &str) -> Option<fn(&str) -> bool> {
    Some(match name {
        "bsonobjectid" => |text| text.len() == 24 && is_hexadecimal(text),
        "uri" => address::is_uri,
        "email" => address::is_email,
        "hostname" => address::is_hostname,
        "ipv4" => address::is_ipv4,
        "ipv6" => address::is_ipv6,
        "cidr" => address::is_cidr,
        "mac" => address::is_mac,
        "uuid" => |text| is_uuid(text, None),
        "uuid3" => |text| is_uuid(text, Some('3')),
        "uuid4" => |text| is_uuid(text, Some('4')),
        "uuid5" => |text| is_uuid(text, Some('5')),
        "isbn" => |text| number_text::is_isbn10(text) || number_text::is_isbn13(text),
        "isbn10" => number_text::is_isbn10,
        "isbn13" => number_text::is_isbn13,
        "creditcard" => number_text::is_credit_card,
        "ssn" => number_text::is_social_security_number,
        "hexcolor" => |text| {
            let digits = text.strip_prefix('#').unwrap_or(text);
            matches!(digits.len(), 3 | 6) && is_hexadecimal(digits)
        },
        "rgbcolor" => number_text::is_rgb_color,
        "byte" => is_base64,
        "password" => |_| true,
        "date" => time_text::is_date,
        "duration" => time_text::is_duration,
        "datetime" => time_text::is_date_time,
        "k8sshortname" => |text| names::dns_label(text).is_empty(),
        "k8slongname" => |text| names::dns_subdomain(text).is_empty(),
        _ => return None,
    })
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// 32 hexadecimal digits, with or without dashes where they belong.
fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut digits = String::with_capacity(32);
    for c in text.chars() {
        match c {
            '-' if matches!(digits.len(), 8 | 12 | 16 | 20) => {}
            c if c.is_ascii_hexdigit() => digits.push(c.to_ascii_lowercase()),
            _ => return false,
        }
    }
    let variant = digits.chars().nth(16);
    let has_variant = match version {
        Some('4' | '5') => matches!(variant, Some('8' | '9' | 'a' | 'b')),
        _ => true,
    };
    digits.len() == 32
        && !text.contains("--")
        && version.is_none_or(|version| digits.chars().nth(12) == Some(version))
        && has_variant
}

/// Groups of four letters of which the last may be padded; no text at all is none.
fn is_base64(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let content = text.trim_end_matches('=');
    let padding = text.len() - content.len();
    !text.is_empty() && text.len().is_multiple_of(4) && padding <= 2 && content.bytes().all(is_letter)
}

#[cfg(test)]
mod tests;
