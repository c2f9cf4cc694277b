//! Values as texts.

use std::fmt::Write;

use crate::value::{Fault, Library, Value};

/// A value as messages and `string()` show it.
pub(crate) fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => double(*value),
        Value::String(text) => text.to_string(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Duration(nanoseconds) => seconds(*nanoseconds),
        Value::Timestamp(time) => time.to_string(),
        Value::List(list) => {
            let elements: Vec<String> = list.iter().flatten().map(|element| plain(&element)).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::Map(map) => {
            let entries = map.entries().unwrap_or_default();
            let shown = |(key, value): &(Value<'_>, Value<'_>)| format!("{}: {}", plain(key), plain(value));
            let mut entries: Vec<String> = entries.iter().map(shown).collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Type(ty) => ty.to_string(),
        Value::Optional(Some(value)) => format!("optional({})", plain(value)),
        Value::Optional(None) => "optional.none()".to_owned(),
        Value::Unknown(json) => json.to_string(),
        Value::Library(library) => match library {
            Library::Url(url) => url.text.clone(),
            Library::Ip(address) => address.to_string(),
            Library::Cidr(address, bits) => format!("{address}/{bits}"),
            Library::Quantity(quantity) => quantity.to_string(),
            Library::Semver(version) => version.to_string(),
            Library::Format(format) => format.name.to_owned(),
        },
    }
}

/// Seconds with as many digits as there are, `1.5s`.
fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let whole = nanoseconds.unsigned_abs();
    let text = format!("{sign}{}.{:09}", whole / 1_000_000_000, whole % 1_000_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A number as Go's `%g` shows it.
pub(crate) fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `format` with its `%` clauses replaced by `values`.
pub(super) fn format(format: &str, values: &[Value<'_>]) -> Result<String, Fault> {
    const MAX_PRECISION: usize = 1000;
    let mut out = String::new();
    let mut values = values.iter();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if rest.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let mut precision = 6;
        if rest.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            precision = digits.parse().unwrap_or(6).min(MAX_PRECISION);
        }
        let verb = rest.next().ok_or_else(|| Fault::new("unexpected end of string"))?;
        let Some(value) = values.next() else {
            return Err(Fault::new("index out of range: too few arguments for format string"));
        };
        clause(&mut out, verb, precision, value)?;
    }
    Ok(out)
}

fn clause(out: &mut String, verb: char, precision: usize, value: &Value<'_>) -> Result<(), Fault> {
    let refused = |takes: &str| {
        Fault::new(format!(
            "error during formatting: {takes}, was given {}",
            value.type_name()
        ))
    };
    // Writing to a String cannot fail.
    let _ = match (verb, value) {
        ('s', value) => write!(out, "{}", plain(value)),
        ('d', Value::Int(_) | Value::Uint(_)) => write!(out, "{}", plain(value)),
        ('d', Value::Double(number)) if !number.is_finite() => write!(out, "{}", named(*number)),
        ('d', _) => return Err(refused("decimal clause can only be used on integers")),
        ('f' | 'e', Value::Double(number)) => real(out, verb, precision, *number),
        #[expect(clippy::cast_precision_loss, reason = "the nearest number is shown")]
        ('f' | 'e', Value::Int(number)) => real(out, verb, precision, *number as f64),
        #[expect(clippy::cast_precision_loss, reason = "the nearest number is shown")]
        ('f' | 'e', Value::Uint(number)) => real(out, verb, precision, *number as f64),
        ('f', _) => return Err(refused("fixed-point clause can only be used on doubles")),
        ('e', _) => return Err(refused("scientific clause can only be used on doubles")),
        ('b', Value::Bool(flag)) => write!(out, "{}", u8::from(*flag)),
        ('x', Value::String(text)) => text.bytes().try_for_each(|byte| write!(out, "{byte:02x}")),
        ('X', Value::String(text)) => text.bytes().try_for_each(|byte| write!(out, "{byte:02X}")),
        ('x', Value::Bytes(bytes)) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}")),
        ('X', Value::Bytes(bytes)) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02X}")),
        ('b' | 'x' | 'X' | 'o', Value::Int(number)) => {
            let sign = if *number < 0 { "-" } else { "" };
            write!(out, "{sign}").and_then(|()| radix(out, verb, number.unsigned_abs()))
        }
        ('b' | 'x' | 'X' | 'o', Value::Uint(number)) => radix(out, verb, *number),
        ('b' | 'o', _) => return Err(refused("only integers can be formatted so")),
        ('x' | 'X', _) => {
            return Err(refused(
                "only integers, byte buffers, and strings can be formatted as hex",
            ));
        }
        _ => {
            return Err(Fault::new(format!(
                "could not parse formatting clause: unrecognized formatting clause \"{verb}\""
            )));
        }
    };
    Ok(())
}

fn radix(out: &mut String, verb: char, number: u64) -> std::fmt::Result {
    match verb {
        'b' => write!(out, "{number:b}"),
        'o' => write!(out, "{number:o}"),
        'X' => write!(out, "{number:X}"),
        _ => write!(out, "{number:x}"),
    }
}

fn named(number: f64) -> &'static str {
    match number {
        number if number.is_nan() => "NaN",
        number if number > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

fn real(out: &mut String, verb: char, precision: usize, number: f64) -> std::fmt::Result {
    if !number.is_finite() {
        return write!(out, "{}", named(number));
    }
    if verb == 'f' {
        return write!(out, "{number:.precision$}");
    }
    let scientific = format!("{number:.precision$e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(out, "{digits}e{sign}{:02}", exponent.abs())
}
