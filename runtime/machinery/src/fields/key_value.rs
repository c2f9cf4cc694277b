//! Plain values that tell elements of lists apart.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use crate::json;
use crate::value::View;

/// A plain value, with the order in which `managedFields` lists it: numbers, text, truth values, then the rest.
#[derive(Clone, Debug)]
pub enum KeyValue<'a> {
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Double(f64),
    /// Text.
    Str(Cow<'a, str>),
    /// A truth value.
    Bool(bool),
    /// Anything else that a client wrote into `managedFields`.
    Other(Box<serde_json::Value>),
}

impl<'a> KeyValue<'a> {
    /// The plain value in a field; `None` when it holds none or something that cannot be a key.
    #[must_use]
    pub fn of(view: &View<'a>) -> Option<Self> {
        match view {
            View::Bool(value) => Some(Self::Bool(*value)),
            View::Int(value) => Some(Self::Int(*value)),
            View::Double(value) => Some(Self::Double(*value)),
            View::Str(text) => Some(Self::Str(Cow::Borrowed(text))),
            View::Scalar(scalar) => {
                let mut json = Vec::new();
                scalar.write_json(&mut json);
                serde_json::from_slice(&json).ok().map(Self::from_json)
            }
            View::Absent | View::Bytes(_) | View::Struct(_) | View::List(_) | View::Map(_) => None,
        }
    }

    /// The plain value of a JSON value.
    #[must_use]
    pub fn from_json(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::String(text) => Self::Str(Cow::Owned(text)),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(value), _) => Self::Int(value),
                (None, Some(value)) => Self::Double(value),
                (None, None) => Self::Other(Box::new(serde_json::Value::Number(number))),
            },
            other => Self::Other(Box::new(other)),
        }
    }

    /// The same value without borrowed parts.
    #[must_use]
    pub fn into_owned(self) -> KeyValue<'static> {
        match self {
            Self::Int(value) => KeyValue::Int(value),
            Self::Double(value) => KeyValue::Double(value),
            Self::Str(text) => KeyValue::Str(Cow::Owned(text.into_owned())),
            Self::Bool(value) => KeyValue::Bool(value),
            Self::Other(value) => KeyValue::Other(value),
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
            Self::Other(value) => json::encode_value(value, out),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Int(_) | Self::Double(_) => 0,
            Self::Str(_) => 1,
            Self::Bool(_) => 2,
            Self::Other(value) if value.is_array() => 3,
            Self::Other(value) if value.is_object() => 4,
            Self::Other(_) => 5,
        }
    }
}

impl Ord for KeyValue<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => left.cmp(right),
            (Self::Double(left), Self::Double(right)) => left.total_cmp(right),
            (Self::Int(left), Self::Double(right)) => whole_with_fraction(*left, *right),
            (Self::Double(left), Self::Int(right)) => whole_with_fraction(*right, *left).reverse(),
            (Self::Str(left), Self::Str(right)) => left.cmp(right),
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::Other(left), Self::Other(right)) if self.rank() == other.rank() => {
                left.to_string().cmp(&right.to_string())
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
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
    let negative_zero = number == 0.0 && number.is_sign_negative();
    let fraction = if negative_zero { -0.0 } else { number - number.trunc() };
    whole.cmp(&(number as i64)).then_with(|| 0.0_f64.total_cmp(&fraction))
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

/// As messages about conflicts show it: text quoted, numbers plain.
impl fmt::Display for KeyValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Double(value) => value.fmt(f),
            Self::Str(text) => f.write_str(&crate::go_format::quote(text)),
            Self::Bool(value) => value.fmt(f),
            Self::Other(value) => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_both_kinds_have_one_order() {
        const LARGE: i64 = 1 << 53;
        let sorted = [
            KeyValue::Double(f64::NEG_INFINITY),
            KeyValue::Int(i64::MIN),
            KeyValue::Double(-1.5),
            KeyValue::Int(-1),
            KeyValue::Double(-0.5),
            KeyValue::Double(-0.0),
            KeyValue::Int(0),
            KeyValue::Double(0.5),
            KeyValue::Int(LARGE),
            KeyValue::Int(LARGE + 1),
            KeyValue::Double(9_007_199_254_740_994.0),
            KeyValue::Int(i64::MAX),
            KeyValue::Double(9_223_372_036_854_775_808.0),
            KeyValue::Double(f64::NAN),
        ];
        for (left, one) in sorted.iter().enumerate() {
            for (right, other) in sorted.iter().enumerate() {
                assert_eq!(one.cmp(other), left.cmp(&right), "{one:?} {other:?}");
            }
        }
        assert_eq!(KeyValue::Int(1), KeyValue::Double(1.0));
    }
}
