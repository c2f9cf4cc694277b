//! String renderings of values.

use std::fmt::{self, Write};

use planesmith_machinery::go_format;

use crate::value::{Constructed, Effort, Fault, Library, Map, Value};

/// The maximum length of a value rendered in a message, in bytes.
const MAX_RENDERED: usize = 1 << 20;

/// Renders a value for messages, truncated to [`MAX_RENDERED`].
pub(crate) fn plain(value: &Value<'_>) -> String {
    let mut writer = LimitedWriter::within(MAX_RENDERED);
    // The output keeps the part that fits.
    let _ = writer.value(value);
    writer.out
}

/// Renders a whole value as a string; fails if it exceeds the remaining effort.
pub(super) fn whole(value: &Value<'_>, effort: &Effort) -> Result<String, Fault> {
    let mut writer = LimitedWriter::within(effort.left());
    match writer.value(value) {
        Ok(()) => Ok(writer.out),
        Err(fmt::Error) => Err(Fault::TooExpensive),
    }
}

/// A string writer with a length limit. Values share parts, so that a small value can have a huge rendering.
struct LimitedWriter {
    out: String,
    left: usize,
}

impl Write for LimitedWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        self.out.push_str(text);
        Ok(())
    }
}

impl LimitedWriter {
    fn within(limit: usize) -> Self {
        Self {
            out: String::new(),
            left: limit,
        }
    }

    fn value(&mut self, value: &Value<'_>) -> fmt::Result {
        match value {
            Value::Null => self.write_str("null"),
            Value::Bool(value) => write!(self, "{value}"),
            Value::Int(value) => write!(self, "{value}"),
            Value::Uint(value) => write!(self, "{value}"),
            Value::Double(value) => self.write_str(&double(*value)),
            Value::String(text) => self.write_str(text),
            Value::Bytes(bytes) => self.write_str(&String::from_utf8_lossy(bytes)),
            Value::Duration(nanoseconds) => self.write_str(&seconds(*nanoseconds)),
            Value::Timestamp(time) => write!(self, "{time}"),
            Value::List(list) => {
                self.write_str("[")?;
                for (index, element) in list.iter().flatten().enumerate() {
                    self.write_str(if index > 0 { ", " } else { "" })?;
                    self.value(&element)?;
                }
                self.write_str("]")
            }
            Value::Map(map) => self.map(map),
            Value::Object(object) => self.object(object),
            Value::Type(ty) => write!(self, "{ty}"),
            Value::Optional(Some(value)) => {
                self.write_str("optional(")?;
                self.value(value)?;
                self.write_str(")")
            }
            Value::Optional(None) => self.write_str("optional.none()"),
            Value::Unknown(json) => write!(self, "{json}"),
            Value::Library(library) => match library {
                Library::Url(url) => self.write_str(&url.text),
                Library::Ip(address) => write!(self, "{address}"),
                Library::Cidr(address, bits) => write!(self, "{address}/{bits}"),
                Library::Quantity(quantity) => write!(self, "{quantity}"),
                Library::Semver(version) => write!(self, "{version}"),
                Library::Format(format) => self.write_str(format.name),
                Library::Authorizer(_) | Library::Check(..) | Library::Decision(_) => self.write_str(value.type_name()),
            },
        }
    }

    fn object(&mut self, object: &Constructed<'_>) -> fmt::Result {
        self.write_str(object.name)?;
        self.write_str("{")?;
        for (index, (name, value)) in object.fields.iter().enumerate() {
            self.write_str(if index > 0 { ", " } else { "" })?;
            self.write_str(name)?;
            self.write_str(": ")?;
            self.value(value)?;
        }
        self.write_str("}")
    }

    /// Entries are sorted by their rendering.
    fn map(&mut self, map: &Map<'_>) -> fmt::Result {
        let mut entries = Vec::new();
        for (key, value) in map.entries().unwrap_or_default() {
            let mut entry = LimitedWriter::within(self.left);
            entry.value(&key)?;
            entry.write_str(": ")?;
            entry.value(&value)?;
            self.left = entry.left;
            entries.push(entry.out);
        }
        entries.sort();
        let entries = entries.join(", ");
        self.left = self.left.saturating_add(entries.len());
        write!(self, "{{{entries}}}")
    }
}

/// Renders seconds with as many digits as needed, `1.5s`.
pub(crate) fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let whole = nanoseconds.unsigned_abs();
    let text = format!("{sign}{}.{:09}", whole / 1_000_000_000, whole % 1_000_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Renders a number like Go's `%g`.
pub(crate) fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    go_format::float(value)
}

/// Replaces the `%` clauses of `format` by `values`.
pub(super) fn format(format: &str, values: &[Value<'_>], effort: &mut Effort) -> Result<String, Fault> {
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
        let before = out.len();
        clause(&mut out, verb, precision, value, effort)?;
        effort.takes(out.len() - before)?;
    }
    Ok(out)
}

fn clause(out: &mut String, verb: char, precision: usize, value: &Value<'_>, effort: &Effort) -> Result<(), Fault> {
    let refused = |takes: &str| {
        Fault::new(format!(
            "error during formatting: {takes}, was given {}",
            value.type_name()
        ))
    };
    // Writing to a String cannot fail.
    let _ = match (verb, value) {
        ('s', value) => write!(out, "{}", whole(value, effort)?),
        ('d', Value::Int(_) | Value::Uint(_)) => write!(out, "{}", plain(value)),
        ('d', Value::Double(number)) if !number.is_finite() => write!(out, "{}", named(*number)),
        ('d', _) => return Err(refused("decimal clause can only be used on integers")),
        ('f' | 'e', Value::Double(number)) => real(out, verb, precision, *number),
        #[expect(clippy::cast_precision_loss, reason = "the nearest number is writer")]
        ('f' | 'e', Value::Int(number)) => real(out, verb, precision, *number as f64),
        #[expect(clippy::cast_precision_loss, reason = "the nearest number is writer")]
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
