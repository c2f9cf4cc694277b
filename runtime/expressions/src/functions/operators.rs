//! Operators, indexes, sizes and membership. The evaluator implements `&&`, `||` and `?:` itself, because they evaluate
//! operands conditionally.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Context, Entry, count, no_such_overload, unsupported};
use crate::ast::operator;
use crate::library::instant::Instant;
use crate::value::{Evaluated, Fault, List, Value, compare, equal_or_false, equals, field_of, includes};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("_?_:_: (bool, A, A) A", "conditional", lazy),
    ("_&&_: (bool, bool) bool", "logical_and", lazy),
    ("_||_: (bool, bool) bool", "logical_or", lazy),
    ("!_: (bool) bool", "logical_not", not),
    ("@not_strictly_false: (bool) bool", "not_strictly_false", lazy),
    ("_==_: (A, A) bool", "equals", equal),
    ("_!=_: (A, A) bool", "not_equals", unequal),
    ("_+_: (bytes, bytes) bytes", "add_bytes", add),
    ("_+_: (double, double) double", "add_double", add),
    ("_+_: (duration, duration) duration", "add_duration_duration", add),
    ("_+_: (duration, timestamp) timestamp", "add_duration_timestamp", add),
    ("_+_: (timestamp, duration) timestamp", "add_timestamp_duration", add),
    ("_+_: (int, int) int", "add_int64", add),
    ("_+_: (list(A), list(A)) list(A)", "add_list", add),
    ("_+_: (string, string) string", "add_string", add),
    ("_+_: (uint, uint) uint", "add_uint64", add),
    ("_-_: (double, double) double", "subtract_double", subtract),
    (
        "_-_: (duration, duration) duration",
        "subtract_duration_duration",
        subtract,
    ),
    ("_-_: (int, int) int", "subtract_int64", subtract),
    (
        "_-_: (timestamp, duration) timestamp",
        "subtract_timestamp_duration",
        subtract,
    ),
    (
        "_-_: (timestamp, timestamp) duration",
        "subtract_timestamp_timestamp",
        subtract,
    ),
    ("_-_: (uint, uint) uint", "subtract_uint64", subtract),
    ("_*_: (double, double) double", "multiply_double", multiply),
    ("_*_: (int, int) int", "multiply_int64", multiply),
    ("_*_: (uint, uint) uint", "multiply_uint64", multiply),
    ("_/_: (double, double) double", "divide_double", divide),
    ("_/_: (int, int) int", "divide_int64", divide),
    ("_/_: (uint, uint) uint", "divide_uint64", divide),
    ("_%_: (int, int) int", "modulo_int64", remainder),
    ("_%_: (uint, uint) uint", "modulo_uint64", remainder),
    ("-_: (double) double", "negate_double", negate),
    ("-_: (int) int", "negate_int64", negate),
    ("_<_: (bool, bool) bool", "less_bool", less),
    ("_<_: (int, int) bool", "less_int64", less),
    ("_<_: (int, double) bool", "less_int64_double", less),
    ("_<_: (int, uint) bool", "less_int64_uint64", less),
    ("_<_: (uint, uint) bool", "less_uint64", less),
    ("_<_: (uint, double) bool", "less_uint64_double", less),
    ("_<_: (uint, int) bool", "less_uint64_int64", less),
    ("_<_: (double, double) bool", "less_double", less),
    ("_<_: (double, int) bool", "less_double_int64", less),
    ("_<_: (double, uint) bool", "less_double_uint64", less),
    ("_<_: (string, string) bool", "less_string", less),
    ("_<_: (bytes, bytes) bool", "less_bytes", less),
    ("_<_: (timestamp, timestamp) bool", "less_timestamp", less),
    ("_<_: (duration, duration) bool", "less_duration", less),
    ("_<=_: (bool, bool) bool", "less_equals_bool", at_most),
    ("_<=_: (int, int) bool", "less_equals_int64", at_most),
    ("_<=_: (int, double) bool", "less_equals_int64_double", at_most),
    ("_<=_: (int, uint) bool", "less_equals_int64_uint64", at_most),
    ("_<=_: (uint, uint) bool", "less_equals_uint64", at_most),
    ("_<=_: (uint, double) bool", "less_equals_uint64_double", at_most),
    ("_<=_: (uint, int) bool", "less_equals_uint64_int64", at_most),
    ("_<=_: (double, double) bool", "less_equals_double", at_most),
    ("_<=_: (double, int) bool", "less_equals_double_int64", at_most),
    ("_<=_: (double, uint) bool", "less_equals_double_uint64", at_most),
    ("_<=_: (string, string) bool", "less_equals_string", at_most),
    ("_<=_: (bytes, bytes) bool", "less_equals_bytes", at_most),
    ("_<=_: (timestamp, timestamp) bool", "less_equals_timestamp", at_most),
    ("_<=_: (duration, duration) bool", "less_equals_duration", at_most),
    ("_>_: (bool, bool) bool", "greater_bool", greater),
    ("_>_: (int, int) bool", "greater_int64", greater),
    ("_>_: (int, double) bool", "greater_int64_double", greater),
    ("_>_: (int, uint) bool", "greater_int64_uint64", greater),
    ("_>_: (uint, uint) bool", "greater_uint64", greater),
    ("_>_: (uint, double) bool", "greater_uint64_double", greater),
    ("_>_: (uint, int) bool", "greater_uint64_int64", greater),
    ("_>_: (double, double) bool", "greater_double", greater),
    ("_>_: (double, int) bool", "greater_double_int64", greater),
    ("_>_: (double, uint) bool", "greater_double_uint64", greater),
    ("_>_: (string, string) bool", "greater_string", greater),
    ("_>_: (bytes, bytes) bool", "greater_bytes", greater),
    ("_>_: (timestamp, timestamp) bool", "greater_timestamp", greater),
    ("_>_: (duration, duration) bool", "greater_duration", greater),
    ("_>=_: (bool, bool) bool", "greater_equals_bool", at_least),
    ("_>=_: (int, int) bool", "greater_equals_int64", at_least),
    ("_>=_: (int, double) bool", "greater_equals_int64_double", at_least),
    ("_>=_: (int, uint) bool", "greater_equals_int64_uint64", at_least),
    ("_>=_: (uint, uint) bool", "greater_equals_uint64", at_least),
    ("_>=_: (uint, double) bool", "greater_equals_uint64_double", at_least),
    ("_>=_: (uint, int) bool", "greater_equals_uint64_int64", at_least),
    ("_>=_: (double, double) bool", "greater_equals_double", at_least),
    ("_>=_: (double, int) bool", "greater_equals_double_int64", at_least),
    ("_>=_: (double, uint) bool", "greater_equals_double_uint64", at_least),
    ("_>=_: (string, string) bool", "greater_equals_string", at_least),
    ("_>=_: (bytes, bytes) bool", "greater_equals_bytes", at_least),
    (
        "_>=_: (timestamp, timestamp) bool",
        "greater_equals_timestamp",
        at_least,
    ),
    ("_>=_: (duration, duration) bool", "greater_equals_duration", at_least),
    ("_[_]: (list(A), int) A", "index_list", index),
    ("_[_]: (map(A, B), A) B", "index_map", index),
    (
        "_[_]: (optional(list(A)), int) optional(A)",
        "optional_list_index_int",
        optional_index,
    ),
    (
        "_[_]: (optional(map(A, B)), A) optional(B)",
        "optional_map_index_value",
        optional_index,
    ),
    (
        "_[?_]: (list(A), int) optional(A)",
        "list_optindex_optional_int",
        optional_index,
    ),
    (
        "_[?_]: (optional(list(A)), int) optional(A)",
        "optional_list_optindex_optional_int",
        optional_index,
    ),
    (
        "_[?_]: (map(A, B), A) optional(B)",
        "map_optindex_optional_value",
        optional_index,
    ),
    (
        "_[?_]: (optional(map(A, B)), A) optional(B)",
        "optional_map_optindex_optional_value",
        optional_index,
    ),
    ("@in: (A, list(A)) bool", "in_list", contained),
    ("@in: (A, map(A, B)) bool", "in_map", contained),
    ("size: (bytes) int", "size_bytes", size),
    ("size: bytes.() int", "bytes_size", size),
    ("size: (list(A)) int", "size_list", size),
    ("size: list(A).() int", "list_size", size),
    ("size: (map(A, B)) int", "size_map", size),
    ("size: map(A, B).() int", "map_size", size),
    ("size: (string) int", "size_string", size),
    ("size: string.() int", "string_size", size),
];

/// True if values such as `operand` have an implementation of `function`, which may refuse other operands. Texts and times
/// have one of every function. `None` if the function is none of those that cel-go implements by type.
pub(super) fn is_operand(function: &str, operand: &Value<'_>) -> Option<bool> {
    use Value::{Bool, Bytes, Double, Duration, Int, List, Map, String, Timestamp, Uint};
    let is_number = matches!(operand, Int(_) | Uint(_) | Double(_));
    let is_implemented = match function {
        "_<_" | "_<=_" | "_>_" | "_>=_" => is_number || matches!(operand, Bool(_) | Bytes(_)),
        operator::ADD => is_number || matches!(operand, Bytes(_) | List(_)),
        "_-_" | "_*_" | "_/_" => is_number,
        "_%_" => matches!(operand, Int(_) | Uint(_)),
        operator::NEGATE => matches!(operand, Bool(_) | Int(_) | Double(_)),
        "size" => matches!(operand, Bytes(_) | List(_) | Map(_)),
        "matches" => false,
        _ => return None,
    };
    Some(is_implemented || matches!(operand, String(_) | Duration(_) | Timestamp(_)))
}

fn lazy<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    args.into_iter().next().ok_or_else(super::unfit)
}

fn pair<'d>(args: Vec<Value<'d>>) -> Result<(Value<'d>, Value<'d>), Fault> {
    let mut args = args.into_iter();
    args.next().zip(args.next()).ok_or_else(super::unfit)
}

fn not<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    match args.first() {
        Some(Value::Bool(value)) => Ok(Value::Bool(!value)),
        _ => Err(no_such_overload("!_", &args)),
    }
}

fn equal<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (one, other) = pair(args)?;
    equals(&mut context.effort, &one, &other).map(Value::Bool)
}

fn unequal<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (one, other) = pair(args)?;
    equal_or_false(&mut context.effort, &one, &other).map(|equal| Value::Bool(!equal))
}

/// Returns the sum of two values.
pub(super) fn add<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(match pair(args)? {
        (Value::Int(one), Value::Int(other)) => Value::Int(one.checked_add(other).ok_or_else(int_overflow)?),
        (Value::Uint(one), Value::Uint(other)) => Value::Uint(one.checked_add(other).ok_or_else(uint_overflow)?),
        (Value::Double(one), Value::Double(other)) => Value::Double(one + other),
        (Value::String(one), Value::String(other)) => Value::text([&*one, &*other].concat()),
        (Value::Bytes(one), Value::Bytes(other)) => Value::Bytes([&*one, &*other].concat().into()),
        (Value::Duration(one), Value::Duration(other)) => {
            Value::Duration(one.checked_add(other).ok_or_else(duration_overflow)?)
        }
        (Value::Timestamp(time), Value::Duration(duration)) | (Value::Duration(duration), Value::Timestamp(time)) => {
            later(time, duration)?
        }
        (Value::List(one), Value::List(other)) => concatenated(context, one, &other)?,
        (one, other) => return Err(no_such_overload("_+_", &[one, other])),
    })
}

fn concatenated<'d>(context: &mut Context<'_>, one: List<'d>, other: &List<'d>) -> Evaluated<'d> {
    // A loop accumulator has no other owner, so elements are appended in place.
    let mut elements = match one {
        List::Owned(elements) if Rc::strong_count(&elements) == 1 => elements,
        shared => Rc::new(context.elements(&shared)?),
    };
    Rc::make_mut(&mut elements).extend(context.elements(other)?);
    Ok(Value::List(List::Owned(elements)))
}

fn later<'d>(time: Instant, nanoseconds: i64) -> Evaluated<'d> {
    let moved = time.checked_add(nanoseconds).ok_or_else(timestamp_overflow)?;
    Ok(Value::Timestamp(moved))
}

fn subtract<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(match pair(args)? {
        (Value::Int(one), Value::Int(other)) => Value::Int(one.checked_sub(other).ok_or_else(int_overflow)?),
        (Value::Uint(one), Value::Uint(other)) => Value::Uint(one.checked_sub(other).ok_or_else(uint_overflow)?),
        (Value::Double(one), Value::Double(other)) => Value::Double(one - other),
        (Value::Duration(one), Value::Duration(other)) => {
            Value::Duration(one.checked_sub(other).ok_or_else(duration_overflow)?)
        }
        (Value::Timestamp(one), Value::Duration(other)) => {
            later(one, other.checked_neg().ok_or_else(timestamp_overflow)?)?
        }
        (Value::Timestamp(one), Value::Timestamp(other)) => {
            Value::Duration(one.since(other).ok_or_else(duration_overflow)?)
        }
        (one, other) => return Err(no_such_overload("_-_", &[one, other])),
    })
}

fn multiply<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(match pair(args)? {
        (Value::Int(one), Value::Int(other)) => Value::Int(one.checked_mul(other).ok_or_else(int_overflow)?),
        (Value::Uint(one), Value::Uint(other)) => Value::Uint(one.checked_mul(other).ok_or_else(uint_overflow)?),
        (Value::Double(one), Value::Double(other)) => Value::Double(one * other),
        (one, other) => return Err(no_such_overload("_*_", &[one, other])),
    })
}

fn divide<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(match pair(args)? {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            return Err(Fault::new("division by zero"));
        }
        (Value::Int(one), Value::Int(other)) => Value::Int(one.checked_div(other).ok_or_else(int_overflow)?),
        (Value::Uint(one), Value::Uint(other)) => Value::Uint(one / other),
        (Value::Double(one), Value::Double(other)) => Value::Double(one / other),
        (one, other) => return Err(no_such_overload("_/_", &[one, other])),
    })
}

fn remainder<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(match pair(args)? {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            return Err(Fault::new("modulus by zero"));
        }
        (Value::Int(one), Value::Int(other)) => Value::Int(one.checked_rem(other).ok_or_else(int_overflow)?),
        (Value::Uint(one), Value::Uint(other)) => Value::Uint(one % other),
        (one, other) => return Err(no_such_overload("_%_", &[one, other])),
    })
}

pub(super) fn negate<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(match args.first() {
        Some(Value::Int(value)) => Value::Int(value.checked_neg().ok_or_else(int_overflow)?),
        Some(Value::Double(value)) => Value::Double(-value),
        Some(Value::Duration(value)) => Value::Duration(value.checked_neg().ok_or_else(duration_overflow)?),
        _ => return Err(unsupported(context, operator::NEGATE, &args)),
    })
}

fn int_overflow() -> Fault {
    Fault::new("integer overflow")
}

fn uint_overflow() -> Fault {
    Fault::new("unsigned integer overflow")
}

fn duration_overflow() -> Fault {
    Fault::new("duration overflow")
}

fn timestamp_overflow() -> Fault {
    Fault::new("timestamp overflow")
}

fn ordered<'d>(name: &str, args: &[Value<'d>], holds: fn(Ordering) -> bool) -> Evaluated<'d> {
    match args {
        [Value::Double(one), Value::Double(other)] if one.is_nan() || other.is_nan() => Ok(Value::Bool(false)),
        [one, other] => compare(one, other)
            .map(|ordering| Value::Bool(holds(ordering)))
            .ok_or_else(|| no_such_overload(name, args)),
        _ => Err(no_such_overload(name, args)),
    }
}

fn less<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    ordered("_<_", &args, Ordering::is_lt)
}

fn at_most<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    ordered("_<=_", &args, Ordering::is_le)
}

fn greater<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    ordered("_>_", &args, Ordering::is_gt)
}

fn at_least<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    ordered("_>=_", &args, Ordering::is_ge)
}

/// Returns the part of `container` under `key`; `None` if the part is absent, or if such values have no parts.
fn element<'d>(container: &Value<'d>, key: &Value<'_>) -> Result<Option<Value<'d>>, Fault> {
    match (container, key) {
        (Value::List(list), _) => match usize::try_from(list_index(key)?) {
            Ok(index) => list.get(index).transpose(),
            Err(_) => Ok(None),
        },
        (Value::Map(map), _) => map.get(key).transpose(),
        (_, Value::String(name)) => field_of(container, name),
        _ => Ok(None),
    }
}

/// The first double that is too large for an integer.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

fn list_index(key: &Value<'_>) -> Result<i64, Fault> {
    let whole = match key {
        Value::Int(index) => Some(*index),
        Value::Uint(index) => i64::try_from(*index).ok(),
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and in the range")]
        Value::Double(index) if index.fract() == 0.0 && (-TWO_TO_63..TWO_TO_63).contains(index) => Some(*index as i64),
        Value::Double(_) => None,
        other => {
            let found = other.type_name();
            return Err(Fault::new(format!("unsupported index type '{found}' in list")));
        }
    };
    whole.ok_or_else(|| {
        let shown = super::format::plain(key);
        Fault::new(format!("unsupported index value {shown} in list"))
    })
}

/// `container[key]`, for values of all types.
pub(super) fn index<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    if let [Value::Optional(_), _] = args.as_slice() {
        return optional_index(context, args);
    }
    let (container, key) = pair(args)?;
    if let Some(found) = element(&container, &key)? {
        return Ok(found);
    }
    let shown = super::format::plain(&key);
    Err(match container {
        Value::List(_) => Fault::new(format!("index out of bounds: {shown}")),
        _ => Fault::new(format!("no such key: {shown}")),
    })
}

/// `container[?key]`, for values of all types.
pub(super) fn optional_index<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (container, key) = pair(args)?;
    let container = match container {
        Value::Optional(None) => return Ok(Value::Optional(None)),
        Value::Optional(Some(inner)) => *inner,
        other => other,
    };
    Ok(Value::Optional(element(&container, &key)?.map(Box::new)))
}

fn contained<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    match pair(args)? {
        (key, Value::Map(map)) => Ok(Value::Bool(map.get(&key).transpose()?.is_some())),
        (value, Value::List(list)) => includes(&mut context.effort, &list, &value).map(Value::Bool),
        (one, other) => Err(no_such_overload("@in", &[one, other])),
    }
}

fn size<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let sized = args.first().ok_or_else(super::unfit)?;
    Ok(count(usize::try_from(sized.size()).unwrap_or(usize::MAX)))
}
