//! Documents without a type, as trees.

use std::fmt::Display;

use serde_json::{Map, Number, Value};

use super::findings::Findings;
use super::path::Path;
use super::reader::{Malformed, Next, Reader};
use super::text::{write_double, write_int, write_str};
use super::{DecodeError, Strictness, encode_array, encode_object, syntax_error};

/// The depth to which an untyped document may be nested: building, walking and dropping a tree recurse. The fields of an object
/// count from the top of the object.
pub const MAX_TREE_DEPTH: usize = 512;

/// The depth to which the names of the fields of such a document are nested, and the object with them.
pub const MAX_FIELDS_DEPTH: usize = MAX_TREE_DEPTH + 16;
const MAX_OWN_DEPTH: usize = MAX_FIELDS_DEPTH + 16;

/// The name of a value in the errors of Go's JSON reader.
#[must_use]
pub fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Appends a tree as compact JSON, as Go writes it.
pub fn encode_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => write_int(out, value),
            (None, Some(value)) if !number.is_u64() => write_double(out, value),
            _ => out.extend_from_slice(number.to_string().as_bytes()),
        },
        Value::String(text) => write_str(out, text),
        Value::Array(elements) => encode_array(elements, out, encode_value),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.as_str(), value));
            encode_object(entries, out, encode_value);
        }
    }
}

/// Reads a document of no known type. Numbers without a point that fit are integers, others floating point; the last
/// of duplicate keys wins.
///
/// # Errors
///
/// When the document is not JSON, nested deeper than 512, or holds a number too large for any type.
pub fn parse_value(input: &[u8], strictness: Strictness) -> Result<(Value, Findings), DecodeError> {
    parse(input, strictness, 0, MAX_TREE_DEPTH)
}

/// As [`parse_value`] without findings, for a document that lies within `depth` arrays and objects of another.
///
/// # Errors
///
/// As [`parse_value`].
pub fn parse_value_within(input: &[u8], depth: usize) -> Result<Value, DecodeError> {
    parse(input, Strictness::Lenient, depth, MAX_TREE_DEPTH).map(|(value, _)| value)
}

/// Reads a document that this server has written of an object. It may be nested deeper than one that was sent: an object is
/// around it.
///
/// # Errors
///
/// When it holds a number that no type can hold.
pub fn parse_written(json: &[u8]) -> Result<Value, DecodeError> {
    parse(json, Strictness::Lenient, 0, MAX_OWN_DEPTH).map(|(value, _)| value)
}

/// As [`parse_written`]; a number that no type can hold is `null`.
#[must_use]
pub fn parse_written_lossy(json: &[u8]) -> Value {
    let (value, _) = Walk::new(&mut Reader::new(json), None, MAX_OWN_DEPTH).value_or_mismatch(&Path::ROOT);
    value.unwrap_or(Value::Null)
}

/// Reads the value that comes next in a document, as a tree that lies at `path`. Duplicate fields are added to `findings`, if
/// there are any to add to.
///
/// # Errors
///
/// [`Malformed`] when it is not JSON or nested too deep; inside, the words for a number too large for any type.
pub fn read_tree(
    reader: &mut Reader<'_>,
    findings: Option<&mut Findings>,
    path: &dyn Display,
) -> Result<Result<Value, String>, Malformed> {
    let (value, mismatch) = Walk::new(reader, findings, MAX_TREE_DEPTH).value_or_mismatch(&Path::below(path));
    value.map(|value| mismatch.map_or(Ok(value), Err))
}

fn parse(
    input: &[u8],
    strictness: Strictness,
    depth: usize,
    max_depth: usize,
) -> Result<(Value, Findings), DecodeError> {
    let mut findings = Findings::default();
    let mut reader = Reader::within(input, depth);
    let wanted = (strictness == Strictness::Strict).then_some(&mut findings);
    let (value, mismatch) = Walk::new(&mut reader, wanted, max_depth).value_or_mismatch(&Path::ROOT);
    match (value.and_then(|value| reader.end().map(|()| value)), mismatch) {
        (Err(Malformed), _) => Err(syntax_error(input)),
        (Ok(_), Some(message)) => Err(DecodeError::Type(message)),
        (Ok(value), None) => Ok((value, findings)),
    }
}

struct Walk<'w, 'a> {
    reader: &'w mut Reader<'a>,
    findings: Option<&'w mut Findings>,
    mismatch: Option<String>,
    max_depth: usize,
}

impl<'w, 'a> Walk<'w, 'a> {
    fn new(reader: &'w mut Reader<'a>, findings: Option<&'w mut Findings>, max_depth: usize) -> Self {
        Self {
            reader,
            findings,
            mismatch: None,
            max_depth,
        }
    }

    /// The value, and the first number in it that no type can hold.
    fn value_or_mismatch(mut self, path: &Path<'_>) -> (Result<Value, Malformed>, Option<String>) {
        let value = self.value(path);
        (value, self.mismatch)
    }

    fn value(&mut self, path: &Path<'_>) -> Result<Value, Malformed> {
        match self.reader.peek()? {
            Next::Null => self.reader.null().map(|()| Value::Null),
            Next::Bool => self.reader.bool().map(Value::Bool),
            Next::Number => {
                let text = self.reader.number()?;
                Ok(self.number(text))
            }
            Next::Text => self.reader.text().map(|text| Value::String(text.into_owned())),
            Next::Array => {
                let mut elements = Vec::new();
                let mut more = self.enter(b']')?;
                while more {
                    elements.push(self.value(&path.index(elements.len()))?);
                    more = self.reader.another(b']')?;
                }
                Ok(Value::Array(elements))
            }
            Next::Object => self.object(path),
        }
    }

    fn object(&mut self, path: &Path<'_>) -> Result<Value, Malformed> {
        let mut entries = Map::new();
        let mut more = self.enter(b'}')?;
        while more {
            let key = self.reader.key()?.into_owned();
            if let Some(findings) = &mut self.findings
                && entries.contains_key(&key)
            {
                findings.duplicate(path, &key);
            }
            let value = self.value(&path.key(&key))?;
            entries.insert(key, value);
            more = self.reader.another(b'}')?;
        }
        Ok(Value::Object(entries))
    }

    fn enter(&mut self, close: u8) -> Result<bool, Malformed> {
        if self.reader.depth() >= self.max_depth {
            Err(Malformed)
        } else {
            self.reader.enter(close)
        }
    }

    fn number(&mut self, text: &str) -> Value {
        if !text.contains('.')
            && let Ok(value) = text.parse::<i64>()
        {
            return Value::Number(value.into());
        }
        let number = text.parse::<f64>().ok().and_then(Number::from_f64);
        number.map(Value::Number).unwrap_or_else(|| {
            self.mismatch
                .get_or_insert_with(|| format!("json: cannot unmarshal number {text} into Go value of type float64"));
            Value::Null
        })
    }
}
