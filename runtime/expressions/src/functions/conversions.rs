//! Type conversions.

use super::{Context, Entry, format, unfit};
use crate::library::instant::{Instant, InvalidInstant};
use crate::library::time;
use crate::value::{Evaluated, Fault, Library, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("type: (A) type(A)", "type", type_of),
    ("dyn: (A) dyn", "to_dyn", same),
    ("bool: (bool) bool", "bool_to_bool", same),
    ("bool: (string) bool", "string_to_bool", to_bool),
    ("bytes: (bytes) bytes", "bytes_to_bytes", same),
    ("bytes: (string) bytes", "string_to_bytes", to_bytes),
    ("double: (double) double", "double_to_double", same),
    ("double: (int) double", "int64_to_double", to_double),
    ("double: (string) double", "string_to_double", to_double),
    ("double: (uint) double", "uint64_to_double", to_double),
    ("duration: (duration) duration", "duration_to_duration", same),
    ("duration: (string) duration", "string_to_duration", to_duration),
    ("int: (int) int", "int64_to_int64", same),
    ("int: (double) int", "double_to_int64", to_int),
    ("int: (duration) int", "duration_to_int64", to_int),
    ("int: (string) int", "string_to_int64", to_int),
    ("int: (timestamp) int", "timestamp_to_int64", to_int),
    ("int: (uint) int", "uint64_to_int64", to_int),
    ("string: (string) string", "string_to_string", same),
    ("string: (bool) string", "bool_to_string", to_string),
    ("string: (bytes) string", "bytes_to_string", to_string),
    ("string: (double) string", "double_to_string", to_string),
    ("string: (duration) string", "duration_to_string", to_string),
    ("string: (int) string", "int64_to_string", to_string),
    ("string: (timestamp) string", "timestamp_to_string", to_string),
    ("string: (uint) string", "uint64_to_string", to_string),
    ("string: (ip) string", "ip_to_string", to_string),
    ("string: (cidr) string", "cidr_to_string", to_string),
    ("timestamp: (timestamp) timestamp", "timestamp_to_timestamp", same),
    ("timestamp: (int) timestamp", "int64_to_timestamp", to_timestamp),
    ("timestamp: (string) timestamp", "string_to_timestamp", to_timestamp),
    ("uint: (uint) uint", "uint64_to_uint64", same),
    ("uint: (double) uint", "double_to_uint64", to_uint),
    ("uint: (int) uint", "int64_to_uint64", to_uint),
    ("uint: (string) uint", "string_to_uint64", to_uint),
];

fn only<'d>(args: Vec<Value<'d>>) -> Evaluated<'d> {
    args.into_iter().next().ok_or_else(unfit)
}

fn same<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    only(args)
}

fn type_of<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    only(args).map(|value| Value::Type(value.type_of()))
}

/// Returns the fault for a string that is no value of type `to`.
fn failed(to: &str) -> Fault {
    Fault::new(format!("type conversion error from 'string' to '{to}'"))
}

fn to_bool<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    match super::text_argument(&args, 0)? {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
        _ => Err(failed("bool")),
    }
}

fn to_bytes<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bytes(super::text_argument(&args, 0)?.as_bytes().into()))
}

#[expect(clippy::cast_precision_loss, reason = "the nearest number is what is asked for")]
fn to_double<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Double(match only(args)? {
        Value::Int(value) => value as f64,
        Value::Uint(value) => value as f64,
        Value::String(text) => text.parse().map_err(|_| failed("double"))?,
        _ => return Err(unfit()),
    }))
}

fn to_duration<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let text = super::text_argument(&args, 0)?;
    time::parse_go_duration(text)
        .map(Value::Duration)
        .ok_or_else(|| failed("google.protobuf.Duration"))
}

#[expect(clippy::cast_possible_truncation, reason = "numbers out of range were refused")]
fn to_int<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    Ok(Value::Int(match only(args)? {
        Value::Double(value) if value > -LIMIT && value < LIMIT => value as i64,
        Value::Double(_) => return Err(Fault::new("integer overflow")),
        Value::Duration(nanoseconds) => nanoseconds,
        Value::String(text) => text.parse().map_err(|_| failed("int"))?,
        Value::Timestamp(time) => time.as_second(),
        Value::Uint(value) => i64::try_from(value).map_err(|_| Fault::new("integer overflow"))?,
        _ => return Err(unfit()),
    }))
}

fn to_string<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let value = only(args)?;
    Ok(Value::text(match &value {
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec())
            .map_err(|_| Fault::new("invalid UTF-8 in bytes, cannot convert to string"))?,
        Value::Library(Library::Ip(address)) => address.to_string(),
        Value::Library(Library::Cidr(address, bits)) => format!("{address}/{bits}"),
        other => format::whole(other, &context.effort)?,
    }))
}

fn to_timestamp<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let overflow = || Fault::new("timestamp overflow");
    let time = match only(args)? {
        Value::Int(seconds) => Instant::from_second(seconds).ok_or_else(overflow)?,
        Value::String(text) => Instant::parse(&text).map_err(|problem| match problem {
            InvalidInstant::Malformed => failed("google.protobuf.Timestamp"),
            InvalidInstant::OutOfRange => overflow(),
        })?,
        _ => return Err(unfit()),
    };
    Ok(Value::Timestamp(time))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers out of range were refused"
)]
fn to_uint<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let overflow = || Fault::new("unsigned integer overflow");
    Ok(Value::Uint(match only(args)? {
        Value::Double(value) if (0.0..18_446_744_073_709_551_616.0).contains(&value) => value as u64,
        Value::Double(_) => return Err(overflow()),
        Value::Int(value) => u64::try_from(value).map_err(|_| overflow())?,
        Value::String(text) => text.parse().map_err(|_| failed("uint"))?,
        _ => return Err(unfit()),
    }))
}
