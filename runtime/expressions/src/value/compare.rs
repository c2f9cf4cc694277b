//! Equality and order of values.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use planesmith_dynamic::structural::ListKind;
use serde_json::Value as Json;

use super::effort::COMPARISON;
use super::{Constructed, Effort, Fault, Key, Library, List, Map, Value, unescaped};

/// True if two values are equal. Numbers of different types are equal if they have the same numeric value; other values of
/// different types never are.
///
/// # Errors
///
/// `one` is a value of a library and `other` is none of the same type, or a quantity that was computed: the types of the
/// libraries do not know others, as in kube-apiserver.
pub(crate) fn equals(effort: &mut Effort, one: &Value<'_>, other: &Value<'_>) -> Result<bool, Fault> {
    effort.takes(COMPARISON)?;
    Ok(match (one, other) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::String(one), Value::String(other)) => **one == **other,
        (Value::Bytes(one), Value::Bytes(other)) => one == other,
        (Value::Duration(one), Value::Duration(other)) => one == other,
        (Value::Timestamp(one), Value::Timestamp(other)) => one == other,
        (Value::Type(_), Value::Type(_)) => one.type_value() == other.type_value(),
        (Value::Optional(one), Value::Optional(other)) => match (one, other) {
            (Some(one), Some(other)) => equals(effort, one, other)?,
            (one, other) => one.is_none() && other.is_none(),
        },
        (Value::List(one), Value::List(other)) => lists(effort, one, other)?,
        (Value::Map(one), Value::Map(other)) => maps(effort, one, other)?,
        (Value::Object(one), Value::Object(other)) => objects(effort, one, other)?,
        (Value::Unknown(one), Value::Unknown(other)) => one == other,
        (Value::Library(_), Value::Null) => false,
        (Value::Library(one), Value::Library(other)) => libraries(one, other).ok_or_else(incomparable)?,
        (Value::Library(_), _) => return Err(incomparable()),
        (one, other) if is_number(one) && is_number(other) => numbers(one, other) == Some(Ordering::Equal),
        _ => false,
    })
}

/// True if two values are equal; values that cannot be compared are not.
pub(crate) fn equal_or_false(effort: &mut Effort, one: &Value<'_>, other: &Value<'_>) -> Result<bool, Fault> {
    match equals(effort, one, other) {
        Err(fault) if !fault.is_final() => Ok(false),
        result => result,
    }
}

/// True if two parts of lists or maps do not differ; parts that cannot be compared do not.
fn equal_or_true(effort: &mut Effort, one: &Value<'_>, other: &Value<'_>) -> Result<bool, Fault> {
    match equals(effort, one, other) {
        Err(fault) if !fault.is_final() => Ok(true),
        result => result,
    }
}

impl Value<'_> {
    fn type_value(&self) -> Option<String> {
        let Value::Type(ty) = self else { return None };
        let shown = ty.to_string();
        // `type([1])` and `list` are equal, whatever the element type.
        Some(shown.split('(').next().unwrap_or_default().to_owned())
    }
}

fn is_number(value: &Value<'_>) -> bool {
    matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "exact comparison follows where rounding could matter"
)]
fn numbers(one: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    let whole = |value: &Value<'_>| match value {
        Value::Int(value) => Some(i128::from(*value)),
        Value::Uint(value) => Some(i128::from(*value)),
        _ => None,
    };
    let double = |value: &Value<'_>| match value {
        Value::Double(value) => *value,
        other => whole(other).unwrap_or_default() as f64,
    };
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => double(one).partial_cmp(&double(other)),
    }
}

fn lists(effort: &mut Effort, one: &List<'_>, other: &List<'_>) -> Result<bool, Fault> {
    if one.len() != other.len() {
        return Ok(false);
    }
    match (one, other) {
        (List::View { elements, kind, .. }, List::View { elements: others, .. }) => match kind {
            ListKind::Set => return Ok(same_set(elements, others)),
            ListKind::Map(keys) => return same_by_key(effort, one, other, keys),
            ListKind::Atomic => {}
        },
        (
            List::View {
                kind: ListKind::Set, ..
            },
            List::Owned(_),
        ) => {
            return contains_all(effort, one, other);
        }
        _ => {}
    }
    for (one, other) in one.iter().zip(other.iter()) {
        if !equal_or_true(effort, &one?, &other?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if a list contains an element.
pub(crate) fn includes(effort: &mut Effort, list: &List<'_>, value: &Value<'_>) -> Result<bool, Fault> {
    for element in list.iter() {
        if equal_or_false(effort, value, &element?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if `one` contains all elements of `other`.
pub(crate) fn contains_all(effort: &mut Effort, one: &List<'_>, other: &List<'_>) -> Result<bool, Fault> {
    for element in other.iter() {
        if !includes(effort, one, &element?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same_set(one: &[Json], other: &[Json]) -> bool {
    let texts = |elements: &[Json]| {
        elements
            .iter()
            .map(Json::to_string)
            .collect::<std::collections::BTreeSet<_>>()
    };
    texts(one) == texts(other)
}

fn same_by_key(effort: &mut Effort, one: &List<'_>, other: &List<'_>, keys: &[Box<str>]) -> Result<bool, Fault> {
    let (List::View { elements, .. }, List::View { elements: others, .. }) = (one, other) else {
        return Ok(false);
    };
    let key = |element: &Json| -> String {
        let parts = keys
            .iter()
            .map(|key| element.get(&*unescaped(key)).map(Json::to_string));
        parts.map(|part| part.unwrap_or_default() + "\0").collect()
    };
    let places: BTreeMap<String, usize> = elements.iter().enumerate().map(|(place, e)| (key(e), place)).collect();
    for (index, element) in others.iter().enumerate() {
        let Some(place) = places.get(&key(element)) else {
            return Ok(false);
        };
        if let (Some(one), Some(other)) = (one.get(*place), other.get(index))
            && !equal_or_true(effort, &one?, &other?)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps(effort: &mut Effort, one: &Map<'_>, other: &Map<'_>) -> Result<bool, Fault> {
    if one.len() != other.len() {
        return Ok(false);
    }
    if let (Map::View { entries, .. }, Map::View { entries: others, .. }) = (one, other)
        && !entries.keys().eq(others.keys())
    {
        return Ok(false);
    }
    for (key, value) in one.entries()? {
        let Some(other) = other.get(&key) else {
            return Ok(false);
        };
        if !equal_or_true(effort, &value, &other?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn objects(effort: &mut Effort, one: &Constructed<'_>, other: &Constructed<'_>) -> Result<bool, Fault> {
    if one.name != other.name || one.fields.len() != other.fields.len() {
        return Ok(false);
    }
    for ((name, value), (other_name, other)) in one.fields.iter().zip(&other.fields) {
        if name != other_name || !equals(effort, value, other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn incomparable() -> Fault {
    Fault::new("no such overload")
}

/// Compares values of libraries; `None` if they cannot be compared.
fn libraries(one: &Library, other: &Library) -> Option<bool> {
    Some(match (one, other) {
        (Library::Url(one), Library::Url(other)) => one.text == other.text,
        (Library::Ip(one), Library::Ip(other)) => one == other,
        (Library::Cidr(one, bits), Library::Cidr(other, other_bits)) => one == other && bits == other_bits,
        (Library::Quantity(one) | Library::ComputedQuantity(one), Library::Quantity(other)) => {
            one.cmp(other) == Ordering::Equal
        }
        (Library::Semver(one), Library::Semver(other)) => one.cmp(other) == Ordering::Equal,
        (Library::Format(one), Library::Format(other)) => std::ptr::eq(*one, *other),
        _ => return None,
    })
}

/// Returns the order of two values; `None` if they are not comparable.
pub(crate) fn compare(one: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    match (one, other) {
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        (Value::String(one), Value::String(other)) => Some((**one).cmp(&**other)),
        (Value::Bytes(one), Value::Bytes(other)) => Some(one.cmp(other)),
        (Value::Duration(one), Value::Duration(other)) => Some(one.cmp(other)),
        (Value::Timestamp(one), Value::Timestamp(other)) => Some(one.cmp(other)),
        (one, other) if is_number(one) && is_number(other) => numbers(one, other),
        _ => None,
    }
}

/// Like [`compare`], for sorting values of one type: NaN, which has no order, sorts after all numbers.
pub(crate) fn order(one: &Value<'_>, other: &Value<'_>) -> Ordering {
    let is_nan = |value: &Value<'_>| matches!(value, Value::Double(number) if number.is_nan());
    compare(one, other).unwrap_or_else(|| is_nan(one).cmp(&is_nan(other)))
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Key::String(text.into())
    }
}
