//! Plain values that tell elements of lists apart.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use planesmith_wire::go_format;

use planesmith_machinery::json;
use planesmith_machinery::value::View;
use planesmith_wire::sorting::sort_by;

/// A value, with the order in which `managedFields` lists it: numbers, text, truth values, lists, objects, null.
#[derive(Clone, Debug)]
pub enum KeyValue<'a> {
    /// A whole number.
    Int(i64),
    /// A number with a fraction, or one that is too large to be whole.
    Double(f64),
    /// Text.
    Str(Cow<'a, str>),
    /// A truth value.
    Bool(bool),
    /// A list that a client wrote into `managedFields`.
    List(Box<[KeyValue<'a>]>),
    /// An object that a client wrote into `managedFields`, sorted by name.
    Map(Box<[(Cow<'a, str>, KeyValue<'a>)]>),
    /// A null that a client wrote into `managedFields` or gave as a key.
    Null,
}

impl<'a> KeyValue<'a> {
    /// The plain value in a field; `None` when it holds none or something that cannot be a key.
    #[must_use]
    pub fn from_view(view: &View<'a>) -> Option<Self> {
        match view {
            View::Bool(value) => Some(Self::Bool(*value)),
            View::Int(value) => Some(Self::Int(*value)),
            View::Double(value) => Some(Self::of_number(*value)),
            View::Str(text) => Some(Self::Str(Cow::Borrowed(text))),
            View::Scalar(scalar) => {
                let mut json = Vec::new();
                scalar.write_json(&mut json);
                serde_json::from_slice(&json).ok().map(Self::from_json)
            }
            View::Absent | View::Bytes(_) | View::Struct(_) | View::List(_) | View::Map(_) => None,
        }
    }

    /// The value of a JSON value.
    #[must_use]
    pub fn from_json(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::String(text) => Self::Str(Cow::Owned(text)),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(value) => Self::Int(value),
                None => number.as_f64().map_or(Self::Null, Self::of_number),
            },
            serde_json::Value::Array(elements) => Self::List(elements.into_iter().map(Self::from_json).collect()),
            serde_json::Value::Object(entries) => {
                let entry = |(name, value)| (Cow::Owned(name), Self::from_json(value));
                let mut entries: Vec<_> = entries.into_iter().map(entry).collect();
                sort_by(&mut entries, |left: &(Cow<'_, str>, Self), right| left.0.cmp(&right.0));
                Self::Map(entries.into())
            }
        }
    }

    /// The value of a number's shortest text, which has no fraction for a whole number. The text of a large whole number
    /// may be another integer than the number itself: it has only as many digits as identify the number.
    fn of_number(number: f64) -> Self {
        // The text of -0 would lose the sign as an integer.
        let is_whole = number.fract() == 0.0 && number != 0.0;
        let whole = if is_whole {
            number.to_string().parse().ok()
        } else {
            None
        };
        whole.map_or(Self::Double(number), Self::Int)
    }

    /// The same value without borrowed parts.
    #[must_use]
    pub fn into_owned(self) -> KeyValue<'static> {
        match self {
            Self::Int(value) => KeyValue::Int(value),
            Self::Double(value) => KeyValue::Double(value),
            Self::Str(text) => KeyValue::Str(Cow::Owned(text.into_owned())),
            Self::Bool(value) => KeyValue::Bool(value),
            Self::List(elements) => KeyValue::List(elements.into_iter().map(Self::into_owned).collect()),
            Self::Map(entries) => {
                let owned = |(name, value): (Cow<'a, str>, Self)| (Cow::Owned(name.into_owned()), value.into_owned());
                KeyValue::Map(entries.into_iter().map(owned).collect())
            }
            Self::Null => KeyValue::Null,
        }
    }

    /// Appends the JSON form.
    pub(crate) fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Self::Double(value) => {
                let number = serde_json::Number::from_f64(*value);
                json::encode_value(&number.map_or(serde_json::Value::Null, serde_json::Value::Number), out);
            }
            Self::Str(text) => json::encode_text(text, out),
            Self::Bool(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Self::List(elements) => json::encode_array(elements.iter(), out, KeyValue::write_json),
            Self::Map(entries) => write_entries(entries, out),
            Self::Null => out.extend_from_slice(b"null"),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Int(_) | Self::Double(_) => 0,
            Self::Str(_) => 1,
            Self::Bool(_) => 2,
            Self::List(_) => 3,
            Self::Map(_) => 4,
            Self::Null => 5,
        }
    }
}

/// Appends the JSON form of an object.
pub(super) fn write_entries(entries: &[(Cow<'_, str>, KeyValue<'_>)], out: &mut Vec<u8>) {
    let entries = entries.iter().map(|(name, value)| (&**name, value));
    json::encode_object(entries, out, KeyValue::write_json);
}

impl Ord for KeyValue<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => left.cmp(right),
            (Self::Double(left), Self::Double(right)) => with_fractions(*left, *right),
            (Self::Int(left), Self::Double(right)) => whole_with_fraction(*left, *right),
            (Self::Double(left), Self::Int(right)) => whole_with_fraction(*right, *left).reverse(),
            (Self::Str(left), Self::Str(right)) => left.cmp(right),
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::List(left), Self::List(right)) => left.cmp(right),
            (Self::Map(left), Self::Map(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// The order of numbers; -0 is 0.
fn with_fractions(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.total_cmp(&right))
}

/// Compares exactly: rounding either would make values equal to one that are not equal to each other.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is out of range was compared before, and the fraction is compared behind"
)]
fn whole_with_fraction(whole: i64, number: f64) -> Ordering {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if number.is_nan() {
        return 0.0_f64.total_cmp(&number);
    }
    if number >= LIMIT {
        return Ordering::Less;
    }
    if number < -LIMIT {
        return Ordering::Greater;
    }
    whole
        .cmp(&(number as i64))
        .then_with(|| with_fractions(0.0, number.fract()))
}

impl PartialOrd for KeyValue<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for KeyValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for KeyValue<'_> {}

/// As messages about conflicts show it: text quoted, numbers plain, entries of objects with nothing between them.
impl fmt::Display for KeyValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Double(value) => f.write_str(&go_format::float(*value)),
            Self::Str(text) => f.write_str(&go_format::quote(text)),
            Self::Bool(value) => value.fmt(f),
            Self::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if index == 0 { "[" } else { "," })?;
                }
                f.write_str(if elements.is_empty() { "[]" } else { "]" })
            }
            Self::Map(entries) => entries.iter().try_for_each(|(name, value)| write!(f, "{name}={value}")),
            Self::Null => f.write_str("null"),
        }
    }
}

#[cfg(test)]
mod tests;
