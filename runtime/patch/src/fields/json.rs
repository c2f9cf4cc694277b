//! `FieldsV1`: the JSON form of a set.

use std::borrow::Cow;

use planesmith_wire::json::{MAX_FIELDS_DEPTH, Malformed, Next, Reader, encode_text};
use planesmith_wire::sorting::sort_by;

use super::element::PathElement;
use super::key_value::{KeyValue, write_entries};
use super::set::Set;

/// The reason why bytes are not the JSON form of a set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FieldsError(pub String);

impl<'a> Set<'a> {
    /// Reads the JSON form. Steps of unknown types are dropped.
    ///
    /// # Errors
    ///
    /// When the bytes are not JSON, or a key is not a step.
    pub fn from_json(json: &'a [u8]) -> Result<Self, FieldsError> {
        let mut reader = Reader::new(json);
        let read = read(&mut reader)?;
        reader.end()?;
        Ok(read.set)
    }

    /// Appends the JSON form: keys sorted, members without children as `{}`, members with children with a `.` inside.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        self.write_contents(false, out);
        out.push(b'}');
    }

    fn write_contents(&self, has_dot: bool, out: &mut Vec<u8>) {
        if has_dot {
            out.extend_from_slice(b"\".\":{}");
        }
        for (index, node) in self.nodes().iter().enumerate() {
            if has_dot || index > 0 {
                out.push(b',');
            }
            write_element(&node.element, out);
            out.extend_from_slice(b":{");
            node.children
                .write_contents(node.member && !node.children.is_empty(), out);
            out.push(b'}');
        }
    }
}

/// Appends a step as a JSON text.
fn write_element(element: &PathElement<'_>, out: &mut Vec<u8>) {
    match element {
        PathElement::Field(name) if is_plain(name) => {
            out.extend_from_slice(b"\"f:");
            out.extend_from_slice(name.as_bytes());
            out.push(b'"');
        }
        PathElement::Index(index) => out.extend_from_slice(format!("\"i:{index}\"").as_bytes()),
        element => {
            let mut text = Vec::with_capacity(64);
            write_step(element, &mut text);
            // The bytes just written are text.
            encode_text(&String::from_utf8_lossy(&text), out);
        }
    }
}

fn write_step(element: &PathElement<'_>, text: &mut Vec<u8>) {
    match element {
        PathElement::Field(name) => {
            text.extend_from_slice(b"f:");
            text.extend_from_slice(name.as_bytes());
        }
        PathElement::Key(keys) => {
            text.extend_from_slice(b"k:");
            write_entries(keys, text);
        }
        PathElement::Value(value) => {
            text.extend_from_slice(b"v:");
            value.write_json(text);
        }
        PathElement::Index(index) => text.extend_from_slice(format!("i:{index}").as_bytes()),
    }
}

/// True if text needs no escaping in JSON.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'/'))
}

/// The content of one JSON object of the tree.
struct Read<'a> {
    set: Set<'a>,
    has_dot: bool,
}

impl From<Malformed> for FieldsError {
    fn from(_: Malformed) -> Self {
        FieldsError("malformed JSON, or nested too deep".to_owned())
    }
}

fn read<'a>(reader: &mut Reader<'a>) -> Result<Read<'a>, FieldsError> {
    let mut read = Read {
        set: Set::new(),
        has_dot: false,
    };
    match reader.peek()? {
        Next::Object if reader.depth() < MAX_FIELDS_DEPTH => {}
        Next::Null => {
            reader.null()?;
            return Ok(read);
        }
        other => {
            return Err(FieldsError(format!(
                "expected an object of fields, found {}",
                other.name()
            )));
        }
    }
    let mut more = reader.enter(b'}')?;
    while more {
        let key = reader.key()?;
        if key == "." {
            read.has_dot = true;
            reader.skip()?;
        } else {
            match parse_element(key).map_err(FieldsError)? {
                None => drop(reader.skip()?),
                Some(element) => {
                    let below = self::read(reader)?;
                    let member = below.has_dot || below.set.is_empty();
                    read.set.push(element, member, below.set);
                }
            }
        }
        more = reader.another(b'}')?;
    }
    read.set.settle();
    Ok(read)
}

/// Reads a step; `None` for one of an unknown type.
fn parse_element(key: Cow<'_, str>) -> Result<Option<PathElement<'_>>, String> {
    let bytes = key.as_bytes();
    if bytes.len() < 2 {
        return Err("key must be 2 characters long:".to_owned());
    }
    if bytes[1] != b':' {
        return Err(format!("missing colon: {key}"));
    }
    match bytes[0] {
        b'f' => Ok(Some(PathElement::Field(match key {
            Cow::Borrowed(text) => Cow::Borrowed(&text[2..]),
            Cow::Owned(mut text) => {
                text.drain(..2);
                Cow::Owned(text)
            }
        }))),
        b'v' => {
            let value = serde_json::from_str(&key[2..]).map_err(|error| error.to_string())?;
            Ok(Some(PathElement::Value(KeyValue::from_json(value))))
        }
        b'k' => {
            let keys: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(&key[2..]).map_err(|error| error.to_string())?;
            let mut keys: Vec<(Cow<'_, str>, KeyValue<'_>)> = keys
                .into_iter()
                .map(|(name, value)| (Cow::Owned(name), KeyValue::from_json(value)))
                .collect();
            sort_by(&mut keys, |left, right| left.0.cmp(&right.0));
            Ok(Some(PathElement::Key(keys)))
        }
        b'i' => key[2..]
            .parse()
            .map(PathElement::Index)
            .map(Some)
            .map_err(|_| format!("not an index: {key}")),
        _ => Ok(None),
    }
}
