//! Paths into JSON documents, in the notation of kubectl: `.spec.replicas`, `.metadata.labels.a\.b`, `.items[0]`,
//! `.items[*].name`, `.status.conditions[?(@.type=="Ready")].status`, `..name`.

mod filter;
mod parse;

use std::borrow::Cow;
use std::sync::OnceLock;

use serde_json::Value;

use crate::go_format;
use crate::json::encode_value;
use filter::Filter;

/// The maximum number of values that a path leads to.
const MAX_FOUND: usize = 10_000;

/// A path into a document.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    steps: Vec<Step>,
}

/// A path that is read when it is first needed.
#[derive(Debug)]
pub struct LazyPath {
    text: Cow<'static, str>,
    path: OnceLock<Option<JsonPath>>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// A field of an object.
    Field(Box<str>),
    /// Everything in an object or list.
    All,
    /// A value that has something in it, and all such values below it.
    Below,
    /// Some elements of a list.
    Slice(Slice),
    /// The values of any of these paths.
    Union(Vec<Vec<Step>>),
    /// Elements of a list for which something holds.
    Filter(Box<Filter>),
    /// A value that is written in the path.
    Literal(Value),
}

/// Some elements of a list; numbers below 0 count from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    start: Option<i64>,
    end: Option<i64>,
    /// One element only.
    is_single: bool,
    step: Option<i64>,
}

/// The error for a document that a path does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit;

impl LazyPath {
    /// A path that will be read from `text`.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            path: OnceLock::new(),
        }
    }

    /// Like [`LazyPath::new`], for text that is not part of the program.
    #[must_use]
    pub const fn of(text: String) -> Self {
        Self {
            text: Cow::Owned(text),
            path: OnceLock::new(),
        }
    }

    /// The path; `None` when the text is none.
    #[must_use]
    pub fn get(&self) -> Option<&JsonPath> {
        self.path.get_or_init(|| JsonPath::parse(&self.text).ok()).as_ref()
    }
}

impl JsonPath {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// When it is none; with what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse::action(text).map(|steps| Self { steps })
    }

    /// The name of the field at the top of documents that the path starts with.
    #[must_use]
    pub fn first_field(&self) -> Option<&str> {
        match self.steps.first() {
            Some(Step::Field(name)) => Some(name),
            _ => None,
        }
    }

    /// The values that the path leads to, without missing ones.
    ///
    /// # Errors
    ///
    /// When the document has something else where the path expects a list, or a list without an element it names.
    pub fn find<'a>(&'a self, document: &'a Value) -> Result<Vec<&'a Value>, Misfit> {
        walk(vec![document], &self.steps)
    }

    /// As [`JsonPath::find`], from the value of the field that the path starts with.
    ///
    /// # Errors
    ///
    /// As [`JsonPath::find`].
    pub fn find_below_first<'a>(&'a self, value: &'a Value) -> Result<Vec<&'a Value>, Misfit> {
        walk(vec![value], self.steps.get(1..).unwrap_or_default())
    }
}

/// A value as text: text as it is, lists and objects as JSON.
#[must_use]
pub fn print(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::Number(number) if !number.is_i64() => go_format::float(number.as_f64().unwrap_or_default()),
        Value::Array(_) | Value::Object(_) => {
            let mut json = Vec::new();
            encode_value(value, &mut json);
            String::from_utf8_lossy(&json).into_owned()
        }
        other => go_format::value(other),
    }
}

fn walk<'a>(mut values: Vec<&'a Value>, steps: &'a [Step]) -> Result<Vec<&'a Value>, Misfit> {
    for step in steps {
        values = take(&values, step)?;
        values.truncate(MAX_FOUND);
    }
    Ok(values)
}

fn take<'a>(values: &[&'a Value], step: &'a Step) -> Result<Vec<&'a Value>, Misfit> {
    let mut found = Vec::new();
    match step {
        Step::Field(name) => found.extend(values.iter().filter_map(|value| value.as_object()?.get(&**name))),
        Step::All => found.extend(values.iter().flat_map(|value| inside(value))),
        Step::Below => {
            for value in values {
                below(value, &mut found);
            }
        }
        Step::Slice(slice) => {
            for value in values.iter().filter(|value| !value.is_null()) {
                let elements = value.as_array().ok_or(Misfit)?;
                found.extend(slice.of(elements)?);
            }
        }
        Step::Union(paths) => {
            for path in paths {
                found.extend(walk(values.to_vec(), path)?);
            }
        }
        Step::Filter(filter) => {
            for value in values {
                for element in value.as_array().ok_or(Misfit)? {
                    if filter.holds(element)? {
                        found.push(element);
                    }
                }
            }
        }
        Step::Literal(literal @ Value::String(_)) => found.push(literal),
        Step::Literal(literal) => found.extend(values.iter().map(|_| literal)),
    }
    Ok(found)
}

fn inside(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(elements) => elements.iter().collect(),
        Value::Object(entries) => entries.values().collect(),
        _ => Vec::new(),
    }
}

fn below<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    let inner = inside(value);
    if inner.is_empty() || found.len() >= MAX_FOUND {
        return;
    }
    found.push(value);
    for value in inner {
        below(value, found);
    }
}

impl Slice {
    fn of(self, elements: &[Value]) -> Result<Vec<&Value>, Misfit> {
        let length = i64::try_from(elements.len()).map_err(|_| Misfit)?;
        let from_end = |index: i64| if index < 0 { index + length } else { index };
        let start = from_end(self.start.unwrap_or_default());
        let end = match self.end.unwrap_or(length) {
            0 if self.is_single => length,
            end => from_end(end),
        };
        if start == end {
            return Ok(Vec::new());
        }
        let step = self.step.map_or(Ok(1), usize::try_from).map_err(|_| Misfit)?;
        if step == 0 || start >= length || end > length || start > end {
            return Err(Misfit);
        }
        let index = |index: i64| usize::try_from(index).map_err(|_| Misfit);
        let part = elements.get(index(start)?..index(end)?).ok_or(Misfit)?;
        Ok(part.iter().step_by(step).collect())
    }
}

#[cfg(test)]
mod tests;
